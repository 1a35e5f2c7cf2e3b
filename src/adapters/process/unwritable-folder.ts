import { access, constants } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Returns the real cause of a folder that cannot be created. On a read-only disk Node reports that it does not exist;
 * the nearest existing folder has the cause.
 */
export async function causeOfMissingFolder(thrown: unknown): Promise<unknown> {
  if (!(thrown instanceof Error)) return thrown;
  const { code, syscall, path } = thrown as NodeJS.ErrnoException;
  if (code !== "ENOENT" || syscall !== "mkdir" || path === undefined) return thrown;
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const found = await access(folder, constants.W_OK).catch((refused: unknown) => refused);
    if (!(found instanceof Error)) return thrown;
    if ((found as NodeJS.ErrnoException).code !== "ENOENT") return found;
    if (folder === dirname(folder)) return thrown;
  }
}
