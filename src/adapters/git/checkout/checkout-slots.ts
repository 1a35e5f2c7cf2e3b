import { link, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sha256 } from "../../../stdx/sha256.ts";
import { isAlivePid, processUniqueName } from "../repository.ts";
import { removeFolder } from "../remove-folder.ts";

/**
 * The folder of one clean checkout. The paths are reused, because build caches depend on the path they were made in.
 */
export interface Slot {
  readonly path: string;
  /** A folder beside the checkout for data that belongs to it and must not be in it. */
  readonly aside: string;
  release(): Promise<void>;
}

/**
 * Takes the slot with the given name; if it is taken or no name is given, the first free slot. Clears the slots of
 * killed processes on the way.
 */
export async function takeSlot(folder: string, named?: string): Promise<Slot> {
  const [locks, runs, aside] = ["slots", "runs", "aside"].map((name) => join(folder, name)) as [string, string, string];
  const clear = async (name: string): Promise<void> => {
    await removeFolder(join(runs, name));
    await removeFolder(join(aside, name));
  };
  for (const each of [locks, runs, aside]) await mkdir(each, { recursive: true, mode: 0o700 });
  for (const name of await readdir(locks))
    if (await takeDeadLock(join(locks, name))) {
      await clear(name);
      await rm(join(locks, name), { force: true });
    }
  for (let number = named === undefined ? 0 : -1; ; number++) {
    const name = number === -1 ? sha256(named!).slice(0, 16) : String(number);
    if (!(await makeLock(join(locks, name)))) continue;
    return {
      path: join(runs, name),
      aside: join(aside, name),
      async release() {
        await clear(name);
        await rm(join(locks, name), { force: true });
      },
    };
  }
}

async function makeLock(lock: string): Promise<boolean> {
  try {
    await writeFile(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Takes over the lock of a process that no longer runs. */
async function takeDeadLock(lock: string): Promise<boolean> {
  const owner = await readFile(lock, "utf8").catch(() => null);
  if (owner === null || owner === "" || isAlivePid(Number(owner))) return false;
  const own = `${lock}.${processUniqueName()}`;
  try {
    await rename(lock, own);
    // If another process took the lock over first, the renamed file is its new lock: the link below gives it back.
    const isTheDeadOnes = (await readFile(own, "utf8")) === owner;
    if (isTheDeadOnes) await writeFile(own, String(process.pid));
    await link(own, lock);
    return isTheDeadOnes;
  } catch {
    return false;
  } finally {
    await rm(own, { force: true });
  }
}
