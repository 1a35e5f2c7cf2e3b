import { mkdir, open, readdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Pristine } from "./pristine.ts";

/**
 * Folders with what a build keeps for the next one, by the tag that tools put there (https://bford.info/cachedir):
 * `target` of Cargo, the caches of pytest, mypy and ruff. `written` holds what a run wrote; `checkout` shows all of it.
 */
export async function findCaches(written: string, checkout: string): Promise<readonly string[]> {
  const found: string[] = [];
  const look = async (folder: string, depth: number): Promise<void> => {
    for (const entry of await readdir(join(written, folder), { withFileTypes: true })) {
      if (!entry.isDirectory() || entry.name === ".git" || entry.name === "node_modules") continue;
      const path = join(folder, entry.name);
      if (await isTagged(join(checkout, path))) found.push(path);
      else if (depth < DEEPEST) await look(path, depth + 1);
    }
  };
  await look("", 0);
  return found;
}

const DEEPEST = 3;

const TAG = "Signature: 8a477f597d28d172789f06886806bc55";

async function isTagged(folder: string): Promise<boolean> {
  const file = await open(join(folder, "CACHEDIR.TAG")).catch(() => null);
  if (file === null) return false;
  try {
    const { buffer } = await file.read(Buffer.alloc(TAG.length), 0, TAG.length, 0);
    return buffer.toString("latin1") === TAG;
  } finally {
    await file.close();
  }
}

/** Moves the caches of a run of the base to a layer that later checkouts of this tree, and of those after it, show. */
export async function keepCaches(pristine: Pristine, written: string, caches: readonly string[]): Promise<void> {
  if (pristine.hasOwnCaches || caches.length === 0) return;
  await pristine.addCaches(async (layer) => {
    for (const path of caches) {
      await mkdir(dirname(join(layer, path)), { recursive: true });
      await rename(join(written, path), join(layer, path));
    }
  });
}
