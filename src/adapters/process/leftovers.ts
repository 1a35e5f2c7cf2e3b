import { setTimeout as pause } from "node:timers/promises";
import { assert } from "../../stdx/assert.ts";
import { commandLineOf, isAlive, processTable, programOf, variableOf, type ProcessEntry } from "./process-table.ts";

/** The variable every process we start carries. Its descendants inherit it, whatever session or parent they move to. */
export const COOKIE_VARIABLE = "REMAND_COOKIE";

export interface Leftover {
  readonly pid: number;
  readonly command: string;
}

/**
 * Processes that still carry the cookie, for example after a crash. Without /proc none can be found.
 *
 * @internal Tests ask for them.
 */
export async function leftovers(cookie: string): Promise<readonly Leftover[]> {
  return describeLeftovers((await createFamily(cookie, null).members()) ?? []);
}

/** Ends them, politely first, and says which they were. Those that also carry a spared cookie go on. */
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

/** Cookies of nested runs stand side by side, so that the outer run finds what the inner one left. */
export function cookieValue(inherited: string | undefined, cookie: string): string {
  assert(/^[^\0,\s]+$/.test(cookie), "a cookie is one word without commas");
  return inherited === undefined || inherited === "" ? cookie : `${inherited},${cookie}`;
}

/** All processes that one run started, directly or through others. */
export interface ProcessFamily {
  /** The process we started; its number is that of its group and session too. `null` where only the cookie is known. */
  readonly root: number | null;
  /** Those who live now; `null` without /proc. */
  members(): Promise<readonly ProcessEntry[] | null>;
}

/**
 * Members are the processes that carry the cookie, are in the root's group or session, or descend from a member. A
 * process that was seen once stays a member: when its parent dies, one that cleared its environment has no other sign
 * left. This process and its ancestors are never members, even when it runs inside another run.
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
 * Sends stronger and stronger signals until no process is left; all of them together take `graceMs`. The last signal is
 * sent again for as long as a process is found, because a program may start others while it is being ended.
 * Returns how many processes were signaled.
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
      // Looking for others takes a while on a busy machine; those who are known need not profit from it.
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
        // A sandbox ends with the program inside; asked to end first, it would kill the program.
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

/** Waits for the family to leave by itself, and says whether it did. */
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

/** Sends a signal to every process of a group. Says whether there was one. */
export const signalGroup = (group: number, signal: NodeJS.Signals): boolean => send(-group, signal);

/** Returns whether the signal reached a process. A process that we have no right to end stays. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
