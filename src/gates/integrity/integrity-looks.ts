import { RemandError } from "../../core/events/error.ts";
import type { Finding } from "../../core/gates/finding.ts";
import { isSnapshot, type PinnedRules, pinningOf } from "../../core/gates/base-tests.ts";
import type { StoryId } from "../../core/events/ids.ts";
import type { Workspace } from "../../ports/workspace.ts";
import { matchesAnyGlob } from "../../stdx/glob.ts";
import { testScripts } from "../../parse/code/manifests.ts";
import { changedTests } from "./changed-tests.ts";
import { type Changes, type FilePair, isTextByName, readChanges, withLines, type FileChange } from "./file-changes.ts";
import { leftBehind, unreadable } from "./debug-leftovers.ts";
import type { RuleReporter } from "./integrity-rules.ts";

interface LookOptions {
  readonly workspace: Pick<Workspace, "changedPaths" | "diff" | "fileAt">;
  readonly testPaths: readonly string[];
}

interface LineRange {
  readonly story: StoryId;
  readonly from: string;
  readonly to: string;
  /** The paths that differ between the two. */
  readonly changed: readonly string[];
  /** Paths that differ only because a rejected change was reverted: they are not checked. */
  readonly restored?: ReadonlySet<string>;
  /** The path from the repository's top to the folder in which the checks run, with a slash at its end. */
  readonly folder: string;
  /** Whether this is all of the story's work. Then leftovers are checked too. */
  readonly isWhole: boolean;
}

/** Returns all findings between two trees, by one set of rules. */
export async function lookFrom(
  { workspace, testPaths }: LookOptions,
  span: LineRange,
  book: RuleReporter,
  signal: AbortSignal,
): Promise<Finding[]> {
  const { changed } = span;
  if (changed.length === 0) return [];
  const all = readChanges(await workspace.diff(span.story, span.from, span.to));
  const shown = { ...all, files: all.files.filter(({ path }) => span.restored?.has(path) !== true) };
  const status = new Map(shown.files.map((file) => [file.path, file.status]));
  const pairsOf = (paths: readonly string[]): Promise<FilePair[]> =>
    inTurn(paths, signal, async (path) => ({
      path,
      before: status.get(path) === "added" ? null : await workspace.fileAt(span.story, span.from, path),
      after: status.get(path) === "deleted" ? null : await workspace.fileAt(span.story, span.to, path),
    }));
  const hidden = await pairsOf(
    shown.files.filter((file) => file.isBinary && isTextByName(file.path)).map(({ path }) => path),
  );
  const texts = new Map(hidden.map((pair) => [pair.path, pair]));
  const diff = {
    ...shown,
    files: shown.files.map((file) => (texts.has(file.path) ? withLines(file, texts.get(file.path)!) : file)),
  };
  const binary = new Set(diff.files.filter((file) => file.isBinary && !texts.has(file.path)).map(({ path }) => path));
  const isTest = (path: string): boolean => matchesAnyGlob(path, testPaths) || isSnapshot(path);
  // Rust's unit tests are in the files that they test.
  const mayTest = (path: string): boolean => isTest(path) || path.endsWith(".rs");
  const tests = await pairsOf(changed.filter((path) => mayTest(path) && !binary.has(path)));
  const packages = await pairsOf(changed.filter((path) => /(?:^|\/)package\.json$/.test(path)));
  const found = [
    ...changedTests({ files: tests, isTest }, book),
    ...suppressions(diff.files, book),
    ...selfDetection(diff.files, testPaths, book),
    ...judgingFiles({ changed, packages, isTest, folder: span.folder }, book),
    ...unseen(diff, changed, book),
  ];
  if (!span.isWhole) return found;
  return [
    ...found,
    ...leftBehind(diff.files, testPaths, book),
    ...unreadable(diff.files, await sizesOf(workspace, span, diff), book),
  ];
}

/** Reports that a part was not read, so that silence is not taken for a pass. */
function unseen(diff: Changes, changed: readonly string[], book: RuleReporter): Finding[] {
  if (!diff.isCut) return [];
  const missing = changed.length - diff.files.length;
  return book.report("not-looked-at", {
    message: "the change is too long to be read whole: a part of it was not looked at",
    suggestedFix: "Make the change smaller, and keep what is generated out of the repository.",
    detail: `${Math.max(0, missing)} of ${changed.length} files are not in the part that was read`,
  });
}

