import { readFileSync } from "node:fs";
import { readFile, rename, rm, writeFile, mkdir } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openSqlite, type SqliteDatabase, asJournalError, isBusy, systemCode } from "./sqlite.ts";

/** Who drives the stories of a journal. */
export interface Holder {
  readonly pid: number;
  readonly host: string;
  /** When it took the journal. */
  readonly since: number;
  readonly command: string;
}

export interface JournalOwner {
  readonly holder: Holder;
  release(): Promise<void>;
}

/** `null`: a process holds the lock, but no note names it. */
export interface HeldLock {
  readonly heldBy: Holder | null;
}

/**
 * Makes this process the only engine of a journal. The claim is a lock on a file beside it that the kernel keeps: it
 * ends with the process, however that ends, and no stale note has to be believed. Who holds it stands in a second
 * file, because nothing else in this process may open the first: closing it there would let go of the lock.
 */
export async function takeOwnership(file: string, command = ownCommand()): Promise<JournalOwner | HeldLock> {
  try {
    await mkdir(dirname(file), { recursive: true });
    for (let tries = 1; ; tries++) {
      const db = await openLocked(`${file}.lock`);
      if (db !== null) return await owner(db, `${file}.owner`, command);
      const heldBy = await readHolder(`${file}.owner`);
      // The note is of a process that is gone: the new holder is about to write its own, or two attempts collided.
      if (tries === TRIES || (heldBy !== null && isAlive(heldBy))) return { heldBy };
      await sleep(PAUSE_MS * tries);
    }
  } catch (error) {
    throw asJournalError(error, file);
  }
}

const TRIES = 5;
const PAUSE_MS = 40;

/** Held here too: an unreferenced database is closed, and its lock is released. */
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

/** Does an engine work with this journal? By the note alone: to ask for the lock would keep others from taking it. */
export async function hasLivingOwner(file: string): Promise<boolean> {
  return (await livingOwner(file)) !== null;
}

/** The engine that works with this journal; `null` where none does, or the one that did is gone. */
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
    // Not written yet, or not by Remand: the holder is unknown, but the lock still counts.
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

/** A process that has ended, and that its parent has not asked about, still takes signals. */
function isZombie(pid: number): boolean {
  if (process.platform !== "linux") return false;
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    // Without /proc, or with a process that ended just now: the signal has answered.
    return false;
  }
}

/** The program and its command, without what follows: arguments may hold secrets, and other users can read the note. */
function ownCommand(): string {
  return process.argv
    .slice(1, 3)
    .map((part) => basename(part))
    .join(" ");
}
