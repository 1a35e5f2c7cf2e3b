import type { Ancestor } from "./ancestry.ts";

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
