import { chmod, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { RemandError, systemFault } from "../../core/events/error.ts";
import { causeOfMissingFolder } from "../process/unwritable-folder.ts";
import { isAlivePid } from "./repository.ts";

/** Removes a folder with all that is in it; a link is removed itself. */
export async function removeFolder(path: string): Promise<void> {
  const options = { recursive: true, force: true, maxRetries: 5 } as const;
  try {
    await rm(path, options).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== "EACCES" && error.code !== "EPERM") throw error;
      // A run may leave folders that may not be written, such as a cache of modules.
      await makeWritable(path);
      await rm(path, options);
    });
  } catch (error) {
    throw new RemandError(
      "workspace-broken",
      `the checkout ${path} cannot be removed: ${(error as Error).message}`,
      `Remove it: rm -rf ${path}`,
      { cause: error },
    );
  }
}

/** Removes what processes left that were killed: by its name it can be seen whose it is. */
export async function clearLeft(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) if (!isAlivePid(Number(name.split("-")[0]))) await removeFolder(join(folder, name));
}

async function makeWritable(folder: string): Promise<void> {
  // What was removed meanwhile needs no permission.
  await chmod(folder, 0o700).catch(() => undefined);
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => []))
    if (entry.isDirectory()) await makeWritable(join(folder, entry.name));
}

/** Does work on files. What the disk refuses (full, read-only, not ours) is an operating error, with a way out. */
export async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    const error = await causeOfMissingFolder(thrown);
    if (!(error instanceof Error && "code" in error && "syscall" in error)) throw error;
    const fault = systemFault(error);
    throw new RemandError(
      "workspace-broken",
      `the workspace cannot be used: ${fault === null ? "" : `${fault.fact}: `}${error.message}`,
      fault?.fix ?? HINTS[String(error.code)] ?? "Fix what the system says, and run the same command again.",
      { cause: error },
    );
  }
}

const HINTS: Readonly<Record<string, string>> = {
  EACCES: "Change the permissions of that folder, or run as a user who may write to it.",
  EPERM: "Change the permissions of that folder, or run as a user who may write to it.",
};
