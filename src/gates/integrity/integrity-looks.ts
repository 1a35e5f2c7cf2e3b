import { RemandError } from "../../core/events/error.ts";
import type { Finding } from "../../core/gates/finding.ts";
import type { StoryId } from "../../core/events/ids.ts";
import type { Workspace } from "../../ports/workspace.ts";
import { matchesAnyGlob } from "../../stdx/glob.ts";
import { runChain } from "../checks/run-chain.ts";
import { evasions } from "./evasions.ts";
import { type Changes, type FilePair, isTextByName, readChanges, withLines } from "./file-changes.ts";
import { leftBehind, unreadable } from "./debug-leftovers.ts";
import { isLooseningConfig, loosenedConfig, suppressions } from "./loosened-config.ts";
import { PACKAGE_FILE, allScripts, testScripts } from "./package-changes.ts";
import type { RuleReporter } from "./integrity-rules.ts";
import { runnerChanges } from "./runner-changes.ts";
import { replacedSubjects } from "./replaced-subjects.ts";
import { weakenedTests } from "./weakened-tests.ts";

interface LookOptions {
  readonly workspace: Pick<Workspace, "changedPaths" | "diff" | "fileAt">;
  readonly testPaths: readonly string[];
  readonly commands?: readonly string[];
}

interface LineRange {
  readonly story: StoryId;
  readonly from: string;
  readonly to: string;
  /** The paths that differ between the two. */
  readonly changed: readonly string[];
  /** Paths that differ only because a refused change was reverted: they are not checked. */
  readonly restored?: ReadonlySet<string>;
  /** From the top of the repository to the folder in which the checks run, with a slash at its end. */
  readonly folder: string;
  /** Is this all of the story's work? Then what must not be left in it is looked for too. */
  readonly isWhole: boolean;
}

/** Everything that can be seen between two states of the files, by one set of rules. */
export async function lookFrom(
  { workspace, testPaths, commands = [] }: LookOptions,
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
  const isTest = (path: string): boolean => matchesAnyGlob(path, testPaths) || isSnapshotFile(path);
  // Rust's unit tests stand in the files that they test.
  const mayTest = (path: string): boolean => isTest(path) || path.endsWith(".rs");
  const tests = await pairsOf(changed.filter((path) => mayTest(path) && !binary.has(path)));
  const configs = await pairsOf(changed.filter((path) => isLooseningConfig(path) && !PACKAGE_FILE.test(path)));
  // The project's own is read in any case: its scripts name the programs that run the tests.
  const ownPackage = `${span.folder}package.json`;
  const packages = await pairsOf([...new Set([ownPackage, ...changed.filter((path) => PACKAGE_FILE.test(path))])]);
  const own = packages[0]?.before ?? null;
  const lines = [...commands, ...testScripts(own).values()];
  const chain = await runChain(lines, allScripts(own), span.folder, (path) =>
    workspace.fileAt(span.story, span.from, path),
  );
  const makefiles = await pairsOf([...chain.targets.keys()].filter((path) => changed.includes(path)));
  const gone = new Set(diff.files.filter((file) => file.status === "deleted").map(({ path }) => path));
  const found = [
    ...weakenedTests({ files: tests.filter(({ path }) => !isSnapshotFile(path)), gone, isTest }, book),
    ...replacedSubjects(tests, isTest, book),
    ...snapshotChanges(tests, book),
    ...loosenedConfig([...configs, ...packages], book),
    ...suppressions(diff.files, book),
    ...evasions(diff.files, testPaths, book),
    ...runnerChanges({ packages, changed, changes: diff.files, chain, ownPackage, makefiles, testPaths }, book),
    ...unseen(diff, changed, book),
  ];
  if (!span.isWhole) return found;
  return [
    ...found,
    ...leftBehind(diff.files, testPaths, book),
    ...unreadable(diff.files, await sizesOf(workspace, span, diff), book),
  ];
}

/** Reports what could not be read, so that silence is not taken for a pass. */
function unseen(diff: Changes, changed: readonly string[], book: RuleReporter): Finding[] {
  if (!diff.isCut) return [];
  const missing = changed.length - diff.files.length;
  return book.report("not-looked-at", {
    message: "the change is too long to be read whole: a part of it was not looked at",
    suggestedFix: "Make the change smaller, and keep what is generated out of the repository.",
    detail: `${Math.max(0, missing)} of ${changed.length} files are not in the part that was read`,
  });
}

/** How many files are asked for at once: each is a process. */
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

/** A file that git cannot hand over at once is larger than anything that belongs here. */
async function sizeOf(workspace: LookOptions["workspace"], story: StoryId, at: string, path: string): Promise<number> {
  try {
    return (await workspace.fileAt(story, at, path))?.length ?? 0;
  } catch (error) {
    if (error instanceof RemandError && error.code === "git-failed" && error.message.includes("printed more than"))
      return Infinity;
    throw error;
  }
}

/** Existing snapshots with new content. A reviewer can read one or two, not dozens. */
function snapshotChanges(files: readonly FilePair[], book: RuleReporter): Finding[] {
  const changed = files.flatMap(({ path, before, after }) => {
    const was = snapshotsIn(path, before ?? "");
    const is = snapshotsIn(path, after ?? "");
    const different = [...was].filter(([name, text]) => is.get(name) !== text).length;
    return different === 0 ? [] : [{ path, different, total: was.size, isGone: after === null }];
  });
  const all = changed.reduce((sum, { different }) => sum + different, 0);
  return changed.flatMap(({ path, different, total, isGone }) => {
    const what = isGone
      ? `the file with ${total === 1 ? "its snapshot" : `its ${total} snapshots`} was deleted`
      : `${different} of ${total} snapshots ${different === 1 ? "says" : "say"} something else now`;
    return book.report(all >= MANY ? "snapshot-rewritten" : "snapshot-changed", {
      file: path,
      message: what,
      suggestedFix: "Restore the snapshots that the work does not ask to change, and make the code give what they say.",
    });
  });
}

/** From here on it is an update of everything, and not a look at each. */
const MANY = 10;

const isSnapshotFile = (path: string): boolean => /\.(?:snap|ambr)$|(?:^|\/)__snapshots__\//.test(path);

function snapshotsIn(path: string, text: string): Map<string, string> {
  const found = new Map<string, string>();
  if (isSnapshotFile(path)) {
    // Jest and Vitest write one `exports[...]` for each; node:test and syrupy name them otherwise, a whole file is one.
    for (const part of text.split(/^(?=exports\[|# name: )/m)) {
      const name = /^(?:exports\[(.{1,500}?)\] = |# name: (.{1,500})$)/m.exec(part);
      if (name !== null) found.set(name[1] ?? name[2]!, part.trim());
    }
    if (found.size === 0 && text.trim() !== "") found.set(path, text.trim());
    return found;
  }
  let at = 0;
  for (const match of text.matchAll(/\.to(?:ThrowErrorMatching|Match)InlineSnapshot\(\s{0,40}`((?:\\.|[^`\\])*)`/g))
    found.set(`inline ${at++}`, match[1]!.replace(/\s+/g, " ").trim());
  return found;
}
