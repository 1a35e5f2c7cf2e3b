import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { COOKIE_VARIABLE } from "./leftovers.ts";
import { processEntry, readOr, variableOf } from "./process-table.ts";
import { runProcess } from "./run-process.ts";

/** A process among the ancestors of another one. */
export interface Ancestor {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Measured from the same moment for all processes of one boot; only comparisons are meaningful. */
  readonly startedAt: number;
  /** The name of its controlling terminal; empty without one. */
  readonly terminal: string;
  /** The id of its user; `null` if unknown. */
  readonly user: number | null;
  readonly name: string;
}

/** Returns this process, its parent, and so on up to the first process; empty if the system does not tell. */
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
  return {
    pid,
    parent,
    group,
    session,
    startedAt: Number(startTicks),
    terminal: terminal === 0 ? "" : String(terminal),
    user: userOf(pid),
    name,
  };
}

/**
 * Reads the user from the status file: for a process that hides its memory, the owner of its folder in /proc is not its
 * user.
 */
function userOf(pid: number): number | null {
  const status = readOr(() => readFileSync(`/proc/${pid}/status`, "utf8"), "");
  const user = /^Uid:\s+(\d+)/m.exec(status)?.[1];
  return user === undefined ? null : Number(user);
}

/**
 * Reads the processes with `ps`, for systems without /proc (macOS). `ps` shows no sessions there, so the group is used
 * as the session.
 */
async function psTable(): Promise<ReadonlyMap<number, Ancestor>> {
  const { exitCode, stdout } = await runProcess({
    command: ["ps", "-A", "-o", "pid=,ppid=,pgid=,uid=,tty=,lstart=,comm="],
    cwd: "/",
    env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C" },
    timeoutMs: PS_MS,
    sandbox: null,
  });
  return new Map(exitCode === 0 ? readPs(stdout).map((entry) => [entry.pid, entry]) : []);
}

const PS_MS = 5000;

/** Parses the output of `ps -A -o pid=,ppid=,pgid=,uid=,tty=,lstart=,comm=`. */
export function readPs(text: string): Ancestor[] {
  return text.split("\n").flatMap((line) => {
    const [, pid, parent, group, user, tty, started, name] =
      /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\w{3}\s+\w{3}\s+\d+\s+[\d:]+\s+\d{4})\s+(.*)$/.exec(line) ?? [];
    if (pid === undefined || started === undefined) return [];
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        group: Number(group),
        session: Number(group),
        startedAt: Date.parse(started) / 1000,
        terminal: /^[?-]+$/.test(tty ?? "?") ? "" : (tty ?? ""),
        user: Number(user),
        name: (name ?? "").trim(),
      },
    ];
  });
}

/**
 * Returns the signs that an engine started a process or one of its ancestors: cookies in their environments, and engine
 * locks that ancestors hold open. A process can clear its own environment, but not that of its parents, its group or
 * its session.
 */
export function engineMarks(line: readonly Ancestor[]): string[] {
  const [self, ...above] = line;
  const leaders = line.flatMap(({ group, session }) => [group, session]);
  const pids = new Set([...line.map(({ pid }) => pid), ...leaders].filter((pid) => pid > 1));
  const cookies = [process.env[COOKIE_VARIABLE], ...[...pids].map((pid) => variableOf(pid, COOKIE_VARIABLE))];
  const locks = above.filter(({ pid }) => pid > 1 && pid !== self?.pid).flatMap(({ pid }) => engineLocks(pid));
  return [...new Set([...cookies.flatMap((text) => (text ?? "").split(",")), ...locks])].filter((mark) => mark !== "");
}

/** Returns the engine locks that a process has open. An engine keeps its journal's lock open while it works. */
function engineLocks(pid: number): string[] {
  const descriptors = readOr(() => readdirSync(`/proc/${pid}/fd`), []);
  const files = descriptors.map((each) => readOr(() => readlinkSync(`/proc/${pid}/fd/${each}`), ""));
  return files.filter((file) => file.endsWith(ENGINE_LOCK));
}

const ENGINE_LOCK = "/.remand/journal.db.lock";

/** Processes can be compared only within one boot of one machine. */
export const bootId = (): string => readOr(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(), "");

/** Returns the control groups of a process, which its children inherit. `null` if there are none. */
export const controlGroups = (pid: number | "self" = "self"): string | null =>
  readOr(() => readFileSync(`/proc/${pid}/cgroup`, "utf8"), null);

/** Process ids are meaningful only within one namespace. Empty if the system has none. */
export const processNamespace = (): string => readOr(() => readlinkSync("/proc/self/ns/pid"), "");

/** Whether this process is in a user namespace of its own, where it could hide files and processes from itself. */
export const isInUserNamespace = (): boolean =>
  process.platform === "linux" &&
  !/^\s*0\s+0\s+4294967295\s*$/.test(readOr(() => readFileSync("/proc/self/uid_map", "utf8"), ""));

