import { createHash } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { RemandError } from "../../domain/error.ts";
import type { Outbox } from "../../ports/outbox.ts";

/**
 * One file per key. It is written beside its place, forced to the disk and moved there, so that a key has its whole
 * text or none, also after the power failed. The key itself stands on the first line: a file's name is only its hash.
 */
export function createFileOutbox(folder: string): Outbox {
  const place = (key: string): string => join(folder, `${createHash("sha256").update(key).digest("hex")}.txt`);
  let writes = 0;
  return {
    async put(key, text) {
      const path = place(key);
      const beside = `${path}.${process.pid}.${writes++}.new`;
      try {
        await mkdir(folder, { recursive: true });
        await writeThrough(beside, `${JSON.stringify(key)}\n${text}`);
        await rename(beside, path);
        await syncFolder(folder);
      } catch (error) {
        // What went wrong first is what is told; the rest of a half-written file does no harm.
        await rm(beside, { force: true }).catch(() => undefined);
        throw asRemandError(error, "written", path);
      }
    },
    async get(key) {
      const path = place(key);
      const kept = await textOf(path);
      if (kept === null) return null;
      const head = `${JSON.stringify(key)}\n`;
      if (kept.startsWith(head)) return kept.slice(head.length);
      throw new RemandError(
        "file-unreadable",
        `${path} does not hold what belongs there`,
        "Remove it; the work is then done once more.",
      );
    },
    async drop(key) {
      try {
        await rm(place(key), { force: true });
      } catch (error) {
        throw asRemandError(error, "removed", place(key));
      }
    },
  };
}

async function writeThrough(path: string, text: string): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A new name is on the disk only when its folder is. Systems that cannot do that to a folder do it by themselves. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function textOf(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw asRemandError(error, "read", path);
  }
}

function asRemandError(error: unknown, verb: string, path: string): RemandError {
  const reason = error instanceof Error ? error.message : String(error);
  const hint = "Look at the disk: is it full, read-only, or somebody else's?";
  return new RemandError("file-unreadable", `${path} could not be ${verb}: ${reason}`, hint, { cause: error });
}
