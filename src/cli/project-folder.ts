import { dirname, join } from "node:path";
import type { Checkout } from "./command.ts";

/** Commands that are about the folder they are started in, whatever project lies around it. */
const ABOUT_ITS_OWN_FOLDER: ReadonlySet<string> = new Set([
  "loop",
  "init",
  "blame",
  "parse",
  "completion",
  "demo",
  "worker",
  "hook",
  "mcp",
]);

/**
 * The folder of the project that a command is started in: the nearest one upwards, and within the same repository, that
 * has a remand.yaml or what a run left. `null` where that is the folder itself, or there is none.
 */
export async function projectFolder(
  command: string,
  { cwd, files }: Pick<Checkout, "cwd" | "files">,
): Promise<string | null> {
  if (ABOUT_ITS_OWN_FOLDER.has(command)) return null;
  let found: string | null = null;
  for (let folder = cwd; ; folder = dirname(folder)) {
    const has = async (name: string): Promise<boolean> => (await files.look(join(folder, name))).type !== "absent";
    if (found === null && ((await has("remand.yaml")) || (await has(".remand")))) found = folder;
    if (found === cwd) return null;
    if (await has(".git")) return found;
    // Outside of a repository a folder further up is as likely somebody's home.
    if (dirname(folder) === folder) return null;
  }
}
