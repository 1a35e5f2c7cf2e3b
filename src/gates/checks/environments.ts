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

/** The environment's name if none is configured. */
export const LOCAL = "local";

/** Returns the name of one check in one environment. */
export const cellName = ({ check, environment }: Pick<CheckRun, "check" | "environment">): string =>
  environment === LOCAL ? check : `${check} in ${environment}`;

/** Returns each command in each of its environments, as agents are told to run it. */
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
  /** A prefix for check commands; `{checkout}` is replaced by the folder in which the check runs. */
  readonly run?: string;
  /** Runs in the environment once per tree, before its first check. */
  readonly setup?: string;
  /** Tests whether the environment is available. */
  readonly probe?: string;
}

/** Returns the note on a pass in an environment that does not see the checkout. */
export const notVerified = (environment: string): string =>
  `checkout not verified: the environment ${environment} does not see the files of the clean checkout`;

/**
 * Returns a command with the environment's prefix. A command with shell syntax becomes one `sh -c` argument: before `a
 * && b` the prefix would apply only to `a`. Behind ssh a shell reads the line on the other side, so there the command
 * is quoted as that shell's line.
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
  /** Runs before each run of a check. */
  readonly reset?: string;
  /** The tree that each workspace is set up for, by folder and environment. Kept between judgements. */
  readonly setUp: Map<string, TreeId>;
}

export interface StartOptions {
  readonly env?: Environment;
  /** Folders, besides the checkout, that the command may write to. */
  readonly writes?: readonly string[];
  /** Whether the line only leads to another machine or a container, where the command runs. */
  readonly isElsewhere?: boolean;
}

export interface ReadyEnvironments {
  /** Prepares an environment for one run of a check; returns why that failed, or `null`. */
  troubleWith(name: string, environment: CheckEnvironment, onOutput: LineListener): Promise<Trouble | null>;
  /** Whether the environment sees other files than those of the checkout. */
  isUnverified(name: string): boolean;
}

type LineListener = (line: string) => void;

/**
 * Prepares environments. Each one is set up once per judgement, when the first check needs it; shared state is reset
 * for each run.
 */
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
    // Only in a clean checkout: the working tree belongs to a person, so no file is written there.
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

/** Why no check can run in an environment, with the output of the attempt. */
interface Trouble {
  readonly why: string;
  readonly output: string;
}

/** Probes an environment and sets it up. The probe comes first, because the setup's error would be less clear. */
async function troubleIn(
  environment: CheckEnvironment,
  timeoutMs: number,
  start: (command: string, timeoutMs: number) => Promise<ProcessResult>,
  isSetUp: boolean,
): Promise<Trouble | null> {
  const { probe, setup } = environment;
  if (probe !== undefined) {
    const ended = await start(probe, Math.min(PROBE_MS, timeoutMs));
    if (!isWell(ended)) return trouble("the environment is not available", probe, ended);
  }
  if (setup !== undefined && !isSetUp) {
    const ended = await start(setup, timeoutMs);
    if (!isWell(ended)) return trouble("the environment could not be set up", setup, ended);
  }
  return null;
}

const PROBE_MS = 60_000;

/**
 * Whether a wrapped environment sees the checkout's files: a container or another machine may have its own. Tested with
 * a file that is created just now.
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
