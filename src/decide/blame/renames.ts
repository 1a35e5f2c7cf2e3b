import type { BlameMaterial, ChangedHunk, CodeFile, CodeSymbol } from "../../core/blame/change.ts";
import { tokensOf } from "./edits.ts";

/** A declared name that another one replaced everywhere in a function or a file. */
export interface Rename {
  readonly from: string;
  readonly to: string;
  readonly oldFile: string;
  /** The lines of the old version in which the rename applies. */
  readonly start: number;
  readonly end: number;
  /** Whether it applies to one function: then a name after a dot is a different one. */
  readonly isLocal: boolean;
  /** The hunks that contain one of the names: the new name stays as long as one of them does. */
  readonly hunks: readonly number[];
}

/** Longer texts are not compared, because that takes too long. */
const MOST_WORDS = 600;

/**
 * Finds names that changed throughout a function or a file. Reverted lines use the new name, so that one hunk can be
 * reverted without all the others that only follow the name.
 */
export function renamesOf(material: BlameMaterial): Rename[] {
  const found: Candidate[] = [];
  const byFile = new Map<string, ChangedHunk[]>();
  for (const hunk of material.hunks) byFile.set(hunk.file, [...(byFile.get(hunk.file) ?? []), hunk]);
  for (const [path, hunks] of byFile) {
    const now = material.files.get(path);
    const before = material.before.get(hunks[0]!.oldFile);
    if (now !== undefined && before !== undefined) found.push(...renamesIn(hunks, before, now));
  }
  return found.flatMap((each): Rename[] => {
    const same = each.isLocal ? [each] : found.filter((other) => isSameName(other, each));
    const hunks = [...new Set(same.flatMap((other) => other.hunks))];
    if (hunks.length < 2 || !same.some(({ isDeclared }) => isDeclared)) return [];
    const { isDeclared: _, ...rename } = each;
    return [{ ...rename, hunks }];
  });
}

/** A candidate, which is a rename only if its names are declared in one of the files. */
type Candidate = Rename & { readonly isDeclared: boolean };

const isSameName = (a: Rename, b: Rename): boolean => !a.isLocal && !b.isLocal && a.from === b.from && a.to === b.to;

/** Whether the new name stays in the tree when these hunks are reverted. */
export function isRenameKept({ hunks }: Rename, without: ReadonlySet<number>): boolean {
  return hunks.some((id) => !without.has(id));
}

const NAME_OR_TEXT = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[A-Za-z_$][\w$]*/g;

/** Returns a line of the old version with the current names; strings are left as they are. */
export function renamedLine(line: string, at: number, renames: readonly Rename[]): string {
  const own = renames.filter(({ start, end }) => at >= start && at <= end);
  if (own.length === 0) return line;
  return line.replaceAll(NAME_OR_TEXT, (word, place: number) => {
    const isMember = line[place - 1] === ".";
    return own.find(({ from, isLocal }) => from === word && !(isLocal && isMember))?.to ?? word;
  });
}

interface NameScope {
  readonly isLocal: boolean;
  readonly old: { readonly start: number; readonly end: number };
  readonly now: { readonly start: number; readonly end: number };
}

function renamesIn(hunks: readonly ChangedHunk[], before: CodeFile, now: CodeFile): Candidate[] {
  const whole: NameScope = {
    isLocal: false,
    old: { start: 1, end: before.names.length },
    now: { start: 1, end: now.names.length },
  };
  const inFile = renamesWithin(whole, hunks, before, now);
  const known = new Set(inFile.map(({ from }) => from));
  const inFunctions = functionScopes(before, now).flatMap((scope) =>
    renamesWithin(scope, hunks, before, now).filter(({ from }) => !known.has(from)),
  );
  return [...inFile, ...inFunctions];
}

/** Returns the functions that have the same name before and after. */
function functionScopes(before: CodeFile, now: CodeFile): NameScope[] {
  const single = (symbols: readonly CodeSymbol[], name: string): CodeSymbol | null => {
    const own = symbols.filter((symbol) => symbol.kind === "function" && symbol.name === name);
    return own.length === 1 ? own[0]! : null;
  };
  const names = new Set(before.symbols.map(({ name }) => name));
  return [...names].flatMap((name) => {
    const [old, fresh] = [single(before.symbols, name), single(now.symbols, name)];
    return old === null || fresh === null ? [] : [{ isLocal: true, old, now: fresh }];
  });
}

