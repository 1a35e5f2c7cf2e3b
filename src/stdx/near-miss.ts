/**
 * The known word that a person most likely meant, or `undefined` if none is near. Near is one slip in a short
 * word, two or three in a long one; equal distances go to the word that comes first.
 */
export function nearMiss(word: string, known: Iterable<string>): string | undefined {
  const target = foldWord(word);
  let best: string | undefined;
  let bestDistance = 1 + Math.min(3, Math.max(1, Math.floor(word.length / 3)));
  if (word.length > LONGEST_WORD) return undefined;
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) > 4) continue;
    const distance = slips(target, foldWord(candidate));
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Longer words are no typos, and comparing them is expensive. */
const LONGEST_WORD = 100;

/** `max_refinement` and `maxRefinement` are the same word to a person. */
const foldWord = (word: string): string => word.toLowerCase().replace(/[_\s-]/g, "");

/** Levenshtein distance, with a swap of two neighbors counted as one slip. */
function slips(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) cost = Math.min(cost, beforeLast[j - 2]! + 1);
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}
