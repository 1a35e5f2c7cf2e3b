import { randomBytes } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Environment } from "../process/environment.ts";
import type { ProcessResult } from "../process/run-process.ts";
import type { CheckRun } from "../../domain/gate.ts";
import { brokenBy, exitWords } from "./check-ending.ts";

/** The name of the environment where none is configured. */
export const LOCAL = "local";

/** How one check in one environment is called. */
export const cellName = ({ check, environment }: Pick<CheckRun, "check" | "environment">): string =>
  environment === LOCAL ? check : `${check} in ${environment}`;

export interface CheckEnvironment {
  /** Put in front of a check's command; `{checkout}` in it is the folder that the check is to run in. */
  readonly run?: string;
  /** Run in it once for each tree, before its first check. */
  readonly setup?: string;
  /** Shows, inside the environment, that it is there. */
  readonly probe?: string;
}

/** Why no check can run in an environment, and what was printed on the way to that. */
export interface Trouble {
  readonly why: string;
  readonly output: string;
}

/**
 * Makes sure that an environment is there and set up. The probe goes first: to set up what is not
 * there would only say so in more words.
 */
export async function troubleIn(
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
export async function seesCheckout(
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

/** What a pass in such an environment is said with. */
export const notVerified = (environment: string): string =>
  `checkout not verified: the environment ${environment} does not see the files of the clean checkout`;

const isWell = (ended: ProcessResult): boolean => ended.status === "exited" && ended.exitCode === 0;

function trouble(what: string, command: string, ended: ProcessResult): Trouble {
  const said = ended.status === "exited" ? exitWords(ended) : (brokenBy(ended) ?? ended.status);
  return { why: `${what}: \`${command}\` says ${said}`, output: ended.output };
}

/**
 * A command of more than plain words is handed over whole: in front of `a && b` the prefix would reach only `a`. What
 * is handed to ssh is read by a shell on the other side, so there the command is that shell's line.
 */
export function lineIn({ run }: CheckEnvironment, command: string, checkout?: string): string {
  const named = run?.trim() ?? "";
  const wrapper = checkout === undefined ? named : named.replaceAll("{checkout}", () => plainOrQuoted(checkout));
  if (wrapper === "") return command;
  if (/^(?:\S*\/)?(?:ssh|autossh)\s/.test(wrapper)) return `${wrapper} ${quoted(command)}`;
  return /^[\w@%+=:,./ -]*$/.test(command) && !/^\w+=/.test(command)
    ? `${wrapper} ${command}`
    : `${wrapper} sh -c ${quoted(command)}`;
}

const plainOrQuoted = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : quoted(text));

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * Nobody watches, and no colours; what our own test runner, if we run inside one, left for its children is taken out.
 * Python leaves no compiled code beside the sources: where git does not ignore it, the next attempt would seem to have
 * made it, and Python itself takes it for fresh if a source of the same size changed within a second.
 */
export function sameEveryTime(env: Environment): Environment {
  const { FORCE_COLOR: _1, CLICOLOR_FORCE: _2, NODE_TEST_CONTEXT: _3, VITEST: _4, JEST_WORKER_ID: _5, ...rest } = env;
  return { ...rest, NO_COLOR: "1", CI: "1", PYTHONDONTWRITEBYTECODE: "1" };
}
