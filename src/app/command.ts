import type { Command } from "commander";
import type { Files } from "../ports/files.ts";
import type { Host } from "./host.ts";

/**
 * What a command may touch of the world. `main` makes the real one, tests make their own. `cwd` and `color` depend on
 * options, so a command reads them inside its action, never while it registers.
 */
export interface World {
  /** Of the program. */
  readonly version: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly files: Files;
  readonly color: boolean;
  /** Is the output a terminal? Off one nothing is ever redrawn. */
  readonly terminal: boolean;
  columns(): number;
  /** In which times are shown: `Europe/Berlin`. */
  readonly zone: string;
  /** The engine, and what it left behind. */
  readonly host: Host;
  now(): number;
  /**
   * The first Ctrl-C (or SIGTERM, or SIGHUP) goes to the handler. The second kills what is still being ended, and goes to
   * `atOnce` for what was not told to end yet. Returns how to take the handlers away.
   */
  onInterrupt(handler: (signal: Interrupt) => void, atOnce?: () => void): () => void;
  stdin(): Promise<string>;
  /** Asks the person at the terminal for one line; `null` where there is no terminal, or questions are switched off. */
  readonly ask: ((question: string) => Promise<string>) | null;
  /** For results. Text is written as it is: the caller ends the line. */
  out(text: string): void;
  /** For messages about it. */
  err(text: string): void;
}

/** What is needed to read what people wrote, or to write what they keep. */
export type Checkout = Pick<World, "cwd" | "env" | "files">;

export type Interrupt = "SIGINT" | "SIGTERM" | "SIGHUP";

/**
 * One command of the program. `register` gets the commander command, adds arguments, options and help
 * examples, and sets an action, which calls `done` with the exit code. The options every command has (`-C`,
 * `--config`, `--json`, `--quiet`, `--verbose`, `--color`) are added by the program unless the command declares them
 * itself; either way the action finds them among its options (`json`, `config`, …).
 */
export interface CliCommand {
  readonly name: string;
  readonly summary: string;
  /** It speaks of the other commands, so their options must be known when it runs. */
  readonly isAboutAll?: true;
  register(command: Command, world: World, done: (exit: ExitCode) => void): void;
}

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  rejected: 3,
  person: 4,
  budget: 5,
  running: 8,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const INTERRUPTED: { readonly [I in Interrupt]: ExitCode } = {
  SIGINT: EXIT.interrupted,
  SIGTERM: EXIT.terminated,
  SIGHUP: EXIT.hungUp,
};
