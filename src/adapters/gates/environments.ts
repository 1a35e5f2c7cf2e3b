import type { CheckRun } from "../../domain/gate.ts";

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
  if (/^(?:\S*\/)?(?:ssh|autossh)\s/.test(wrapper)) return `${wrapper} ${quoted(command)}`;
  return /^[\w@%+=:,./ -]*$/.test(command) && !/^\w+=/.test(command)
    ? `${wrapper} ${command}`
    : `${wrapper} sh -c ${quoted(command)}`;
}

const plainOrQuoted = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : quoted(text));

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
