import { setTimeout as pause } from "node:timers/promises";
import { assert } from "../../stdx/assert.ts";
import { commandLineOf, isAlive, processTable, programOf, variableOf, type ProcessEntry } from "./process-table.ts";

/**
 * The variable that every process started by Remand has. Its descendants inherit it, in any session and under any
 * parent.
 */
export const COOKIE_VARIABLE = "REMAND_COOKIE";

export interface Leftover {
  readonly pid: number;
  readonly command: string;
}

/**
 * Returns the processes that still have the cookie, for example after a crash. Without /proc none can be found.
 *
 * @internal Used by tests.
 */
export async function leftovers(cookie: string): Promise<readonly Leftover[]> {
  return describeLeftovers((await createFamily(cookie, null).members()) ?? []);
}

/** Ends these processes, first with SIGTERM, and returns them. Processes that also have a spared cookie are kept. */
export async function killLeftovers(
  cookie: string,
  graceMs = 500,
  spared: readonly string[] = [],
): Promise<readonly Leftover[]> {
  const family = createFamily(cookie, null, spared);
  const found = describeLeftovers((await family.members()) ?? []);
  if (found.length > 0) await endFamily(family, ["SIGTERM", "SIGKILL"], graceMs);
  return found;
}

const describeLeftovers = (entries: readonly ProcessEntry[]): readonly Leftover[] =>
  entries.map(({ pid }) => ({ pid, command: commandLineOf(pid) }));

/** Appends a cookie. Nested runs list all their cookies, so that the outer run finds leftovers of the inner one. */
export function cookieValue(inherited: string | undefined, cookie: string): string {
  assert(/^[^\0,\s]+$/.test(cookie), "a cookie is one word without commas");
  return inherited === undefined || inherited === "" ? cookie : `${inherited},${cookie}`;
}

/** All processes that one run started, directly or indirectly. */
export interface ProcessFamily {
  /** The id of the started process, which is also that of its group and session. `null` if only the cookie is known. */
  readonly root: number | null;
  /** Returns the live processes; `null` without /proc. */
  members(): Promise<readonly ProcessEntry[] | null>;
}

/**
 * Finds the members: processes that have the cookie, are in the root's group or session, or descend from a member. A
 * process that was seen once stays a member, because it may clear its environment and lose its parent. This process and
 * its ancestors are never members, even when it runs inside another run.
 */
export function createFamily(cookie: string, root: number | null, spared: readonly string[] = []): ProcessFamily {
  const isMarked = (pid: number): boolean => {
    const cookies = variableOf(pid, COOKIE_VARIABLE)?.split(",") ?? [];
    return cookies.includes(cookie) && !cookies.some((each) => spared.includes(each));
  };
  let seen: readonly ProcessEntry[] = [];
  return {
    root,
    async members() {
      const table = await processTable();
      if (table === null) return null;
      const kin = new Set(seen.filter(isAlive).map(({ pid }) => pid));
      for (const { pid, group, session } of table) {
        const isOfRoot = root !== null && (pid === root || group === root || session === root);
        if (isOfRoot || isMarked(pid)) kin.add(pid);
      }
      const parents = new Map(table.map(({ pid, parent }) => [pid, parent]));
      for (let pid: number | undefined = process.pid; pid !== undefined; pid = parents.get(pid)) kin.delete(pid);
      seen = table.filter(({ pid }) => descends(pid, kin, parents));
      return seen;
    },
  };
}

/**
 * Sends stronger and stronger signals until no process is left, within `graceMs` in total. The last signal is repeated
 * as long as a process is found, because a program may start others while it is being ended. Returns how many processes
 * were signaled.
 */
export async function endFamily(
  family: ProcessFamily,
  signals: readonly NodeJS.Signals[],
  graceMs: number,
): Promise<number> {
  const startedAt = performance.now();
  const waitMs = graceMs / Math.max(1, signals.length - 1);
  const signaled = new Set<number>();
  let members: readonly ProcessEntry[] | null = [];
  for (const [step, signal] of signals.entries()) {
    const isLast = step === signals.length - 1;
    const leftMs = (): number => startedAt + (step + 1) * waitMs - performance.now();
    for (let round = 0; round < (isLast ? LAST_SIGNAL_ROUNDS : 1); round++) {
      // Signal the known processes first: finding others takes a while on a busy machine.
      if (isLast) members.filter(isAlive).forEach(({ pid }) => send(pid, signal));
      members = await family.members();
      if (members === null) {
        await endGroupBlindly(family.root, signal, isLast ? 0 : leftMs());
        members = [];
        break;
      }
      if (members.length === 0) return signaled.size;
      for (const { pid } of members) {
        signaled.add(pid);
        // A sandbox ends with its program; a softer signal to the sandbox would kill the program.
        if (signal === "SIGKILL" || !isSandbox(pid)) send(pid, signal);
      }
      await untilGone(members, isLast ? LAST_SIGNAL_MS : leftMs());
    }
  }
  return signaled.size;
}

const isSandbox = (pid: number): boolean => programOf(pid) === "bwrap";

const LAST_SIGNAL_ROUNDS = 20;
const LAST_SIGNAL_MS = 50;
const POLL_MS = 5;

/** Waits for the family to end by itself, and returns whether it did. */
export async function leavesWithin(family: ProcessFamily, ms: number): Promise<boolean> {
  const members = await family.members();
  if (members === null) return family.root === null || !send(-family.root, 0);
  await untilGone(members, ms);
  return !members.some(isAlive);
}

function descends(pid: number, kin: ReadonlySet<number>, parents: ReadonlyMap<number, number>): boolean {
  let at: number | undefined = pid;
  while (at !== undefined && at > 1) {
    if (kin.has(at)) return true;
    if (at === process.pid) return false;
    at = parents.get(at);
  }
  return false;
}

async function untilGone(members: readonly ProcessEntry[], ms: number): Promise<void> {
  const deadline = performance.now() + ms;
  while (members.some(isAlive)) {
    const left = deadline - performance.now();
    if (left <= 0) return;
    await pause(Math.min(POLL_MS, left));
  }
}

async function endGroupBlindly(root: number | null, signal: NodeJS.Signals, waitMs: number): Promise<void> {
  if (root === null || !send(-root, signal)) return;
  const deadline = performance.now() + waitMs;
  while (performance.now() < deadline && send(-root, 0)) await pause(POLL_MS);
}

/** Sends a signal to every process of a group. Returns whether there was one. */
export const signalGroup = (group: number, signal: NodeJS.Signals): boolean => send(-group, signal);

/** Sends a signal and returns whether it reached a process. A process that this user may not signal stays. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
