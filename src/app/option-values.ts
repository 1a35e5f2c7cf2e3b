import { join } from "node:path";
import { RemandError } from "../core/events/error.ts";
import type { StoryId } from "../core/events/ids.ts";
import { nearMiss } from "../stdx/near-miss.ts";
import type { World } from "./command.ts";

/** For options that can be given again. */
export const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];

/** A whole number from an option's text. */
export function numberOf(option: string, text: string, least: number, most: number): number {
  const value = /^\d{1,12}$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  throw new RemandError(
    "usage",
    `${option} ${text} is not a number from ${least} to ${most}`,
    `Example: ${option} ${least}`,
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

/** Who is speaking: what was typed, else the name of the account, else the name that git knows. */
export async function personOf(world: World, typed: string | undefined): Promise<string> {
  const name = typed ?? world.env["REMAND_BY"] ?? world.env["USER"] ?? world.env["LOGNAME"] ?? world.env["USERNAME"];
  if (name !== undefined && name.trim() !== "") return name.trim();
  const git = await gitName(world);
  if (git !== null) return git;
  throw new RemandError("usage", "your name is unknown", "Pass --by <your name>, or set git's user.name.");
}

async function gitName(world: World): Promise<string | null> {
  const home = world.env["HOME"];
  const text = home === undefined ? null : await world.files.read(join(home, ".gitconfig"));
  const section = /^\[user\]([^[]*)/m.exec(text ?? "")?.[1] ?? "";
  return /^\s*name\s*=\s*"?([^"\n]+?)"?\s*$/m.exec(section)?.[1] ?? null;
}
