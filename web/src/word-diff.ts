import type { ShownLine } from "../../src/views/story/diff-document.ts";

/** A piece of a line, and whether it differs between the two versions of the line. */
export interface WordPart {
  readonly text: string;
  readonly isChanged: boolean;
}

/** Two lines side by side; `null` where one side is empty. */
export interface LinePair {
  readonly old: ShownLine | null;
  readonly new: ShownLine | null;
}

/** Pairs lines that replace each other: the first removed line with the first added one, and so on. */
export function pairLines(lines: readonly ShownLine[]): readonly LinePair[] {
  const pairs: LinePair[] = [];
  let removed: ShownLine[] = [];
  let added: ShownLine[] = [];
  const flush = (): void => {
    for (let at = 0; at < Math.max(removed.length, added.length); at++)
      pairs.push({ old: removed[at] ?? null, new: added[at] ?? null });
    removed = [];
    added = [];
  };
  for (const line of lines) {
    if (line.kind === "same") {
      flush();
      pairs.push({ old: line, new: line });
    } else if (line.kind === "removed") {
      if (added.length > 0) flush();
      removed.push(line);
    } else added.push(line);
  }
  flush();
  return pairs;
}

const WORD = /[\p{L}\p{N}_$]+|\s+|[^\p{L}\p{N}_$\s]/gu;
/** Longer lines are data, in which people do not look for differences. */
const LONGEST = 2000;

/** The difference between two lines: all words except those that both start and end with. */
export function wordDiff(before: string, after: string): readonly [WordPart[], WordPart[]] {
  if (before.length > LONGEST || after.length > LONGEST) return [whole(before), whole(after)];
  const [a, b] = [before.match(WORD) ?? [], after.match(WORD) ?? []];
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  // Two lines with little in common are different lines, not one changed line.
  const isOther = (start + end) * 3 < Math.max(a.length, b.length);
  return isOther ? [whole(before), whole(after)] : [parts(a, start, end), parts(b, start, end)];
}

const whole = (text: string): WordPart[] => [{ text, isChanged: false }];

const parts = (words: readonly string[], start: number, end: number): WordPart[] =>
  [
    { text: words.slice(0, start).join(""), isChanged: false },
    { text: words.slice(start, words.length - end).join(""), isChanged: true },
    { text: words.slice(words.length - end).join(""), isChanged: false },
  ].filter(({ text }) => text !== "");

/** The parts of all lines that replace another line or are replaced. */
export function changedWords(lines: readonly ShownLine[]): ReadonlyMap<ShownLine, readonly WordPart[]> {
  const found = new Map<ShownLine, readonly WordPart[]>();
  for (const { old, new: fresh } of pairLines(lines)) {
    if (old === null || fresh === null || old === fresh) continue;
    const [before, after] = wordDiff(old.text, fresh.text);
    found.set(old, before);
    found.set(fresh, after);
  }
  return found;
}
