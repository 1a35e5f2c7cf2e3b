import { matchesAnyGlob } from "../../stdx/glob.ts";
import type { ContestedTest } from "./contested-test.ts";
import { matchesTest, placeOfFailure } from "./base-failures.ts";
import type { SuiteResults } from "./test-names.ts";

/** Something that fails when the base's tests run with the work. */
export interface PinnedFailure {
  /** As in `Fault.name`: `file > test`, `file: message`, or the check's name. */
  readonly name: string;
  /** The test file, or the whole check, did not load: what its tests say is unknown. */
  readonly isLoadFailure: boolean;
}

export interface BaseTestInput {
  /** The base's own run; `null` where it is not known. */
  readonly base: SuiteResults | null;
  /** The run of the work as its author made it, which passed. */
  readonly candidate: SuiteResults;
  /** The run with the base's tests; `null` where the work changed none of them, so that it would be the same run. */
  readonly pinned: { readonly results: SuiteResults; readonly failures: readonly PinnedFailure[] } | null;
  /** Known failures, flaky tests and targets: another rule decides about them. */
  isExcused(test: string): boolean;
  /** Does the work hold the test's body under another name? */
  isRenamed(test: string): boolean;
  readonly licensed: readonly string[];
}

export interface BaseTestVerdict {
  readonly contested: readonly ContestedTest[];
  /** Contested tests that the work may change. */
  readonly licensed: readonly ContestedTest[];
  /** Tests that passed at the base and no longer run, although the work did not change them. */
  readonly gone: readonly string[];
  /** Tests that the work only renamed or moved. */
  readonly renamed: readonly string[];
  /** Where tests have no names: how many fewer ran with the base's tests. */
  readonly fewer: { readonly before: number; readonly now: number } | null;
}

/** What each test that passed at the base says of the work: fine, contested, or gone. */
export function judgeBaseTests(input: BaseTestInput): BaseTestVerdict {
  const failures = (input.pinned?.failures ?? []).filter(({ name }) => !input.isExcused(name));
  const broken = new Set(failures.filter(({ isLoadFailure }) => isLoadFailure).map(({ name }) => placeOfFailure(name)));
  const missing = missingTests(input, broken, new Set(failures.map(({ name }) => titleOf(name))));
  const all: ContestedTest[] = [
    ...[...broken].map((place) => ({ test: place, why: "not-loaded" as const, file: place })),
    ...failures.filter(({ isLoadFailure }) => !isLoadFailure).map(({ name }) => contest(name, "fails")),
    ...missing.removed.map((name) => contest(name, "removed")),
  ];
  const isLicensed = ({ test }: ContestedTest): boolean => mayChange(test, input.licensed);
  return {
    contested: all.filter((each) => !isLicensed(each)),
    licensed: all.filter(isLicensed),
    gone: missing.gone.filter((test) => !mayChange(test, input.licensed)),
    renamed: missing.renamed,
    fewer: fewerTests(input, broken.size > 0),
  };
}

/** May the work change this test? Licenses are names, files or patterns of either. */
export const mayChange = (test: string, licenses: readonly string[]): boolean =>
  licenses.some((pattern) => matchesTest(test, pattern));

const contest = (test: string, why: ContestedTest["why"]): ContestedTest => ({
  test,
  why,
  ...(test.includes(" > ") ? { file: placeOfFailure(test) } : {}),
});

/** Not every runner names the file of a test that passes. */
const titleOf = (test: string): string => test.slice(test.indexOf(" > ") + 1);

/** Tests of the base that the work's own run does not show as passed. */
function missingTests(
  { base, candidate, pinned, isExcused, isRenamed }: BaseTestInput,
  broken: ReadonlySet<string>,
  failing: ReadonlySet<string>,
): { readonly removed: readonly string[]; readonly gone: readonly string[]; readonly renamed: readonly string[] } {
  const removed: string[] = [];
  const gone: string[] = [];
  const renamed: string[] = [];
  // A check that named every test at the base must name them again: one that is not named now is not shown to run.
  if (base?.isNamed !== true) return { removed, gone, renamed };
  for (const [test, times] of base.passed) {
    if (isExcused(test) || (candidate.passed.get(test) ?? 0) >= times) continue;
    // With the base's tests the test failed, or did not load: that is said already.
    if (failing.has(titleOf(test)) || broken.has(placeOfFailure(test))) continue;
    if (isRenamed(test)) renamed.push(test);
    else if (pinned !== null && (!pinned.results.isNamed || (pinned.results.passed.get(test) ?? 0) >= times))
      removed.push(test);
    else gone.push(test);
  }
  return { removed, gone, renamed };
}

