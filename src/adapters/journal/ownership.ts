import { readFileSync } from "node:fs";
import { readFile, rename, rm, writeFile, mkdir } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openSqlite, type SqliteDatabase, asJournalError, isBusy, systemCode } from "./sqlite.ts";

/** The process that runs the stories of a journal. */
export interface Holder {
  readonly pid: number;
  readonly host: string;
  /** When it took the lock. */
  readonly since: number;
  readonly command: string;
}

export interface JournalOwner {
  readonly holder: Holder;
  release(): Promise<void>;
}

/** `null`: the lock is held, but no note names the process. */
export interface HeldLock {
  readonly heldBy: Holder | null;
}

/**
 * Makes this process the only engine of a journal. The lock is a kernel lock on a file beside the journal: it ends with
 * the process, so there are no stale locks. The owner's note is in a second file, because closing the lock file
 * anywhere in this process would release the lock.
 */
export async function takeOwnership(file: string, command = ownCommand()): Promise<JournalOwner | HeldLock> {
  try {
    await mkdir(dirname(file), { recursive: true });
    for (let tries = 1; ; tries++) {
      const db = await openLocked(`${file}.lock`);
      if (db !== null) return await owner(db, `${file}.owner`, command);
      const heldBy = await readHolder(`${file}.owner`);
      // The note names a dead process: the new owner has not written its note yet, or two attempts collided.
      if (tries === TRIES || (heldBy !== null && isAlive(heldBy))) return { heldBy };
      await sleep(PAUSE_MS * tries);
    }
  } catch (error) {
    throw asJournalError(error, file);
  }
}

const TRIES = 5;
const PAUSE_MS = 40;

/** Keeps the databases referenced: an unreferenced database is closed, which releases its lock. */
const held = new Set<SqliteDatabase>();

async function openLocked(file: string): Promise<SqliteDatabase | null> {
  const db = await openSqlite(file, "write");
  try {
    db.exec(`PRAGMA busy_timeout = ${PAUSE_MS}`);
    db.exec("BEGIN EXCLUSIVE");
    held.add(db);
    return db;
  } catch (error) {
    db.close();
    if (isBusy(error)) return null;
    throw error;
  }
}

async function owner(db: SqliteDatabase, note: string, command: string): Promise<JournalOwner> {
  const holder: Holder = { pid: process.pid, host: hostname(), since: Date.now(), command };
  try {
    await writeFile(`${note}.new`, `${JSON.stringify(holder)}\n`);
    await rename(`${note}.new`, note);
  } catch (error) {
    letGo(db);
    throw error;
  }
  const release = async (): Promise<void> => {
    if (!held.has(db)) return;
    await rm(note, { force: true });
    letGo(db);
  };
  return { holder, release };
}

function letGo(db: SqliteDatabase): void {
  held.delete(db);
  db.close();
}

/**
 * Whether an engine uses this journal. Reads only the note, because trying the lock would keep others from taking it.
 */
export async function hasLivingOwner(file: string): Promise<boolean> {
  return (await livingOwner(file)) !== null;
}

/** Returns the engine that uses this journal; `null` if there is none, or its process is dead. */
export async function livingOwner(file: string): Promise<Holder | null> {
  const holder = await readHolder(`${file}.owner`);
  return holder !== null && isAlive(holder) ? holder : null;
}

async function readHolder(note: string): Promise<Holder | null> {
  try {
    const { pid, host, since, command } = JSON.parse(await readFile(note, "utf8")) as Record<string, unknown>;
    if (typeof pid !== "number" || typeof host !== "string") return null;
    return { pid, host, since: Number(since), command: String(command) };
  } catch (error) {
    // Not written yet, or not by Remand: the owner is unknown, but the lock still counts.
    if (error instanceof SyntaxError || systemCode(error) === "ENOENT") return null;
    throw error;
  }
}

function isAlive({ pid, host }: Holder): boolean {
  if (host !== hostname()) return true;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return systemCode(error) === "EPERM";
  }
  return !isZombie(pid);
}

/** Whether the process has ended and waits for its parent. Such a process still accepts signals. */
function isZombie(pid: number): boolean {
  if (process.platform !== "linux") return false;
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    // No /proc, or the process ended just now: the result of the signal counts.
    return false;
  }
}

/** Returns the program and its command without arguments: they may hold secrets, and other users can read the note. */
function ownCommand(): string {
  return process.argv
    .slice(1, 3)
    .map((part) => basename(part))
    .join(" ");
}