function renamesWithin(
  { isLocal, old, now: span }: NameScope,
  hunks: readonly ChangedHunk[],
  before: CodeFile,
  now: CodeFile,
): Candidate[] {
  const inside = hunks.filter(
    (hunk) =>
      (hunk.removed.length > 0 && hunk.oldStart <= old.end && hunk.oldEnd >= old.start) ||
      (hunk.added.length > 0 && hunk.start <= span.end && hunk.end >= span.start),
  );
  const then = new Set(before.names.slice(old.start - 1, old.end).flat());
  const later = new Set(now.names.slice(span.start - 1, span.end).flat());
  const pairs = likeliestPairs(inside).filter(
    ([from, to]) => then.has(from) && !later.has(from) && later.has(to) && !then.has(to),
  );
  return pairs.flatMap(([from, to]) => {
    const isHere = ({ removed, added }: ChangedHunk): boolean =>
      removed.some((line) => hasName(line, from)) || added.some((line) => hasName(line, to));
    const holding = inside.filter(isHere);
    const isDeclared =
      holding.some(({ removed }) => removed.some((line) => declares(line, from))) &&
      holding.some(({ added }) => added.some((line) => declares(line, to)));
    if (holding.length === 0) return [];
    const { oldFile } = holding[0]!;
    const ids = holding.map(({ id }) => id);
    return [{ from, to, oldFile, start: old.start, end: old.end, isLocal, isDeclared, hunks: ids }];
  });
}

/** Returns which name replaced which, by the majority of places; no name is in two pairs. */
function likeliestPairs(hunks: readonly ChangedHunk[]): [from: string, to: string][] {
  const votes = new Map<string, { readonly from: string; readonly to: string; count: number }>();
  for (const { removed, added, file } of hunks) {
    for (const [from, to] of replacedNames(tokensOf(removed, file), tokensOf(added, file))) {
      const vote = votes.get(`${from} ${to}`) ?? { from, to, count: 0 };
      vote.count++;
      votes.set(`${from} ${to}`, vote);
    }
  }
  const used = new Set<string>();
  return [...votes.values()]
    .sort((a, b) => b.count - a.count)
    .flatMap(({ from, to }): [string, string][] => {
      if (used.has(`-${from}`) || used.has(`+${to}`)) return [];
      used.add(`-${from}`).add(`+${to}`);
      return [[from, to]];
    });
}

const NAME = /^[A-Za-z_$][\w$]*$/;

/** Returns names in the same position between unchanged words. */
function replacedNames(removed: readonly string[], added: readonly string[]): [string, string][] {
  if (removed.length > MOST_WORDS || added.length > MOST_WORDS) return [];
  const found: [string, string][] = [];
  let [a, b] = [0, 0];
  const flush = (toA: number, toB: number): void => {
    if (toA - a === toB - b)
      for (let at = 0; at < toA - a; at++) {
        const [from, to] = [removed[a + at]!, added[b + at]!];
        if (from !== to && NAME.test(from) && NAME.test(to)) found.push([from, to]);
      }
    [a, b] = [toA + 1, toB + 1];
  };
  for (const [atA, atB] of commonWords(removed, added)) flush(atA, atB);
  flush(removed.length, added.length);
  return found;
}

/** Returns the positions of the longest common sequence of words. */
function commonWords(a: readonly string[], b: readonly string[]): [number, number][] {
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        a[i] === b[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!);
    }
  }
  const places: [number, number][] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) places.push([i++, j++]);
    else if (lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!) i++;
    else j++;
  }
  return places;
}

const hasName = (line: string, name: string): boolean =>
  [...line.matchAll(NAME_OR_TEXT)].some(([word]) => word === name);

const DECLARING =
  /^(?:const|let|var|mut|function|def|class|func|fn|type|struct|interface|enum|mod|as|for|static|async|get|set)$/;

/** Whether a line declares a name: as a variable, a parameter, a function or a type. */
function declares(line: string, name: string): boolean {
  const words = tokensOf([line], "");
  const isHead = words.some((word) => /^(?:function|def|func|fn|=>)$/.test(word)) || /\)[^()]*\{\s*$/.test(line);
  return words.some((word, at) => {
    if (word !== name || words[at - 1] === ".") return false;
    const [last, next] = [words[at - 1] ?? "", words[at + 1] ?? ""];
    if (DECLARING.test(last) || /^:?=$/.test(next) || (next === "=" && words[at + 2] !== "=")) return true;
    // Parameters, parts of a destructuring, and names of methods.
    return isHead || /\b(?:const|let|var)\s*[{[]|:=/.test(line);
  });
}
