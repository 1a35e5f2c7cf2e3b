import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RemandError } from "../../domain/error.ts";
import { isAlive, processTable, type ProcessEntry } from "../process/process-table.ts";

/** Written by the process that works in a clone. One that was killed leaves it behind, and is known to be dead by it. */
const OWNER = "remand-owner";

/** Takes a clone for this process. Returns how it is given back. */
export async function ownClone(gitDir: string, folder: string): Promise<() => Promise<void>> {
  const file = join(gitDir, OWNER);
  const self = await ownEntry();
  const text = JSON.stringify(self);
  for (;;) {
    try {
      await writeFile(file, text, { flag: "wx" });
      return () => rm(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const owner = await readOwner(file);
    if (owner !== null && !isSame(owner, self) && isRunning(owner)) {
      throw new RemandError(
        "workspace-broken",
        `another worker works in ${folder}: process ${owner.pid}`,
        "Give each worker a folder of its own.",
      );
    }
    // By another name first: of two who find it dead only one may take it away.
    await rename(file, `${file}.${process.pid}`).catch(() => {});
    await rm(`${file}.${process.pid}`, { force: true });
  }
}

type Owner = Pick<ProcessEntry, "pid" | "startTicks">;

async function ownEntry(): Promise<Owner> {
  const entry = (await processTable())?.find(({ pid }) => pid === process.pid);
  return { pid: process.pid, startTicks: entry?.startTicks ?? "" };
}

async function readOwner(file: string): Promise<Owner | null> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as Owner;
  } catch {
    // Gone meanwhile, or cut short by a kill: nobody who lives has written it.
    return null;
  }
}

const isSame = (one: Owner, other: Owner): boolean => one.pid === other.pid && one.startTicks === other.startTicks;

function isRunning(owner: Owner): boolean {
  if (owner.startTicks !== "") return isAlive(owner);
  try {
    return process.kill(owner.pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
