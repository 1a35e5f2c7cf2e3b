import { dirname, join } from "node:path";
import type { Checkout } from "../app/command.ts";

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

/** Commands that need a config: the journal of a loop in a folder without one does not make it their project. */
const BY_CONFIG: ReadonlySet<string> = new Set(["run", "stories", "gate", "config", "doctor"]);

/**
 * The folder of the project that a command is started in: the nearest one upwards, and within the same repository, that
 * has a remand.yaml, or what an engine left. `null` where that is the folder itself, or there is none.
 */
export async function projectFolder(
  command: string,
  { cwd, files }: Pick<Checkout, "cwd" | "files">,
): Promise<string | null> {
  if (ABOUT_ITS_OWN_FOLDER.has(command)) return null;
  const signs = BY_CONFIG.has(command) ? ["remand.yaml"] : ["remand.yaml", ".remand"];
  let found: string | null = null;
  for (let folder = cwd; ; folder = dirname(folder)) {
    const has = async (name: string): Promise<boolean> => (await files.look(join(folder, name))).type !== "absent";
    if (found === null && (await Promise.all(signs.map(has))).includes(true)) found = folder;
    if (found === cwd) return null;
    if (await has(".git")) return found;
    // Outside of a repository a folder further up may be a user's home.
    if (dirname(folder) === folder) return null;
  }
}