/** How many files are read at once: each one takes a process. */
const AT_ONCE = 8;

async function inTurn<T>(
  paths: readonly string[],
  signal: AbortSignal,
  work: (path: string) => Promise<T>,
): Promise<T[]> {
  const done: T[] = [];
  for (let at = 0; at < paths.length && !signal.aborted; at += AT_ONCE)
    done.push(...(await Promise.all(paths.slice(at, at + AT_ONCE).map(work))));
  return done;
}

async function sizesOf(
  workspace: LookOptions["workspace"],
  { story, to }: LineRange,
  diff: Changes,
): Promise<ReadonlyMap<string, number>> {
  const sizes = new Map<string, number>();
  for (const { path, status, isBinary } of diff.files) {
    if (!isBinary || status === "deleted") continue;
    sizes.set(path, await sizeOf(workspace, story, to, path));
  }
  return sizes;
}

/** Returns a file's size; infinite if git cannot output it at once. */
async function sizeOf(workspace: LookOptions["workspace"], story: StoryId, at: string, path: string): Promise<number> {
  try {
    return (await workspace.fileAt(story, at, path))?.length ?? 0;
  } catch (error) {
    if (error instanceof RemandError && error.code === "git-failed" && error.message.includes("printed more than"))
      return Infinity;
    throw error;
  }
}

/** Reports product code that detects whether a test runs it: no run of the tests can show what it does otherwise. */
function selfDetection(changes: readonly FileChange[], testPaths: readonly string[], book: RuleReporter): Finding[] {
  return changes
    .filter(({ path }) => isCode(path) && !isRunnerFile(path) && !matchesAnyGlob(path, testPaths))
    .flatMap((change) => detections(change, book));
}

const isCode = (path: string): boolean => /\.(?:[cm]?[jt]sx?|vue|svelte|py|go|rs|rb|java|kts?|cs|php)$/.test(path);
const isRunnerFile = (path: string): boolean =>
  /(?:^|\/)(?:conftest\.py|[^/]*(?:setup|teardown|\.config)[^/]*\.[cm]?[jt]s)$/i.test(path);

