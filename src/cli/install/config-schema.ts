import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Checkout } from "../../app/command.ts";

/** Where an editor finds the JSON Schema of remand.yaml, whatever the project is made of, and without a network. */
export const SCHEMA_PATH = "./.remand/config.schema.json";

/** Puts this version's schema there. The folder ignores itself, so a fresh clone gets it with its first run. */
export async function writeConfigSchema({ cwd, files }: Checkout): Promise<void> {
  const text = await readFile(new URL("../../../schema/config.json", import.meta.url), "utf8");
  const [file, ignores] = [join(cwd, SCHEMA_PATH), join(cwd, ".remand", ".gitignore")];
  if ((await files.read(file)) === text) return;
  if ((await files.look(ignores)).type === "absent") await files.write(ignores, "*\n");
  await files.write(file, text);
}
