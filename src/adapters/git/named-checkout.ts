import { mkdir, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sha256 } from "../../stdx/sha256.ts";
import { isAlivePid, ownName, takeAway } from "./throwaway.ts";

/** A path for a checkout that has the same path each time it is made. */
export interface NamedPath {
  readonly path: string;
  release(): Promise<void>;
}

/**
 * Takes the path of a name, so that a client that keeps its conversations by folder finds them again. `null` while
 * another checkout of that name is in use. What a killed process left is removed first.
 */
export async function takeNamedPath(folder: string, name: string): Promise<NamedPath | null> {
  await clearLeftNames(folder);
  const path = join(folder, sha256(name).slice(0, 16));
  const owner = `${path}${OWNER}`;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    await writeFile(owner, String(process.pid), { flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return null;
  }
  return {
    path,
    async release() {
      // The name is free only when the folder is gone; after that the folders above may be empty.
      await takeAway(path);
      await rm(owner, { force: true });
      await takeAway(path);
    },
  };
}

const OWNER = ".owner";

/** Each is claimed before it is removed: of two processes that find it, one does so. */
async function clearLeftNames(folder: string): Promise<void> {
  for (const entry of await readdir(folder)) {
    if (!entry.endsWith(OWNER)) continue;
    const owner = join(folder, entry);
    if (await isInUse(owner)) continue;
    const claimed = join(folder, `${ownName()}.claim`);
    const isMine = await rename(owner, claimed).then(
      () => true,
      () => false,
    );
    if (!isMine) continue;
    // Taken by another process between the look and the claim: given back.
    if (await isInUse(claimed)) await rename(claimed, owner);
    else {
      await takeAway(owner.slice(0, -OWNER.length));
      await rm(claimed, { force: true });
    }
  }
}

async function isInUse(owner: string): Promise<boolean> {
  const text = await readFile(owner, "utf8").catch(() => null);
  // Empty: its process is about to write its number.
  return text === null || text === "" || isAlivePid(Number(text));
}
