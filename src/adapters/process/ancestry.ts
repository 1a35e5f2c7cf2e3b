import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { COOKIE_VARIABLE } from "./leftovers.ts";
import { processEntry, readOr, variableOf } from "./process-table.ts";
import { runProcess } from "./run-process.ts";

/** One process between this one and the first of the machine. */
export interface Ancestor {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Counted from the same moment for every process of one boot; only comparisons make sense. */
  readonly startedAt: number;
  readonly hasTerminal: boolean;
  readonly name: string;
}

/** This process first, then its parent, and so on up to the first of the machine; empty where no system tells. */
export async function ancestry(pid = process.pid): Promise<readonly Ancestor[]> {
  if (readOr(() => readFileSync("/proc/self/stat"), null) !== null) return chain(pid, fromProc);
  const table = await psTable();
  return chain(pid, (each) => table.get(each) ?? null);
}

function chain(pid: number, entryOf: (pid: number) => Ancestor | null): Ancestor[] {
  const seen: Ancestor[] = [];
  for (let at = entryOf(pid); at !== null && !seen.some((each) => each.pid === at?.pid); at = entryOf(at.parent))
    seen.push(at);
  return seen;
}

function fromProc(pid: number): Ancestor | null {
  const entry = pid < 1 ? null : processEntry(pid);
  if (entry === null) return null;
  const { parent, group, session, startTicks, terminal } = entry;
  const name = readOr(() => readFileSync(`/proc/${pid}/comm`, "utf8").trim(), "");
  return { pid, parent, group, session, startedAt: Number(startTicks), hasTerminal: terminal !== 0, name };
}

/** Where there is no /proc (macOS): what `ps` says. It does not know sessions there; the group stands for them. */
async function psTable(): Promise<ReadonlyMap<number, Ancestor>> {
  const { exitCode, stdout } = await runProcess({
    command: ["ps", "-A", "-o", "pid=,ppid=,pgid=,tty=,lstart=,comm="],
    cwd: "/",
    env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C" },
    timeoutMs: PS_MS,
    sandbox: null,
  });
  return new Map(exitCode === 0 ? readPs(stdout).map((entry) => [entry.pid, entry]) : []);
}

const PS_MS = 5000;

/** The lines of `ps -A -o pid=,ppid=,pgid=,tty=,lstart=,comm=`. */
export function readPs(text: string): Ancestor[] {
  return text.split("\n").flatMap((line) => {
    const [, pid, parent, group, tty, started, name] =
      /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\w{3}\s+\w{3}\s+\d+\s+[\d:]+\s+\d{4})\s+(.*)$/.exec(line) ?? [];
    if (pid === undefined || started === undefined) return [];
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        group: Number(group),
        session: Number(group),
        startedAt: Date.parse(started) / 1000,
        hasTerminal: !/^[?-]+$/.test(tty ?? "?"),
        name: (name ?? "").trim(),
      },
    ];
  });
}

/**
 * The signs that Remand started a process or one above it: the cookies in the environments they were started with, and
 * the locks of engines that processes above hold open. A process can drop its own environment, but not that of its
 * parents, its group or its session.
 */
export function engineMarks(line: readonly Ancestor[]): string[] {
  const [self, ...above] = line;
  const leaders = line.flatMap(({ group, session }) => [group, session]);
  const pids = new Set([...line.map(({ pid }) => pid), ...leaders].filter((pid) => pid > 1));
  const cookies = [process.env[COOKIE_VARIABLE], ...[...pids].map((pid) => variableOf(pid, COOKIE_VARIABLE))];
  const locks = above.filter(({ pid }) => pid > 1 && pid !== self?.pid).flatMap(({ pid }) => engineLocks(pid));
  return [...new Set([...cookies.flatMap((text) => (text ?? "").split(",")), ...locks])].filter((mark) => mark !== "");
}

/** An engine keeps the lock of its journal open for as long as it works. */
function engineLocks(pid: number): string[] {
  const descriptors = readOr(() => readdirSync(`/proc/${pid}/fd`), []);
  const files = descriptors.map((each) => readOr(() => readlinkSync(`/proc/${pid}/fd/${each}`), ""));
  return files.filter((file) => file.endsWith(ENGINE_LOCK));
}

const ENGINE_LOCK = "/.remand/journal.db.lock";

/** Two processes can be compared only within one boot of one machine. */
export const bootId = (): string => readOr(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(), "");

/** The control groups of this process; a process hands them on to what it starts. `null` where there are none. */
export const controlGroups = (): string | null => readOr(() => readFileSync("/proc/self/cgroup", "utf8"), null);