const DETECTS =
  /\bNODE_ENV\b["'\]]{0,2}\s?[!=]==?\s?["']test["']|["']test["']\s?[!=]==?\s?[\w.?]{0,30}\bNODE_ENV\b|\b(?:VITEST(?:_WORKER_ID|_POOL_ID)?|JEST_WORKER_ID|NODE_TEST_CONTEXT|PYTEST_CURRENT_TEST|PYTEST_VERSION|MOCHA_COLORS|CARGO_TARGET_TMPDIR|STRYKER_MUTATOR_WORKER)\b|\btypeof (?:jest|vi|describe|it|expect)\s?[!=]==?|["'](?:pytest|unittest)["'] (?:not )?in sys\.modules|\bprocess\.argv\b[^\n]{0,80}(?:vitest|jest|mocha|test)\b|\btesting\.Testing\(\)|\bflag\.Lookup\(["']test\.|\bcfg!\((?:not\()?test\)|#\[cfg\(not\(test\)\)\]/;

function detections({ path, added }: FileChange, book: RuleReporter): Finding[] {
  return added
    .filter(({ text }) => DETECTS.test(text.slice(0, 1000)) && !/^\s*(?:\/\/|#(?!\[)|\*)/.test(text))
    .slice(0, 5)
    .flatMap(({ line, text }) =>
      book.report("environment-detected", {
        file: path,
        line,
        message: `this code knows whether it is being tested: ${text.trim().slice(0, 120)}`,
        suggestedFix: "Make it do the same under test as elsewhere. Pass what differs in from the caller.",
      }),
    );
}

const SILENCERS =
  /(?:\/\/|\/\*|#|<!--|\{\/\*)\s{0,5}(?:eslint-disable(?:-next-line|-line)?|oxlint-disable(?:-next-line|-line)?|biome-ignore|@ts-ignore|@ts-nocheck|@ts-expect-error|(?:istanbul|c8|v8) ignore|type: ?ignore|noqa|pylint: ?disable|mypy: ?ignore-errors|ruff: ?noqa|nosec|pragma: no (?:cover|mutate)|nolint|Stryker disable)\b|^\s{0,40}#!?\[allow\(|\/\/nolint\b/i;

/** Matches a reason after the names of the rules: behind dashes, a colon or another comment mark, or in words. */
const REASON =
  / -- \S|(?:ignore|nocheck|expect-error|noqa|nolint)[^\n]{0,80}?(?:\s(?:#|\/\/|--|—|-)\s?\w|: ?[a-z]+ [a-z]+ )|\b(?:because|until|see|upstream|bug|wrong types?)\b/i;

/** Reports lines that silence a compiler, a linter or the coverage measurement. */
function suppressions(changes: readonly FileChange[], book: RuleReporter): Finding[] {
  return changes.flatMap(({ path, added, removed }) => {
    if (!/\.(?:[cm]?[jt]sx?|vue|svelte|astro|py|go|rs)$/.test(path)) return [];
    const before = new Set(removed.map((text) => text.trim()));
    return added
      .filter(({ text }) => SILENCERS.test(text.slice(0, 1000)) && !before.has(text.trim()))
      .slice(0, 10)
      .flatMap(({ line, text }) =>
        book.report(REASON.test(text.slice(0, 1000)) ? "suppression-explained" : "suppression-added", {
          file: path,
          line,
          message: `a complaint was silenced: ${text.trim().slice(0, 120)}`,
          suggestedFix: "Fix what it reports, or say on the same line why it must be silenced.",
        }),
      );
  });
}

export interface JudgingLook {
  readonly changed: readonly string[];
  /** Every `package.json` that changed. */
  readonly packages: readonly FilePair[];
  isTest(path: string): boolean;
  /** The path from the repository's top to the folder in which the checks run, with a slash at its end. */
  readonly folder: string;
}

/** Reports changes of what decides about the work: the project's rules, and what runs the tests. */
function judgingFiles(look: JudgingLook, book: RuleReporter): Finding[] {
  return [...ownRules(look, book), ...runnerFiles(look, book), ...scripts(look, book)];
}

/** Files with the rules for work and the keys of receipts, which must not be part of the work. */
const OWN_RULES = ["remand.yaml", "remand.yml", "remand.keys"];

function ownRules({ changed, folder }: JudgingLook, book: RuleReporter): Finding[] {
  return changed
    .filter((path) => ["", folder].some((each) => path.startsWith(each) && OWN_RULES.includes(path.slice(each.length))))
    .flatMap((file) =>
      book.report("rules-changed", {
        file,
        message: "this file says how the work is judged, and it was changed",
        suggestedFix:
          "Restore it: a person changes the rules, not the work that is judged by them. In a pull request the approval of its code owner lets the change through.",
      }),
    );
}

const CI_FILES = [
  ".github/{workflows,actions}/**",
  "{.gitlab-ci,azure-pipelines,bitbucket-pipelines,.travis,appveyor}.yml",
  ".circleci/*",
  "Jenkinsfile",
];

/**
 * Reports files that the run with the base's tests takes from the base, and what CI runs. Tests are reported by the
 * test rules.
 */
function runnerFiles({ changed, isTest }: JudgingLook, book: RuleReporter): Finding[] {
  const rules: PinnedRules = { testPaths: [], oracle: [], product: [], named: new Set() };
  return changed
    .filter((path) => !isTest(path))
    .filter((path) => pinningOf(path, rules) === "whole" || matchesAnyGlob(path, CI_FILES))
    .flatMap((file) =>
      book.report("runner-changed", {
        file,
        message: "this file says how tests and checks run, and it was changed",
        suggestedFix: "Restore it, unless the story asks for it.",
      }),
    );
}

function scripts({ packages }: JudgingLook, book: RuleReporter): Finding[] {
  return packages.flatMap(({ path, before, after }) => {
    const is = testScripts(after);
    return [...testScripts(before)].flatMap(([name, script]) => {
      const now = is.get(name);
      if (now === script) return [];
      const message =
        now === undefined
          ? `the script \`${name}\` was taken out`
          : `the script \`${name}\` was changed from \`${short(script)}\` to \`${short(now)}\``;
      return book.report("runner-changed", {
        file: path,
        message,
        suggestedFix: "Restore it, unless the story asks for it.",
      });
    });
  });
}

const short = (text: string): string => (text.length > 120 ? `${text.slice(0, 120)}…` : text);
