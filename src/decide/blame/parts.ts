import type { BlameMaterial, ChangedHunk, CodeSymbol } from "../../core/blame/change.ts";
import { tokensOf } from "./edits.ts";

/** Larger hunks are not split, because comparing their lines takes too long. */
const MOST_LINES = 200;
/** Lines are versions of each other if they share at least this much of their words. */
const ALIKE = 0.5;

/**
 * Splits a hunk into parts: each changed line with its old version, and each statement that was added or removed alone.
 * Empty if there is nothing smaller. Ids count up from `firstId`.
 */
export function partsOf(hunk: ChangedHunk, firstId: number): ChangedHunk[] {
  const { removed, added } = hunk;
  if (hunk.isBinary || removed.length + added.length < 2) return [];
  if (removed.length > MOST_LINES || added.length > MOST_LINES) return [];
  const runs: { old: [number, number]; now: [number, number] }[] = [];
  let [old, now] = [0, 0];
  const between = (toOld: number, toNow: number): void => {
    for (const size of pieces(removed.slice(old, toOld))) {
      runs.push({ old: [old, old + size], now: [now, now] });
      old += size;
    }
    for (const size of pieces(added.slice(now, toNow))) {
      runs.push({ old: [old, old], now: [now, now + size] });
      now += size;
    }
  };
  for (const [atOld, atNow] of alignedLines(hunk)) {
    between(atOld, atNow);
    runs.push({ old: [atOld, atOld + 1], now: [atNow, atNow + 1] });
    [old, now] = [atOld + 1, atNow + 1];
  }
  between(removed.length, added.length);
  if (runs.length < 2) return [];
  return runs.map((run, at) => partOf(hunk, firstId + at, run.old, run.now));
}

function partOf(
  hunk: ChangedHunk,
  id: number,
  [oldFrom, oldTo]: readonly [number, number],
  [from, to]: readonly [number, number],
): ChangedHunk {
  const [oldStart, start] = [hunk.oldStart + oldFrom, hunk.start + from];
  return {
    ...hunk,
    id,
    oldStart,
    oldEnd: oldStart + (oldTo - oldFrom) - 1,
    start,
    end: start + Math.max(1, to - from) - 1,
    removed: hunk.removed.slice(oldFrom, oldTo),
    added: hunk.added.slice(from, to),
  };
}

/** Pairs the lines of both sides that are versions of each other, in order, so that they share the most words. */
function alignedLines({ removed, added, file }: ChangedHunk): [number, number][] {
  const wordsOf = (lines: readonly string[]): string[][] =>
    lines.map((line) => tokensOf([line], file).filter((word) => /\w/.test(word)));
  const [a, b] = [wordsOf(removed), wordsOf(added)];
  const width = added.length + 1;
  const best = new Float64Array((removed.length + 1) * width);
  const alike = (i: number, j: number): number => shareOf(a[i]!, b[j]!);
  const value = (i: number, j: number): number => {
    const share = alike(i, j);
    return share >= ALIKE ? share + best[(i + 1) * width + j + 1]! : 0;
  };
  for (let i = removed.length - 1; i >= 0; i--)
    for (let j = added.length - 1; j >= 0; j--)
      best[i * width + j] = Math.max(value(i, j), best[(i + 1) * width + j]!, best[i * width + j + 1]!);
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < removed.length && j < added.length;) {
    const most = best[i * width + j]!;
    if (most > 0 && most === value(i, j)) pairs.push([i++, j++]);
    else if (most === best[(i + 1) * width + j]!) i++;
    else j++;
  }
  return pairs;
}

function shareOf(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return 0;
  const counts = new Map<string, number>();
  for (const word of a) counts.set(word, (counts.get(word) ?? 0) + 1);
  let same = 0;
  for (const word of b) {
    const count = counts.get(word) ?? 0;
    if (count > 0) same++;
    counts.set(word, count - 1);
  }
  return (2 * same) / (a.length + b.length);
}

/** A statement of more lines is split, if it contains others. */
const MOST_WHOLE = 4;

