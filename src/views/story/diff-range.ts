import { RemandError } from "../../core/events/error.ts";
import type { Recorded } from "../../core/events/event.ts";
import type { TreeId } from "../../core/events/ids.ts";

/** Two commits to compare. */
export interface DiffRange {
  readonly from: string;
  readonly to: string;
}

/** The two commits to compare: the base and the newest, or those before and after the requested attempts. */
export function diffRange(
  id: string,
  lines: readonly Recorded[],
  attempt: number | null,
  since: number | null,
): DiffRange {
  let base: string | null = null;
  let newest: string | null = null;
  // The commits before and after each attempt. A restored tree counts as before.
  const before = new Map<number, string>();
  const after = new Map<number, string>();
  for (const { event } of lines) {
    if (event.type === "attempt.started" && newest !== null) before.set(event.attempt, newest);
    if (event.type === "story.prepared") base ??= event.commit;
    if (event.type === "attempt.finished") after.set(event.attempt, event.commit);
    newest = commitOf(event)?.commit ?? newest;
  }
  if (base === null || newest === null)
    throw new RemandError("usage", `no work was done on ${id} yet`, "Start it: remand run.");
  const commitFor = (number: number, commits: ReadonlyMap<number, string>): string => {
    const commit = commits.get(number);
    if (commit !== undefined) return commit;
    throw new RemandError(
      "usage",
      `${id} has no attempt ${number} that ended`,
      `It has ${[...after.keys()].join(", ") || "none"}.`,
    );
  };
  const to = attempt === null ? newest : commitFor(attempt, after);
  if (since !== null) return { from: commitFor(since, after), to };
  return { from: attempt === null ? base : commitFor(attempt, before), to };
}

/** One change of the files between the base and the current work. `attempt` 0 is the engine's own. */
export interface DiffStep extends DiffRange {
  readonly attempt: number;
}

/** The changes that led to a commit, and how many of them each judgement and each blame saw. */
export interface DiffPath {
  readonly steps: readonly DiffStep[];
  /** Without judgements of other states: later than the commit, or discarded. */
  readonly seen: ReadonlyMap<Recorded, number>;
}

/** The changes in order, without those that were discarded by restoring an earlier tree. */
export function diffPath(lines: readonly Recorded[], upTo: string): DiffPath {
  let steps: (DiffStep & { readonly tree: TreeId })[] = [];
  const seen = new Map<Recorded, number>();
  let newest: string | null = null;
  let isReached = false;
  for (const recorded of lines) {
    const { event } = recorded;
    if (event.type === "gate.judged" || event.type === "blame.found") seen.set(recorded, steps.length);
    const now = commitOf(event);
    if (now === null) continue;
    if (isReached && now.commit !== upTo) break;
    if (event.type === "tree.restored") {
      steps = steps.slice(0, steps.findLastIndex(({ tree }) => tree === now.tree) + 1);
      for (const [about, count] of seen) if (count > steps.length) seen.delete(about);
    } else if (newest !== null && event.type !== "story.prepared" && !isReached)
      steps.push({
        attempt: event.type === "attempt.finished" ? event.attempt : 0,
        from: newest,
        to: now.commit,
        tree: now.tree,
      });
    newest = now.commit;
    isReached ||= newest === upTo && event.type !== "story.prepared";
  }
  return { steps: steps.map(({ attempt, from, to }) => ({ attempt, from, to })), seen };
}

function commitOf(event: Recorded["event"]): { readonly commit: string; readonly tree: TreeId } | null {
  switch (event.type) {
    case "story.prepared":
    case "attempt.finished":
    case "tree.restored":
    case "lint.fixed":
    case "branch.updated":
    case "work.adopted":
      return event;
    default:
      return null;
  }
}

/** What one attempt did to the files, as in git's diff. Lines count from 1. */
export interface AttemptChange {
  readonly attempt: number;
  readonly files: readonly ChangedFile[];
}

export interface ChangedFile {
  readonly path: string;
  readonly oldPath: string;
  readonly change: string;
  readonly hunks: readonly { readonly lines: readonly ChangedLine[] }[];
}

export interface ChangedLine {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
  readonly line: number;
}

/** The attempt that wrote each line that is not from the base: by file, by line of the newest version. */
export type LineAuthors = ReadonlyMap<string, ReadonlyMap<number, number>>;

/** Follows every written line through the later changes, which move or remove it. */
export function lineAuthors(changes: readonly AttemptChange[]): LineAuthors {
  const known = new Map<string, ReadonlyMap<number, number>>();
  for (const { attempt, files } of changes) {
    const before = new Map(known);
    for (const { path, oldPath } of files) {
      known.delete(oldPath);
      known.delete(path);
    }
    for (const file of files)
      if (file.change !== "deleted")
        known.set(file.path, moveAuthors(before.get(file.oldPath) ?? NOTHING, file, attempt));
    // Copying a file does not change the original.
    for (const { oldPath, change } of files)
      if (change === "copied" && before.has(oldPath) && !known.has(oldPath)) known.set(oldPath, before.get(oldPath)!);
  }
  return known;
}

const NOTHING: ReadonlyMap<number, number> = new Map();

/** The lines of a file that a change kept, under their new numbers. */
export function keptLines<T>(before: ReadonlyMap<number, T>, { hunks }: ChangedFile): Map<number, T> {
  const removed = new Set<number>();
  const added: number[] = [];
  for (const { lines } of hunks) {
    for (const { kind, line } of lines) {
      if (kind === "removed") removed.add(line);
      if (kind === "added") added.push(line);
    }
  }
  const after = new Map<number, T>();
  const gone = [...removed].sort((a, b) => a - b);
  let passedGone = 0;
  let passedAdded = 0;
  for (const [line, known] of [...before].sort(([a], [b]) => a - b)) {
    if (removed.has(line)) continue;
    while (passedGone < gone.length && gone[passedGone]! < line) passedGone++;
    // The new number is the first one that is far enough down and was not rewritten.
    while (passedAdded < added.length && added[passedAdded]! <= line - passedGone + passedAdded) passedAdded++;
    after.set(line - passedGone + passedAdded, known);
  }
  return after;
}

function moveAuthors(before: ReadonlyMap<number, number>, file: ChangedFile, attempt: number): Map<number, number> {
  const after = keptLines(before, file);
  for (const { lines } of file.hunks)
    for (const { kind, line } of lines) if (kind === "added") after.set(line, attempt);
  return after;
}
