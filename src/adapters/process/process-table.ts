import { readdirSync, readFileSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";

/** A process of this machine. The start time distinguishes it from a later one with the same id. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly startTicks: string;
  /** The number of its controlling terminal; 0 without one. */
  readonly terminal: number;
}

/** How many processes are read before other work gets a turn, because a machine may have thousands. */
const BATCH = 200;

/**
 * Returns all running processes; `null` on systems without /proc (all but Linux). There only the process group can be
 * ended, so a program that creates its own session escapes.
 */
export async function processTable(): Promise<readonly ProcessEntry[] | null> {
  const names = readOr(() => readdirSync("/proc"), null);
  if (names === null || !names.includes("self")) return null;
  const entries: ProcessEntry[] = [];
  let read = 0;
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue;
    if (++read % BATCH === 0) await nextTurn();
    const entry = processEntry(Number(name));
    if (entry !== null) entries.push(entry);
  }
  return entries;
}

/** Returns a process; `null` if it is gone, or dead and not yet collected by its parent. */
export function processEntry(pid: number): ProcessEntry | null {
  const stat = readOr(() => readFileSync(`/proc/${pid}/stat`, "latin1"), null);
  if (stat === null) return null;
  // The name is in parentheses, and may contain parentheses and spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, parent, group, session, terminal] = fields;
  if (state === undefined || state === "Z" || state === "X") return null;
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    startTicks: fields[19] ?? "",
    terminal: Number(terminal),
  };
}

export function isAlive(entry: Pick<ProcessEntry, "pid" | "startTicks">): boolean {
  return processEntry(entry.pid)?.startTicks === entry.startTicks;
}

/** Returns a variable of a process's initial environment; `null` if it is missing or may not be read. */
export function variableOf(pid: number, name: string): string | null {
  const environ = readOr(() => readFileSync(`/proc/${pid}/environ`), null);
  if (environ === null) return null;
  const key = `${name}=`;
  for (let at = environ.indexOf(key); at !== -1; at = environ.indexOf(key, at + 1)) {
    if (at > 0 && environ[at - 1] !== 0) continue;
    const end = environ.indexOf(0, at);
    return environ.toString("utf8", at + key.length, end === -1 ? environ.length : end);
  }
  return null;
}

export const programOf = (pid: number): string => readOr(() => readFileSync(`/proc/${pid}/comm`, "utf8").trim(), "");

export function commandLineOf(pid: number): string {
  return readOr(() => readFileSync(`/proc/${pid}/cmdline`, "utf8"), "")
    .replaceAll("\0", " ")
    .trim();
}

/** Returns a fallback if reading fails: a process may end between two reads, or belong to another user. */
export function readOr<T, E>(read: () => T, otherwise: E): T | E {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
