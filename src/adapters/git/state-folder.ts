import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Makes the folder in which Remand keeps its own things. It ignores itself, so that no user has to. */
export async function ensureStateFolder(state: string): Promise<void> {
  const rules = join(state, ".gitignore");
  if (existsSync(rules)) return;
  await mkdir(state, { recursive: true });
  await writeFile(rules, "*\n");
}
