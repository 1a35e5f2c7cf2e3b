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
  /** The name of its controlling terminal; empty without one. */
  readonly terminal: string;
  /** The number of its user; `null` where that is not known. */
  readonly user: number | null;
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

/** Of a process that hides its memory, the owner of its folder in /proc is not its user; the status says it. */
function userOf(pid: number): number | null {
  const status = readOr(() => readFileSync(`/proc/${pid}/status`, "utf8"), "");
  const user = /^Uid:\s+(\d+)/m.exec(status)?.[1];
  return user === undefined ? null : Number(user);
}

/** Where there is no /proc (macOS): what `ps` says. It does not know sessions there; the group stands for them. */
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

/** The lines of `ps -A -o pid=,ppid=,pgid=,uid=,tty=,lstart=,comm=`. */
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

/** The control groups of a process, which hands them on to what it starts. `null` where there are none. */
export const controlGroups = (pid: number | "self" = "self"): string | null =>
  readOr(() => readFileSync(`/proc/${pid}/cgroup`, "utf8"), null);

/** Numbers of processes mean something only within one namespace. Empty where the system has none. */
export const processNamespace = (): string => readOr(() => readlinkSync("/proc/self/ns/pid"), "");

/** In a user namespace of its own a process can hide files and processes from itself. */
export const isInUserNamespace = (): boolean =>
  process.platform === "linux" &&
  !/^\s*0\s+0\s+4294967295\s*$/.test(readOr(() => readFileSync("/proc/self/uid_map", "utf8"), ""));

/**
 * Does the process hold the other end of a terminal, which is what makes one? `null` where that cannot be seen: the
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

/** The `N` of `/dev/pts/N`, from the number that the kernel gives a terminal; `null` for terminals of other kinds. */
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
  /** The process that speaks, then its parent, and so on. The first one has a terminal. */
  readonly line: readonly Ancestor[];
  /** Of this boot. */
  readonly engines: readonly EngineLife[];
  holdsTerminal(pid: number, terminal: string): boolean | null;
  groupsOf(pid: number): string | null;
}

/**
 * Why a terminal may have been made by something that an engine started; `null` when it was not. A terminal is made by
 * the process that holds its other end: the nearest one above that is not in it. A process that is older than every
 * engine was started by none.
 */
export function terminalDoubt({ line, engines, holdsTerminal, groupsOf }: TerminalFacts): string | null {
  if (engines.length === 0) return null;
  const isOlder = ({ startedAt }: Ancestor): boolean => engines.every((engine) => startedAt < engine.startedAt);
  for (let at = 0; ;) {
    const [inside] = line.slice(at);
    if (inside === undefined || inside.terminal === "") return "its parents cannot be seen";
    const { terminal } = inside;
    for (; line[at]?.terminal === terminal; at++) if (isOlder(line[at]!)) return null;
    const maker = line[at];
    const last = line[at - 1]!;
    // From outside of the container: what runs inside of it starts nothing there.
    if (maker === undefined) return last.parent === 0 ? null : "its parents cannot be seen";
    const isPrivileged = (each: Ancestor | undefined): boolean =>
      each !== undefined && each.user === 0 && inside.user !== 0 && LOGIN_PROGRAMS.has(each.name);
    if (isPrivileged(last) || isPrivileged(maker) || isPrivileged(line[at + 1])) return null;
    if (isAdopter(maker)) return `process ${last.pid} in its terminal lost its parent after ${nameOf(engines)} started`;
    if (isOlder(maker)) return makerDoubt(maker, inside.user, holdsTerminal(maker.pid, terminal), terminal);
    if (maker.terminal !== "") continue;
    const groups = groupsOf(maker.pid);
    const isElsewhere = engines.every((engine) => !engine.isRunning && engine.controlGroups !== groups);
    if (isElsewhere && groups !== null) return null;
    return `process ${maker.pid} (${maker.name}) made its terminal after ${nameOf(engines)} started`;
  }
}

/** What services start on request (`cron`, `at`) may make a terminal for itself. */
function makerDoubt(maker: Ancestor, user: number | null, holds: boolean | null, terminal: string): string | null {
  // Without /proc no system tells who made a terminal, and its name is not a number.
  if (holds === true || (holds === null && (maker.user === user || !/^\d+$/.test(terminal)))) return null;
  return `process ${maker.pid} (${maker.name}) above it did not make its terminal`;
}

/** Run by root, they ask who you are before they start a shell. No process of another user can take their names. */
const LOGIN_PROGRAMS: ReadonlySet<string> = new Set(["sshd", "sshd-session", "login"]);

/** The first process, or a user's systemd: they adopt what has lost its parent, and start what they are asked to. */
const isAdopter = ({ pid, name }: Ancestor): boolean => pid === 1 || name === "systemd";

function nameOf(engines: readonly EngineLife[]): string {
  const [first] = [...engines].sort((a, b) => a.startedAt - b.startedAt);
  return `the engine (${first?.pid})`;
}
