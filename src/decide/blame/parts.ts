import type { BlameMaterial, ChangedHunk, CodeSymbol } from "../../core/blame/change.ts";
import { tokensOf } from "./edits.ts";

/** Larger hunks are not taken apart, because comparing their lines takes too long. */
const MOST_LINES = 200;
/** Lines are versions of each other when they share at least this much of their words. */
const ALIKE = 0.5;

/**
 * A hunk below the hunk: each line with the line it was made from, and each statement that came or went by itself.
 * None where there is nothing smaller. Ids count up from `firstId`.
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

/** Lines of both sides that are versions of each other, in order: those that share the most of their words. */
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

/** A statement of more lines than this is taken apart, if it holds others. */
const MOST_WHOLE = 4;

/** How many lines each statement takes; of a large one its head, the statements in it, and its end. */
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

/** Does a part open or close more than it did? Then nothing is whole without it. */
export function isHalf({ removed, added, file }: ChangedHunk): boolean {
  const depthOf = (lines: readonly string[]): number =>
    tokensOf(lines, file).reduce((sum, word) => sum + (/^[([{]$/.test(word) ? 1 : /^[)\]}]$/.test(word) ? -1 : 0), 0);
  const isHead = removed.length === 0 && added.length === 1 && /:\s*$/.test(added[0]!);
  return isHead || depthOf(removed) !== depthOf(added);
}

/** How many lines each statement takes: to where its brackets are closed and the next line is no deeper. */
function statements(lines: readonly string[]): number[] {
  const sizes: number[] = [];
  let size = 0;
  let depth = 0;
  let indent = 0;
  for (const [at, line] of lines.entries()) {
    // Empty lines belong to what follows them.
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

/** The hunks with those in place of which their parts are named, so that a part can be taken back alone. */
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

/** Companions beyond this are no function any more but a file. */
const MOST_IN_FUNCTION = 12;

/** For each hunk, all changes of the function that it is in: taken back together, they leave a function that fits. */
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
