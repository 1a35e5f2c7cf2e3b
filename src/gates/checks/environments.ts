import { randomBytes } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CheckRun } from "../../core/gates/gate.ts";
import type { TreeId } from "../../core/events/ids.ts";
import type { VerificationCommand } from "../../core/stories/prompt.ts";
import type { GateRequest } from "../../ports/gate.ts";
import type { ProcessResult } from "../../adapters/process/run-process.ts";
import { brokenBy, exitWords } from "./check-ending.ts";
import type { Environment } from "../../adapters/process/environment.ts";

/** The name of the environment where none is configured. */
export const LOCAL = "local";

/** How one check in one environment is called. */
export const cellName = ({ check, environment }: Pick<CheckRun, "check" | "environment">): string =>
  environment === LOCAL ? check : `${check} in ${environment}`;

/** Each command in each environment that it is for, as agents are told to run it. */
export function commandsIn(
  commands: readonly { readonly run: string; readonly environments?: readonly string[] }[],
  environments: Readonly<Record<string, unknown>>,
): readonly VerificationCommand[] {
  const named = Object.keys(environments);
  const everywhere = named.length === 0 ? [LOCAL] : named;
  return commands.flatMap(({ run, environments: own = [] }) =>
    (own.length === 0 ? everywhere : own).map((environment) => ({ command: run, environment })),
  );
}

export interface CheckEnvironment {
  /** Put in front of a check's command; `{checkout}` in it is the folder that the check is to run in. */
  readonly run?: string;
  /** Run in it once for each tree, before its first check. */
  readonly setup?: string;
  /** Shows, inside the environment, that it is there. */
  readonly probe?: string;
}

/** What a pass in an environment that does not see the checkout is said with. */
export const notVerified = (environment: string): string =>
  `checkout not verified: the environment ${environment} does not see the files of the clean checkout`;

/**
 * A command of more than plain words is handed over whole: in front of `a && b` the prefix would reach only `a`. What
 * is handed to ssh is read by a shell on the other side, so there the command is that shell's line.
 */
export function lineIn({ run }: CheckEnvironment, command: string, checkout?: string): string {
  const named = run?.trim() ?? "";
  const wrapper = checkout === undefined ? named : named.replaceAll("{checkout}", () => plainOrQuoted(checkout));
  if (wrapper === "") return command;
  if (/^(?:\S*\/)?(?:ssh|autossh)\s/.test(wrapper)) return `${wrapper} ${shellQuote(command)}`;
  return /^[\w@%+=:,./ -]*$/.test(command) && !/^\w+=/.test(command)
    ? `${wrapper} ${command}`
    : `${wrapper} sh -c ${shellQuote(command)}`;
}

const plainOrQuoted = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : shellQuote(text));

const shellQuote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

interface ReadyOptions {
  /** Run before each run of a check. */
  readonly reset?: string;
  /** The tree that each place is set up for, by its folder and its environment. Kept from one judgement to the next. */
  readonly setUp: Map<string, TreeId>;
}

export interface StartOptions {
  readonly env?: Environment;
  /** Folders, besides the checkout, that the command may write to. */
  readonly writes?: readonly string[];
  /** The line only leads to another machine or a container, where the command runs. */
  readonly isElsewhere?: boolean;
}

export interface ReadyEnvironments {
  /** Makes an environment ready for one run of a check; says why that cannot be done. */
  troubleWith(name: string, environment: CheckEnvironment, onOutput: LineListener): Promise<Trouble | null>;
  /** Does it see other files than those of the checkout? */
  isUnverified(name: string): boolean;
}

type LineListener = (line: string) => void;

/** Each environment is looked at once in a judgement, when the first check needs it; what checks share is reset each time. */
export function readyEnvironments(
  { reset, setUp }: ReadyOptions,
  request: GateRequest,
  start: (line: string, timeoutMs: number, onLine: LineListener, how: StartOptions) => Promise<ProcessResult>,
): ReadyEnvironments {
  const troubles = new Map<string, Promise<Trouble | null>>();
  const unverified = new Set<string>();
  const starterIn = (environment: CheckEnvironment, onLine: LineListener) => (command: string, timeoutMs: number) =>
    start(lineIn(environment, command, request.path), timeoutMs, onLine, {
      isElsewhere: environment.run !== undefined,
    });

  async function look(name: string, environment: CheckEnvironment, onOutput: LineListener): Promise<Trouble | null> {
    const place = `${request.path}\n${name}`;
    const isSetUp = setUp.get(place) === request.tree;
    const trouble = await troubleIn(environment, request.timeoutMs, starterIn(environment, onOutput), isSetUp);
    if (trouble !== null) setUp.delete(place);
    else if (request.tree !== "") setUp.set(place, request.tree);
    // Files as they are belong to a person: nothing is written among them.
    if (trouble === null && environment.run !== undefined && request.workedIn !== undefined) {
      const quietly = starterIn(environment, () => undefined);
      if (!(await seesCheckout(request.path, quietly))) unverified.add(name);
    }
    return trouble;
  }

  return {
    async troubleWith(name, environment, onOutput) {
      if (!troubles.has(name)) troubles.set(name, look(name, environment, onOutput));
      const known = await troubles.get(name)!;
      if (known !== null || reset === undefined) return known;
      const ended = await starterIn(environment, onOutput)(reset, request.timeoutMs);
      return isWell(ended) ? null : trouble("what checks share could not be reset", reset, ended);
    },
    isUnverified: (name) => unverified.has(name),
  };
}

/** Why no check can run in an environment, and what was printed on the way to that. */
interface Trouble {
  readonly why: string;
  readonly output: string;
}

/**
 * Makes sure that an environment is there and set up. The probe goes first: to set up what is not
 * there would only say so in more words.
 */
async function troubleIn(
  environment: CheckEnvironment,
  timeoutMs: number,
  start: (command: string, timeoutMs: number) => Promise<ProcessResult>,
  isSetUp: boolean,
): Promise<Trouble | null> {
  const { probe, setup } = environment;
  if (probe !== undefined) {
    const ended = await start(probe, Math.min(PROBE_MS, timeoutMs));
    if (!isWell(ended)) return trouble("the environment is not there", probe, ended);
  }
  if (setup !== undefined && !isSetUp) {
    const ended = await start(setup, timeoutMs);
    if (!isWell(ended)) return trouble("the environment could not be set up", setup, ended);
  }
  return null;
}

const PROBE_MS = 60_000;

/**
 * Does a wrapped environment see the files of the checkout? A container or another machine may have files of its own.
 * It is asked for a file that was made this moment.
 */
async function seesCheckout(
  path: string,
  start: (command: string, timeoutMs: number) => Promise<ProcessResult>,
): Promise<boolean> {
  const token = randomBytes(16).toString("hex");
  const name = `.remand-${token.slice(0, 8)}`;
  await writeFile(join(path, name), `${token}\n`);
  try {
    const ended = await start(`cat ${name}`, PROBE_MS);
    return isWell(ended) && ended.stdout.includes(token);
  } finally {
    await rm(join(path, name), { force: true });
  }
}

const isWell = (ended: ProcessResult): boolean => ended.status === "exited" && ended.exitCode === 0;

function trouble(what: string, command: string, ended: ProcessResult): Trouble {
  const said = ended.status === "exited" ? exitWords(ended) : (brokenBy(ended) ?? ended.status);
  return { why: `${what}: \`${command}\` says ${said}`, output: ended.output };
}