/**
 * Whether a process holds the other end of a terminal, which shows that it made the terminal. `null` if unknown: the
 * system does not tell, or the process hides its files.
 */
export function holdsTerminal(pid: number, terminal: string): boolean | null {
  const index = ptyIndex(Number(terminal));
  if (index === null) return null;
  const descriptors = readOr(() => readdirSync(`/proc/${pid}/fd`), null);
  return (
    descriptors?.some((each) => {
      if (!readOr(() => readlinkSync(`/proc/${pid}/fd/${each}`), "").endsWith("/ptmx")) return false;
      const info = readOr(() => readFileSync(`/proc/${pid}/fdinfo/${each}`, "utf8"), "");
      return Number(/^tty-index:\s*(\d+)/m.exec(info)?.[1] ?? NaN) === index;
    }) ?? null
  );
}

/** Returns the `N` of `/dev/pts/N` from the terminal's device number; `null` for other kinds of terminals. */
function ptyIndex(device: number): number | null {
  const major = (device >> 8) & 0xfff;
  const minor = (device & 0xff) | ((device >> 12) & 0xfff00);
  return major >= 136 && major <= 143 ? (major - 136) * 256 + minor : null;
}

/** An engine that works now, or worked last in a checkout. */
export interface EngineLife {
  readonly pid: number;
  readonly startedAt: number;
  readonly isRunning: boolean;
  readonly controlGroups: string | null;
}

export interface TerminalFacts {
  /** The process that acts, its parent, and so on. The first one has a terminal. */
  readonly line: readonly Ancestor[];
  /** Engines of this boot. */
  readonly engines: readonly EngineLife[];
  holdsTerminal(pid: number, terminal: string): boolean | null;
  groupsOf(pid: number): string | null;
}

/**
 * Returns why a terminal may have been made by something that an engine started; `null` if it was not. The maker of a
 * terminal is the process that holds its other end: the nearest ancestor outside of it. A process older than every
 * engine was started by none.
 */
export function untrustedTerminalReason({ line, engines, holdsTerminal, groupsOf }: TerminalFacts): string | null {
  if (engines.length === 0) return null;
  const isOlder = ({ startedAt }: Ancestor): boolean => engines.every((engine) => startedAt < engine.startedAt);
  for (let at = 0; ;) {
    const [inside] = line.slice(at);
    if (inside === undefined || inside.terminal === "") return "its parents cannot be seen";
    const { terminal } = inside;
    for (; line[at]?.terminal === terminal; at++) if (isOlder(line[at]!)) return null;
    const maker = line[at];
    const last = line[at - 1]!;
    // Started from outside of the container: a program inside could not have done that.
    if (maker === undefined) return last.parent === 0 ? null : "its parents cannot be seen";
    const isPrivileged = (each: Ancestor | undefined): boolean =>
      each !== undefined && each.user === 0 && inside.user !== 0 && LOGIN_PROGRAMS.has(each.name);
    if (isPrivileged(last) || isPrivileged(maker) || isPrivileged(line[at + 1])) return null;
    if (isAdopter(maker)) return `process ${last.pid} in its terminal lost its parent after ${nameOf(engines)} started`;
    if (isOlder(maker)) return untrustedMakerReason(maker, inside.user, holdsTerminal(maker.pid, terminal), terminal);
    if (maker.terminal !== "") continue;
    const groups = groupsOf(maker.pid);
    const isElsewhere = engines.every((engine) => !engine.isRunning && engine.controlGroups !== groups);
    if (isElsewhere && groups !== null) return null;
    return `process ${maker.pid} (${maker.name}) made its terminal after ${nameOf(engines)} started`;
  }
}

/**
 * Returns why the maker of a terminal is not trusted. Services that run jobs on request (`cron`, `at`) may make a
 * terminal for a job.
 */
function untrustedMakerReason(
  maker: Ancestor,
  user: number | null,
  holds: boolean | null,
  terminal: string,
): string | null {
  // Without /proc no system tells who made a terminal, and its name is not a number.
  if (holds === true || (holds === null && (maker.user === user || !/^\d+$/.test(terminal)))) return null;
  return `process ${maker.pid} (${maker.name}) above it did not make its terminal`;
}

/**
 * Run by root, these authenticate a user before they start a shell. No process of another user can take their names.
 */
const LOGIN_PROGRAMS: ReadonlySet<string> = new Set(["sshd", "sshd-session", "login"]);

/**
 * Whether this is the first process or a user's systemd: both adopt processes that lost their parents, and start
 * programs on request.
 */
const isAdopter = ({ pid, name }: Ancestor): boolean => pid === 1 || name === "systemd";

function nameOf(engines: readonly EngineLife[]): string {
  const [first] = [...engines].sort((a, b) => a.startedAt - b.startedAt);
  return `the engine (${first?.pid})`;
}