/** Without names only the number of tests can be compared; a file that did not load is contested already. */
function fewerTests({ base, candidate, pinned }: BaseTestInput, isBroken: boolean): BaseTestVerdict["fewer"] {
  const { ran: now, isNamed } = pinned?.results ?? candidate;
  if (base === null || base.isNamed || isNamed || isBroken) return null;
  return base.ran !== null && now !== null && now < base.ran ? { before: base.ran, now } : null;
}

/** Which files of a project say what is right, and how they are run: the base's version of them is what counts. */
export interface PinnedRules {
  /** Patterns of test files, with all that lies in the folders of tests. */
  readonly testPaths: readonly string[];
  /** More files that only tests use. */
  readonly oracle: readonly string[];
  /** Files that look like tests and are part of the product. */
  readonly product: readonly string[];
  /** Files that the check commands themselves run: scripts and makefiles. */
  readonly named: ReadonlySet<string>;
}

/**
 * How a path is pinned: the `whole` file is the base's; a manifest is `merged` (the base's runner settings, the work's
 * dependencies); in a source file that can hold tests the tests are `spliced` from the base; the rest is `product`.
 */
export type Pinning = "whole" | "merged" | "spliced" | "product";

export function pinningOf(path: string, { testPaths, oracle, product, named }: PinnedRules): Pinning {
  if (matchesAnyGlob(path, product)) return "product";
  if (MANIFESTS.has(path.slice(path.lastIndexOf("/") + 1))) return "merged";
  if (named.has(path) || matchesAnyGlob(path, [...testPaths, ...oracle, ...SNAPSHOTS, ...CHECK_FILES])) return "whole";
  if (matchesAnyGlob(path, CONFIG_FILES) && !SOURCE_FOLDER.test(path)) return "whole";
  return INLINE_TESTS.test(path) ? "spliced" : "product";
}

/** Manifests that hold runner settings beside dependencies. */
const MANIFESTS: ReadonlySet<string> = new Set(["package.json", "pyproject.toml", "setup.cfg", "Cargo.toml", "go.mod"]);

const SNAPSHOTS = ["**/*.snap", "**/*.ambr", "**/__snapshots__/**"];

/** Recorded output that tests compare with: a test, wherever it lies. */
export const isSnapshot = (path: string): boolean => matchesAnyGlob(path, SNAPSHOTS);

/** Files that runners load by convention, wherever they lie. */
const CHECK_FILES = [
  "**/{conftest,noxfile,sitecustomize,usercustomize}.py",
  "**/*.pth",
  "**/*.{dist-info,egg-info}/**",
  "**/go.work{,.sum}",
  "**/testdata/**",
  "**/.cargo/config*",
  "**/{vitest,jest}.setup.*",
];

/** How runners, compilers and linters name their settings. Below a folder of sources the same names mean the product. */
const CONFIG_FILES = [
  "**/*.{config,conf}.*",
  "**/.*rc{,.*}",
  "**/*.{ini,cfg}",
  "**/{tsconfig*,biome,deno}.json{,c}",
  "**/{,.}{ruff,clippy}.toml",
  "**/.{eslint,oxlint,stylelint,prettier}ignore",
  "**/{pytest.toml,.pytest.toml,nextest.toml,phpunit.xml,phpunit.xml.dist,vitest.workspace.*,vitest.projects.*}",
];

const SOURCE_FOLDER = /(?:^|\/)(?:src|lib|app|source|internal|public)\//;

/** Languages whose tests may stand in the files that they test. */
const INLINE_TESTS = /\.(?:rs|py|[cm]?[jt]sx?|vue|svelte)$/;
