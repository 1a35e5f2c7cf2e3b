import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { killLeftovers } from "../process/leftovers.ts";
import type { PrivateIndex } from "./private-index.ts";

/**
 * An engine that was killed may have left a git, or an installation, at work in the place; one that was killed
 * together with its git leaves locks. Only one engine works at a time, so at our first visit all of that is nobody's.
 */
export async function clearAfterCrash(
  commonDir: string,
  cookie: string,
  refs: readonly string[],
  index: PrivateIndex,
): Promise<void> {
  await killLeftovers(cookie);
  const locks = refs.map((ref) => join(commonDir, `${ref}.lock`)).filter((lock) => existsSync(lock));
  await Promise.all([...locks.map((lock) => rm(lock, { force: true })), index.dropCopies()]);
}
