import { join } from "node:path";
import { RemandError } from "../domain/error.ts";
import type { World } from "./command.ts";

/** Who is speaking: what was typed, else the name of the account, else the name that git knows. */
export async function personOf(world: World, typed: string | undefined): Promise<string> {
  const name = typed ?? world.env["REMAND_BY"] ?? world.env["USER"] ?? world.env["LOGNAME"] ?? world.env["USERNAME"];
  if (name !== undefined && name.trim() !== "") return name.trim();
  const git = await gitName(world);
  if (git !== null) return git;
  throw new RemandError("usage", "nobody can tell who you are", "Say it: --by <your name>");
}

async function gitName(world: World): Promise<string | null> {
  const home = world.env["HOME"];
  const text = home === undefined ? null : await world.files.read(join(home, ".gitconfig"));
  const section = /^\[user\]([^[]*)/m.exec(text ?? "")?.[1] ?? "";
  return /^\s*name\s*=\s*"?([^"\n]+?)"?\s*$/m.exec(section)?.[1] ?? null;
}
