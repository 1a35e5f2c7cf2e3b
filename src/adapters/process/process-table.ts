import { readdirSync, readFileSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";

/** A process of this machine. The start time tells it from a later one that was given the same number. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly startTicks: string;
  /** The number of its controlling terminal; 0 without one. */
  readonly terminal: number;
}

/** How many processes are read before others get a turn: a machine with thousands must not make the engine stutter. */
const BATCH = 200;

/**
 * Every process that runs, or `null` where the system has no /proc (anything but Linux). There only the process group
 * can be ended, so a program that makes a session of its own escapes.
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

/** `null` for a process that is gone, and for one that is dead and only waits to be collected by its parent. */
export function processEntry(pid: number): ProcessEntry | null {
  const stat = readOr(() => readFileSync(`/proc/${pid}/stat`, "latin1"), null);
  if (stat === null) return null;
  // The name stands in brackets and may itself hold brackets and spaces.
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

/** A variable of the environment a process was started with; `null` where there is none or it is not ours to read. */
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

/** A process may end between two reads, or belong to another user: that is an answer, not an error. */
export function readOr<T, E>(read: () => T, otherwise: E): T | E {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
