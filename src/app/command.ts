import type { Command } from "commander";
import type { Files } from "../ports/files.ts";
import type { Escalation } from "../core/stories/escalation.ts";
import type { RunOutline, StoryOutline } from "../core/stories/run-state.ts";
import type { StoryId } from "../core/events/ids.ts";
import { byText, lookup } from "../stdx/sorted-map.ts";
import { storiesOf } from "../views/run/run-summary.ts";
import type { Host } from "./host.ts";

/**
 * What a command may use from outside. `main` passes the real implementation, tests their own. `cwd` and `color` depend
 * on options, so a command reads them inside its action, never while it registers.
 */
export interface World {
  /** The program's version. */
  readonly version: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly files: Files;
  readonly color: boolean;
  /** Whether the output is a terminal. Elsewhere nothing is ever redrawn. */
  readonly terminal: boolean;
  columns(): number;
  /** The time zone in which times are shown: `Europe/Berlin`. */
  readonly zone: string;
  /** Access to the engine and its journal. */
  readonly host: Host;
  now(): number;
  /**
   * The first Ctrl-C (or SIGTERM, or SIGHUP) calls `handler`. The second kills the processes that are still ending, and
   * calls `atOnce` for those that were not asked to end yet. Returns a function that removes the handlers.
   */
  onInterrupt(handler: (signal: Interrupt) => void, atOnce?: () => void): () => void;
  stdin(): Promise<string>;
  /** Asks the person at the terminal for one line; `null` where there is no terminal, or questions are switched off. */
  readonly ask: ((question: string) => Promise<string>) | null;
  /** The keys of the person at the terminal; `null` where there is none, or questions are switched off. */
  readonly keyboard: Keyboard | null;
  /** Prints results. The text is written as it is: the caller ends the line. */
  out(text: string): void;
  /** Prints messages. */
  err(text: string): void;
}

export interface Keyboard {
  /** How high the terminal is. */
  rows(): number;
  /**
   * Calls back with the name of each pressed key (`up`, `enter`, `a`), and when the terminal was resized. Returns a
   * function that stops it.
   */
  listen(onKey: (key: string) => void, onResize: () => void): () => void;
}

/** What a command needs to read or write the files of a project. */
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
  /** The command describes the other commands, so their options must be registered when it runs. */
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

/**
 * Returns the exit code for the stories that were asked for (`null`: all of them). When several codes apply, the first
 * of this order wins: Remand failed, a budget stopped it, a person must act, work was rejected, still running.
 */
export function exitCodeOf(run: RunOutline, asked: readonly StoryId[] | null): ExitCode {
  const codes = new Set(storiesOf(run, asked).map((state) => codeOf(run, state, null)));
  if (asked === null && (run.unlisted?.failed ?? 0) > 0) codes.add(EXIT.rejected);
  return strongest(codes);
}

const PRECEDENCE: readonly ExitCode[] = [EXIT.failed, EXIT.budget, EXIT.person, EXIT.rejected, EXIT.running];

export function strongest(codes: ReadonlySet<ExitCode>): ExitCode {
  return PRECEDENCE.find((code) => codes.has(code)) ?? EXIT.ok;
}

function codeOf(run: RunOutline, state: StoryOutline, before: Set<StoryId> | null): ExitCode {
  const { ending, escalation, story } = state;
  if (ending !== null) return ending.how === "accepted" ? EXIT.ok : EXIT.rejected;
  if (escalation !== null) return askedBy(escalation);
  if (state.held || (state.policy === null && story.shelf === "backlog")) return EXIT.person;
  if (state.running !== null) return run.engine === "gone" ? EXIT.person : EXIT.running;
  // A story that waits for another has the code of the other: a person who must act there must act for this one too.
  const wait = state.wait?.type === "story" && state.wait.story !== null ? [state.wait.story] : [];
  const waitsFor = state.policy === null ? [...story.dependsOn, ...wait] : wait;
  if (waitsFor.length > 0) {
    const seen = (before ?? new Set()).add(story.id);
    const others = new Set(waitsFor.filter((id) => !seen.has(id)).map((id) => otherCode(run, id, seen)));
    if (strongest(others) !== EXIT.ok) return strongest(others);
  }
  if (run.escalation !== null) return askedBy(run.escalation);
  return run.halted === null ? EXIT.running : EXIT.person;
}

function otherCode(run: RunOutline, id: StoryId, seen: Set<StoryId>): ExitCode {
  const other = lookup(run.stories, id, byText);
  // A dependency that does not exist can never end: a person must say which story is meant.
  return other === undefined ? EXIT.person : codeOf(run, other, seen);
}

/**
 * Budgets of money, tokens, time and actions have an exit code of their own: a script may raise them, but cannot answer
 * questions.
 */
function askedBy({ reason }: Escalation): ExitCode {
  if (reason.type !== "budget") return EXIT.person;
  return SPENDING.has(reason.budget.replace(/^run-/, "")) ? EXIT.budget : EXIT.person;
}

const SPENDING: ReadonlySet<string> = new Set(["cost", "tokens", "time", "actions"]);
