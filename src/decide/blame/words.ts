import type { ChangedHunk } from "../../core/blame/change.ts";
import type { Failure } from "../../core/blame/failure.ts";
import type { HunkTokens } from "./edits.ts";

/** Words that failures and changes share, weighted by how rare they are among the changes. */
export interface WordIndex {
  /** Returns how much the hunk shares with these words, from 0 to 1. */
  shared(hunk: number, words: ReadonlySet<string>): { readonly share: number; readonly best: string | null };
}

export function wordIndex(hunks: readonly ChangedHunk[], symbols: readonly (readonly string[])[]): WordIndex {
  const byHunk = hunks.map((hunk, at) => hunkWords(hunk, symbols[at] ?? []));
  const counts = new Map<string, number>();
  for (const words of byHunk) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const weight = (word: string): number => Math.log(1 + hunks.length / (counts.get(word) ?? hunks.length));
  return {
    shared(hunk, words) {
      let sum = 0;
      let best: string | null = null;
      let most = 0;
      const own = byHunk[hunk]!;
      const [few, many] = own.size < words.size ? [own, words] : [words, own];
      for (const word of few) {
        if (!many.has(word)) continue;
        const rarity = weight(word) ** 2;
        sum += rarity;
        if (rarity > most) [best, most] = [word, rarity];
      }
      let size = 0;
      for (const word of own) size += weight(word) ** 2;
      // A long hunk shares words with anything, so the sum is divided by its size.
      return { share: size === 0 ? 0 : Math.min(1, sum / (4 + Math.sqrt(size) * 3)), best };
    },
  };
}

const MOST_WORDS = 2000;

function hunkWords(hunk: ChangedHunk, symbols: readonly string[]): Set<string> {
  const words = new Set<string>();
  const stem = hunk.file.slice(hunk.file.lastIndexOf("/") + 1).split(".")[0]!;
  for (const text of [stem, ...symbols, ...hunk.removed, ...hunk.added]) {
    for (const word of wordsIn(text)) words.add(word);
    if (words.size > MOST_WORDS) break;
  }
  return words;
}

const DULL = new Set(
  (
    "the and for not but was are with that this from has have should when then into out get set new use var let const return function " +
    "import export test tests expect expected actual equal assert error errors type value values true false null undefined none self def " +
    "class async await string number object array name data file line code message failed fail pass js ts py src lib index " +
    "strictly be to of in is it as at by or an on if else strict deep toequal tobe equals stack node internal"
  ).split(" "),
);

/** Returns names and their parts in lower case: `parseDate` is also `parse` and `date`. */
export function wordsIn(text: string): Set<string> {
  const words = new Set<string>();
  for (const [word] of text.slice(0, 4000).matchAll(/[A-Za-z_$][\w$]*|\d+(?:\.\d+)?/g)) {
    const whole = word.toLowerCase();
    if (whole.length > 2 && !DULL.has(whole)) words.add(whole);
    for (const part of word.split(/_|(?<=[a-z\d])(?=[A-Z])/)) {
      const small = part.toLowerCase().replace(/(?<=...)(?:es|s|ed|ing)$/, "");
      if (small.length > 2 && !DULL.has(small)) words.add(small);
    }
  }
  return words;
}

/* What the words of a failure reveal about a hunk: swapped values, and names that are gone. */

/** Whether the expected value is in the removed code, or the actual one in the added code. */
export function literalIn(
  failures: readonly Failure[],
  tokens: HunkTokens,
): { readonly share: number; readonly best: string | null } {
  if (failures.every(({ expected, actual }) => expected === null && actual === null)) return { share: 0, best: null };
  const removed = new Set(tokens.removed.map(bare));
  const added = new Set(tokens.added.map(bare));
  let best: string | null = null;
  let share = 0;
  for (const { expected, actual } of failures) {
    for (const [text, here, there] of [
      [expected, removed, added],
      [actual, added, removed],
    ] as const) {
      for (const value of (text ?? "").match(/-?\d+(?:\.\d+)?|[A-Za-z_][\w-]{2,}/g) ?? []) {
        const rarity = /^(?:-?\d|true|false|null|undefined|None)$/i.test(value) ? 0.3 : 1;
        if (here.has(value) && !there.has(value) && rarity > share) [share, best] = [rarity, value];
      }
    }
  }
  return { share, best };
}

const bare = (token: string): string => token.replace(/^["'`](.*)["'`]$/, "$1");

/**
 * Whether the failure misses a name that the hunk removed: `x is not defined`, `has no attribute 'x'`, `cannot find x`.
 */
export function missesName(missing: readonly string[], tokens: HunkTokens): boolean {
  return missing.some((missed) => tokens.removed.includes(missed) !== tokens.added.includes(missed));
}

/** Returns the names that the failures miss. */
export function missingNames(failures: readonly Failure[]): string[] {
  return failures.flatMap((failure) => {
    const name = MISSING.exec(failure.message);
    return (
      name
        ?.slice(1)
        .find((part) => part !== undefined)
        ?.split(".")
        .at(-1) ?? []
    );
  });
}

const MISSING =
  /["'`]?([\w$.]+)["'`]? is not (?:defined|a function|a constructor|iterable|exported)|(?:no attribute|cannot import name|cannot find (?:name|value|function|module|type)|no exported member|not provide an export named|does not exist on type|unresolved import|undefined:|Can't resolve|No module named|reading) (?:named )?["'`]?([\w$./]+)/i;
