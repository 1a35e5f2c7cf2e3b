import { matchesAnyGlob } from "../../stdx/glob.ts";
import type { ContestedTest } from "./contested-test.ts";
import { matchesTest, placeOfFailure } from "./base-failures.ts";
import type { SuiteResults } from "./test-names.ts";

/** Something that fails when the base's tests run with the work. */
export interface PinnedFailure {
  /** As in `Fault.name`: `file > test`, `file: message`, or the check's name. */
  readonly name: string;
  /** Whether the test file, or the whole check, did not load: the outcome of its tests is unknown. */
  readonly isLoadFailure: boolean;
}

export interface BaseTestInput {
  /** The run of the base alone; `null` if it is not known. */
  readonly base: SuiteResults | null;
  /** The passing run of the work with its own tests. */
  readonly candidate: SuiteResults;
  /** The run with the base's tests; `null` if the work changed none of them, because the run would be the same. */
  readonly pinned: { readonly results: SuiteResults; readonly failures: readonly PinnedFailure[] } | null;
  /** Whether another rule decides about the test: known failures, flaky tests and targets. */
  isExcused(test: string): boolean;
  /** Whether the work holds the test's body under another name. */
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
  /** If tests have no names: how many fewer ran with the base's tests. */
  readonly fewer: { readonly before: number; readonly now: number } | null;
}

/** Decides for each test that passed at the base whether it passes with the work, is contested, or is gone. */
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

/** Whether the work may change this test. Licenses are names, files or patterns of either. */
export const mayChange = (test: string, licenses: readonly string[]): boolean =>
  licenses.some((pattern) => matchesTest(test, pattern));

const contest = (test: string, why: ContestedTest["why"]): ContestedTest => ({
  test,
  why,
  ...(test.includes(" > ") ? { file: placeOfFailure(test) } : {}),
});

/** Returns the test's name without its file, because not every runner names the file of a passing test. */
const titleOf = (test: string): string => test.slice(test.indexOf(" > ") + 1);

/** Finds tests of the base that do not pass in the work's own run. */
function missingTests(
  { base, candidate, pinned, isExcused, isRenamed }: BaseTestInput,
  broken: ReadonlySet<string>,
  failing: ReadonlySet<string>,
): { readonly removed: readonly string[]; readonly gone: readonly string[]; readonly renamed: readonly string[] } {
  const removed: string[] = [];
  const gone: string[] = [];
  const renamed: string[] = [];
  // If a check named every test at the base, a test that it does not name now is not shown to run.
  if (base?.isNamed !== true) return { removed, gone, renamed };
  for (const [test, times] of base.passed) {
    if (isExcused(test) || (candidate.passed.get(test) ?? 0) >= times) continue;
    // With the base's tests, the test failed or did not load: that is reported already.
    if (failing.has(titleOf(test)) || broken.has(placeOfFailure(test))) continue;
    if (isRenamed(test)) renamed.push(test);
    else if (pinned !== null && (!pinned.results.isNamed || (pinned.results.passed.get(test) ?? 0) >= times))
      removed.push(test);
    else gone.push(test);
  }
  return { removed, gone, renamed };
}

/** Compares the numbers of tests if they have no names. A file that did not load is contested already. */
function fewerTests({ base, candidate, pinned }: BaseTestInput, isBroken: boolean): BaseTestVerdict["fewer"] {
  const { ran: now, isNamed } = pinned?.results ?? candidate;
  if (base === null || base.isNamed || isNamed || isBroken) return null;
  return base.ran !== null && now !== null && now < base.ran ? { before: base.ran, now } : null;
}

/** Which files of a project define what is right and how the tests run. The base's version of these files counts. */
export interface PinnedRules {
  /** Patterns of test files, including everything in folders of tests. */
  readonly testPaths: readonly string[];
  /** Other files that only tests use. */
  readonly oracle: readonly string[];
  /** Files that look like tests but are part of the product. */
  readonly product: readonly string[];
  /** Files that the check commands run: scripts and makefiles. */
  readonly named: ReadonlySet<string>;
}

/**
 * How a path is pinned. `whole`: the file is taken from the base. `merged`: a manifest gets the base's runner settings
 * and the work's dependencies. `spliced`: in a source file that can hold tests, the tests are taken from the base.
 * `product`: everything else.
 */
export type Pinning = "whole" | "merged" | "spliced" | "product";

export function pinningOf(path: string, { testPaths, oracle, product, named }: PinnedRules): Pinning {
  if (matchesAnyGlob(path, product)) return "product";
  if (MANIFESTS.has(path.slice(path.lastIndexOf("/") + 1))) return "merged";
  if (named.has(path) || matchesAnyGlob(path, [...testPaths, ...oracle, ...SNAPSHOTS, ...CHECK_FILES])) return "whole";
  if (matchesAnyGlob(path, CONFIG_FILES) && !SOURCE_FOLDER.test(path)) return "whole";
  return INLINE_TESTS.test(path) ? "spliced" : "product";
}

/** Manifests with runner settings and dependencies. */
const MANIFESTS: ReadonlySet<string> = new Set(["package.json", "pyproject.toml", "setup.cfg", "Cargo.toml", "go.mod"]);

const SNAPSHOTS = ["**/*.snap", "**/*.ambr", "**/__snapshots__/**"];

/** Whether a file holds recorded output that tests compare with: it counts as a test in any folder. */
export const isSnapshot = (path: string): boolean => matchesAnyGlob(path, SNAPSHOTS);

/** Files that runners load by convention, in any folder. */
const CHECK_FILES = [
  "**/{conftest,noxfile,sitecustomize,usercustomize}.py",
  "**/*.pth",
  "**/*.{dist-info,egg-info}/**",
  "**/go.work{,.sum}",
  "**/testdata/**",
  "**/.cargo/config*",
  "**/{vitest,jest}.setup.*",
];

/** How tools name their settings. Below a folder of sources, files with these names belong to the product. */
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

/** Languages whose tests may be in the files that they test. */
const INLINE_TESTS = /\.(?:rs|py|[cm]?[jt]sx?|vue|svelte)$/;
