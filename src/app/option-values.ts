import { RemandError } from "../core/events/error.ts";
import type { StoryId } from "../core/events/ids.ts";
import { nearMiss } from "../stdx/plain-text.ts";
import type { World } from "./command.ts";

/** Collects the values of an option that can be repeated. */
export const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];

/** Reads a whole number from an option's text. */
export function parseNumber(option: string, text: string, least: number, most: number): number {
  const value = /^\d{1,12}$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  throw new RemandError(
    "usage",
    `${option} ${text} is not a number from ${least} to ${most}`,
    `Example: ${option} ${least}`,
  );
}

/** Finds a word in a closed list; the error suggests the closest one. */
export function wordOf<W extends string>(what: string, text: string, words: readonly W[]): W {
  const known = words.find((word) => word === text);
  if (known !== undefined) return known;
  const meant = nearMiss(text, words);
  const hint = meant === undefined ? `Choose one of ${words.join(", ")}.` : `Did you mean ${meant}?`;
  throw new RemandError("usage", `"${text}" is not ${what}`, hint);
}

/** The name that equals the text, or the only name that starts with it; `undefined`: no name starts with it. */
export function matchName<N extends string>(text: string, known: readonly N[]): N | undefined {
  const exact = known.find((each) => each === text);
  if (exact !== undefined || text === "") return exact;
  const [first, ...others] = known.filter((each) => each.startsWith(text));
  if (others.length === 0) return first;
  const shown = [first, ...others].slice(0, MOST_NAMES).join(", ");
  const more = others.length + 1 - MOST_NAMES;
  throw new RemandError(
    "usage",
    `"${text}" matches ${others.length + 1} names`,
    `Type more characters: ${shown}${more > 0 ? ` and ${more} more` : ""}.`,
  );
}

const MOST_NAMES = 10;

/**
 * Returns the ids that the typed words mean. Each must be known, in full or by a unique prefix. After `--json` a word
 * may also be meant as a field.
 */
export function resolveIds(
  typed: readonly string[],
  known: readonly StoryId[],
  fields: readonly string[] = [],
): StoryId[] {
  return [...new Set(typed)].map((text) => {
    const id = matchName(text, known);
    if (id !== undefined) return id;
    const meant = nearMiss(text, [...known, ...fields]);
    const guess = meant === undefined ? "" : `Did you mean ${meant}? `;
    if (fields.length > 0)
      throw new RemandError(
        "usage",
        `"${text}" is neither a story nor a field of --json`,
        `${guess}remand stories lists the stories. Fields: ${fields.join(", ")}.`,
      );
    throw new RemandError(
      "usage",
      `there is no story ${text}`,
      guess.trim() || "remand stories lists those that there are.",
    );
  });
}

/** The person's name: what was typed, else the name that git signs commits with, else the name of the account. */
export async function personOf({ env, host, cwd }: World, typed: string | undefined): Promise<string> {
  const named = [typed, env["REMAND_BY"]].find(saysSomething);
  const name =
    named ?? (await host.userName(cwd)) ?? [env["USER"], env["LOGNAME"], env["USERNAME"]].find(saysSomething);
  if (name !== undefined) return name.trim();
  throw new RemandError("usage", "your name is unknown", "Pass --by <your name>, or set git's user.name.");
}

const saysSomething = (name: string | undefined): name is string => name !== undefined && name.trim() !== "";
