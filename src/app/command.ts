import type { Command } from "commander";
import type { Files } from "../ports/files.ts";
import type { Escalation } from "../core/stories/escalation.ts";
import type { RunOutline, StoryOutline } from "../core/stories/run-state.ts";
import type { StoryId } from "../core/events/ids.ts";
import { byText, lookup } from "../stdx/sorted-map.ts";
import { storiesOf } from "../views/run/run-summary.ts";
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
  /** The keys of the person at the terminal; `null` where there is none, or questions are switched off. */
  readonly keyboard: Keyboard | null;
  /** For results. Text is written as it is: the caller ends the line. */
  out(text: string): void;
  /** For messages about it. */
  err(text: string): void;
}

export interface Keyboard {
  /** How high the terminal is. */
  rows(): number;
  /** Calls back with each key by its name (`up`, `enter`, `a`), and when the terminal was resized. Returns how to stop. */
  listen(onKey: (key: string) => void, onResize: () => void): () => void;
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

/**
 * What the exit code says of the stories that were asked for (`null`: all of them). When several codes apply, the
 * first of this order wins: Remand failed, a budget stopped it, a person must act, work was rejected, still running.
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
  // A story that waits for another one is as that one is: a person who must act there must act for this one too.
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

/** Money, tokens, time and actions have a code of their own: a script may raise them, where it cannot answer a question. */
function askedBy({ reason }: Escalation): ExitCode {
  if (reason.type !== "budget") return EXIT.person;
  return SPENDING.has(reason.budget.replace(/^run-/, "")) ? EXIT.budget : EXIT.person;
}

const SPENDING: ReadonlySet<string> = new Set(["cost", "tokens", "time", "actions"]);
