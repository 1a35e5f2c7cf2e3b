import { readdirSync, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { processNamespace } from "./ancestry.ts";
import { CELL_PREFIX, removeCellFolder } from "./launch.ts";
import { commandLineOf, processTable, readOr } from "./process-table.ts";

/**
 * Makes a temporary folder. Its name contains the process that uses it, so that it can be removed if that process dies.
 */
export const makeTempFolder = (prefix: string, parent = tmpdir()): Promise<string> =>
  mkdtemp(join(parent, `${prefix}${namespaceId()}.${process.pid}-`));

/** Distinguishes process ids of containers that share the folder. */
const namespaceId = (): string => processNamespace().replaceAll(/\D/g, "") || "0";

/** Returns the folder for overlays, which cannot be inside a folder that they show. */
export const overlayFolder = (): string =>
  readOr(() => readdirSync("/var/tmp"), null) === null ? tmpdir() : "/var/tmp";

/** Removes folders of dead processes, for example after a crash. */
export async function removeAbandonedFolders(parents: readonly string[] = [tmpdir(), overlayFolder()]): Promise<void> {
  const ours = new RegExp(String.raw`^remand-[a-z]+-${namespaceId()}\.(\d+)-`);
  const found = [...new Set(parents)].flatMap((parent) =>
    readOr(() => readdirSync(parent), []).flatMap((name) => {
      const pid = Number(ours.exec(name)?.[1] ?? Number.NaN);
      return Number.isNaN(pid) || isRunning(pid) ? [] : [{ name, path: join(parent, name) }];
    }),
  );
  if (found.length === 0) return;
  // An agent under a supervisor outlives the process that made its folder.
  const commands = ((await processTable()) ?? []).map(({ pid }) => commandLineOf(pid));
  for (const { name, path } of found) {
    if (commands.some((command) => command.includes(path))) continue;
    // Another user's folder stays.
    readOr(
      () => (name.startsWith(CELL_PREFIX) ? removeCellFolder(path) : rmSync(path, { recursive: true })),
      undefined,
    );
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
