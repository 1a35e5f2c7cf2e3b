import { dirname, join } from "node:path";
import type { Checkout } from "../app/command.ts";

/** Commands that use the folder they are started in, even inside a project. */
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

/** Commands that need a config: a loop's journal in a folder without one does not make that folder their project. */
const BY_CONFIG: ReadonlySet<string> = new Set(["run", "stories", "gate", "config", "doctor"]);

/**
 * Finds the project of the folder that a command is started in: the nearest folder upwards, within the same repository,
 * that has a remand.yaml or an engine's files. `null` if that is the folder itself, or if there is none.
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
    // Outside of a repository, a folder further up may be the user's home.
    if (dirname(folder) === folder) return null;
  }
}
