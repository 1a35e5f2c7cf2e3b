import { RemandError } from "../domain/error.ts";
import type { StoryId } from "../domain/ids.ts";
import { nearMiss } from "../stdx/near-miss.ts";

/** For options that can be given again. */
export const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];

/** A whole number from an option's text. */
export function numberOf(option: string, text: string, least: number, most: number): number {
  const value = /^\d{1,12}$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  throw new RemandError(
    "usage",
    `${option} ${text} is not a number from ${least} to ${most}`,
    `Write it so: ${option} ${least}`,
  );
}

/** One of a closed list of words, or what was probably meant. */
export function wordOf<W extends string>(what: string, text: string, words: readonly W[]): W {
  const known = words.find((word) => word === text);
  if (known !== undefined) return known;
  const meant = nearMiss(text, words);
  const hint = meant === undefined ? `Choose one of ${words.join(", ")}.` : `Did you mean ${meant}?`;
  throw new RemandError("usage", `"${text}" is not ${what}`, hint);
}

/** The ids that were typed, each of which must be known. */
export function knownIds(typed: readonly string[], known: readonly StoryId[]): StoryId[] {
  return [...new Set(typed)].map((text) => {
    const id = known.find((each) => each === text);
    if (id !== undefined) return id;
    const meant = nearMiss(text, known);
    const hint = meant === undefined ? "remand stories lists those that there are." : `Did you mean ${meant}?`;
    throw new RemandError("usage", `there is no story ${text}`, hint);
  });
}
