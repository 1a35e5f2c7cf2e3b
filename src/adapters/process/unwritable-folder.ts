import { access, constants } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Node reports a folder that cannot be created on a read-only disk as one that does not exist. The nearest folder that
 * exists has the real cause.
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