/** Returns the number of lines of each statement; for a large one, of its head, its inner statements, and its end. */
function pieces(lines: readonly string[]): number[] {
  let at = 0;
  return statements(lines).flatMap((size) => {
    const own = lines.slice(at, at + size);
    at += size;
    const head = own.findIndex((line) => line.trim() !== "") + 1;
    const end = /^\s*[)\]}]/.test(own.at(-1)!) ? 1 : 0;
    const inner = own.slice(head, size - end);
    const isBlock = head > 0 && inner.every((line) => line.trim() === "" || indentOf(line) > indentOf(own[head - 1]!));
    if (size - head < MOST_WHOLE || !isBlock) return [size];
    return [head, ...pieces(inner), ...(end === 1 ? [1] : [])];
  });
}

/** Whether a part changes the balance of brackets: then the code is not complete without it. */
export function isHalf({ removed, added, file }: ChangedHunk): boolean {
  const depthOf = (lines: readonly string[]): number =>
    tokensOf(lines, file).reduce((sum, word) => sum + (/^[([{]$/.test(word) ? 1 : /^[)\]}]$/.test(word) ? -1 : 0), 0);
  const isHead = removed.length === 0 && added.length === 1 && /:\s*$/.test(added[0]!);
  return isHead || depthOf(removed) !== depthOf(added);
}

/**
 * Returns the number of lines of each statement: up to where its brackets are closed and the next line is not deeper.
 */
function statements(lines: readonly string[]): number[] {
  const sizes: number[] = [];
  let size = 0;
  let depth = 0;
  let indent = 0;
  for (const [at, line] of lines.entries()) {
    // Empty lines belong to the statement after them.
    if (lines.slice(at - size, at).every((each) => each.trim() === "")) indent = indentOf(line);
    size++;
    if (
      line.trim() === "" &&
      lines.slice(at - size + 1, at).every((each) => each.trim() === "") &&
      at < lines.length - 1
    )
      continue;
    depth += (line.match(/[([{]/g) ?? []).length - (line.match(/[)\]}]/g) ?? []).length;
    const next = lines[at + 1];
    const isDeeper = next !== undefined && next.trim() !== "" && indentOf(next) > indent;
    const isClosing = next !== undefined && /^\s*(?:[)\]}]|else\b|elif\b|except\b|finally\b|catch\b)/.test(next);
    if (next !== undefined && (depth > 0 || isDeeper || (isClosing && indentOf(next) >= indent))) continue;
    sizes.push(size);
    size = 0;
    depth = 0;
  }
  return sizes;
}

const indentOf = (line: string): number => /^\s*/.exec(line)![0].length;

/** Replaces hunks by their parts if one of the parts is reverted, so that a part can be reverted alone. */
export function withParts(
  hunks: readonly ChangedHunk[],
  parts: ReadonlyMap<number, readonly ChangedHunk[]>,
  without: ReadonlySet<number>,
): readonly ChangedHunk[] {
  return hunks.flatMap((hunk) => {
    const own = parts.get(hunk.id) ?? [];
    return !without.has(hunk.id) && own.some(({ id }) => without.has(id)) ? own : [hunk];
  });
}

/** A function with more changes is treated like a whole file. */
const MOST_IN_FUNCTION = 12;

/** Returns for each hunk all changes of its function: reverted together, they leave a consistent function. */
export function changesByFunction({ hunks, files }: BlameMaterial): ReadonlyMap<number, readonly number[]> {
  const members = new Map<CodeSymbol, number[]>();
  for (const hunk of hunks) {
    const inner = (files.get(hunk.file)?.symbols ?? [])
      .filter(({ kind, start, end }) => kind === "function" && start <= hunk.start && end >= hunk.end)
      .sort((a, b) => a.end - a.start - (b.end - b.start))[0];
    if (inner !== undefined) members.set(inner, [...(members.get(inner) ?? []), hunk.id]);
  }
  const groups = [...members.values()].filter(({ length }) => length > 1 && length <= MOST_IN_FUNCTION);
  return new Map(groups.flatMap((ids) => ids.map((id) => [id, ids] as const)));
}
