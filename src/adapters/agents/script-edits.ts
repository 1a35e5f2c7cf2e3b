import { lstat, mkdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import type { ScriptedAttempt } from "../../schemas/agent-script.ts";

export function hasEdits({ edit, append, replace }: ScriptedAttempt): boolean {
  return edit !== undefined || append !== undefined || replace !== undefined;
}

/**
 * Changes files as the script says. Every path is looked at before anything is written, and every new text is made
 * before: a script that is wrong changes nothing. A call that was killed on the way is played again over what it left,
 * so what is there already is not done twice: a text that stands in its place, one that the file ends with.
 */
export async function applyEdits(
  cwd: string,
  attempt: ScriptedAttempt,
  filled: (text: string) => string,
): Promise<void> {
  const root = await realpath(cwd);
  const texts = new Map<string, string | null>();
  const current = async (path: string): Promise<string | null> => {
    const place = await placeWithin(root, filled(path));
    const planned = texts.get(place);
    return planned === undefined ? textAt(place) : planned;
  };
  const plan = async (path: string, text: string | null): Promise<void> => {
    texts.set(await placeWithin(root, filled(path)), text);
  };
  for (const [path, text] of Object.entries(attempt.edit ?? {})) await plan(path, text);
  for (const { path, from, to } of replacements(attempt)) {
    const text = await current(path);
    if (text === null) throw new Error(`there is no ${filled(path)} in which to replace`);
    const isDone = !text.includes(from) && to !== "" && text.includes(to);
    if (!isDone) await plan(path, replacedOnce(text, from, to, filled(path)));
  }
  for (const [path, more] of Object.entries(attempt.append ?? {})) {
    const text = (await current(path)) ?? "";
    if (!text.endsWith(more)) await plan(path, text + more);
  }
  for (const [place, text] of texts) {
    if (text === null) await rm(place, { force: true });
    else {
      await mkdir(dirname(place), { recursive: true });
      await writeFile(place, text);
    }
  }
}

function replacements({ replace }: ScriptedAttempt): readonly { path: string; from: string; to: string }[] {
  if (replace === undefined) return [];
  return Array.isArray(replace) ? replace : [replace];
}

function replacedOnce(text: string, from: string, to: string, path: string): string {
  const at = text.indexOf(from);
  if (at === -1) throw new Error(`${path} does not hold the text to replace: ${JSON.stringify(from.slice(0, 80))}`);
  if (text.includes(from, at + 1))
    throw new Error(`${path} holds the text to replace more than once: ${JSON.stringify(from.slice(0, 80))}`);
  return text.slice(0, at) + to + text.slice(at + from.length);
}

/** The absolute path, if it stays inside, links included; a script is not trusted further than an agent is. */
async function placeWithin(root: string, path: string): Promise<string> {
  const place = resolve(root, path);
  if (isAbsolute(path) || !isInside(root, place)) throw new Error(`the path ${path} leads out of the worktree`);
  if (relative(root, place).toLowerCase().split(sep).includes(".git")) throw new Error(`the path ${path} is git's own`);
  // The deepest part that exists says where the rest will be.
  for (let at = place; at !== root; at = dirname(at)) {
    const kind = await kindOf(at);
    if (kind === "missing") continue;
    const real = await realpath(at).catch(() => null);
    if (real === null || !(real === root || isInside(root, real)))
      throw new Error(`the path ${path} leads out of the worktree by a link`);
    if (at === place && kind === "folder") throw new Error(`the path ${path} is a folder`);
    return join(real, relative(at, place));
  }
  return place;
}

const isInside = (root: string, place: string): boolean => place.startsWith(root.endsWith(sep) ? root : root + sep);

async function kindOf(path: string): Promise<"missing" | "folder" | "other"> {
  try {
    return (await lstat(path)).isDirectory() ? "folder" : "other";
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    // A file stands where a folder is needed: looking one step further up finds it.
    if (code === "ENOENT" || code === "ENOTDIR") return "missing";
    throw error;
  }
}

async function textAt(place: string): Promise<string | null> {
  try {
    return await readFile(place, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
