import type { BriefSpec } from "../app/brief-document.ts";
import type { ExitCode } from "../app/command.ts";
import type { ConfigPart } from "../config/config.ts";
import type { ResolvedConfig } from "../config/resolve.ts";
import type { Escalation } from "../core/stories/escalation.ts";
import type { GateName } from "../core/gates/gate.ts";
import type { GateReport } from "../core/gates/gate-report.ts";
import type { Reading, SignalRole } from "../core/stories/reading.ts";
import type { RunState } from "../core/stories/run-state.ts";
import type { Agent } from "../ports/agent.ts";
import type { Watcher } from "../ports/journal.ts";
import type { StoriesReading } from "../parse/stories/story-files.ts";
import type { BriefInput } from "../core/schemas/brief.ts";
import type { BoardRow } from "../views/board/board.ts";
import type { WrittenBrief } from "../write/briefs/brief.ts";

/*
 * What other programs may ask of Remand: what its own commands ask. Whatever a function needs is loaded when it is
 * called, so that importing the package costs little and does nothing.
 */

/** Options of all functions that run the engine. The callbacks are a `Watcher`'s; they change nothing. */
interface WatchedOptions extends Partial<Watcher> {
  /** The checkout's folder. */
  readonly root: string;
  /** Ends the run cleanly. The next call continues it. */
  readonly signal?: AbortSignal;
  /** In whose name paused stories resume. */
  readonly by?: string;
  /** Where the journal is missing or was changed: keep the old file, and start a new one that records the loss. */
  readonly newJournal?: boolean;
  /** Something about the checkout that a person should know, and that stops nothing. */
  onNotice?(text: string): void;
  /** Where agents and checks get their variables from; without it, the process's own environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface LoopOptions extends WatchedOptions {
  /** What the agent is to do; without it, to make the check pass. */
  readonly goal?: string;
  /** The command, of the shell, that says whether it is done. */
  readonly check: string;
  /** A program and its arguments, which gets its prompt on its standard input; or an agent of the caller's own. */
  readonly agent: readonly string[] | Agent;
  readonly limits?: {
    /** Attempts at most. */
    readonly iterations?: number;
    readonly costUsd?: number;
    /** Such as `30m`. */
    readonly time?: string;
  };
  /** Existing tests that the agent may change: names, files or patterns. Read when the loop begins. */
  readonly testsMayChange?: readonly string[];
  /** A folder with files that the agent never sees, by their paths in the project: with them the check must pass too. */
  readonly hidden?: string;
  /** Any other value of the config, as `path=value`. */
  readonly set?: readonly string[];
  /** Start over, even if this loop has been run before. */
  readonly fresh?: boolean;
  /** Work in a worktree of its own instead of in `root` itself. */
  readonly worktree?: boolean;
}

export interface RunOptions extends WatchedOptions {
  /** Ids of the stories to work on, with those they depend on; without it, all that are ready. */
  readonly stories?: readonly string[];
  /** The project's config: a file instead of `remand.yaml`, or a value. */
  readonly config?: string | ConfigPart;
  readonly set?: readonly string[];
  /** Agents of the caller's own, by the role they play: they go before those of the config. */
  readonly agents?: Readonly<Record<string, Agent>>;
}

export interface RunResult {
  /** As the command would end: 0 accepted, 3 rejected, 4 a person must act, 5 a budget, 130 the signal said stop. */
  readonly exitCode: ExitCode;
  readonly stories: readonly StoryResult[];
  /** Everything that is known, as the journal's events give it. */
  readonly state: RunState;
}

export interface StoryResult extends BoardRow {
  /** What only a person can answer, where it waits for that. */
  readonly question: Escalation | null;
}

/** Runs an agent on a goal, checks the work, and sends it back until the check passes or a person must decide. */
export async function loop(options: LoopOptions): Promise<RunResult> {
  return (await import("./library-runs.ts")).runLoop(options);
}

/** Works on a checkout's stories until each is settled or waits for a person. */
export async function run(options: RunOptions): Promise<RunResult> {
  return (await import("./library-runs.ts")).runStories(options);
}

export interface GateOptions extends Pick<
  RunOptions,
  "root" | "config" | "set" | "env" | "agents" | "signal" | "onNotice"
> {
  /** Names of gates (without them: those of the config), and of one story at most. */
  readonly names?: readonly string[];
  /** The commit to judge, in a worktree that is taken away afterwards; without it, the files as they are. */
  readonly at?: string;
  /** What to compare with; without it, the default branch. */
  readonly base?: string;
  /** Ask reviewers even where a gate before them did not pass. */
  readonly all?: boolean;
  /** Existing tests that the change may change: names, files or patterns. */
  readonly testsMayChange?: readonly string[];
  /** Do not pass while there are contested tests: the gate that reports them is `inconclusive`. */
  readonly strict?: boolean;
  /** A line that a gate printed. */
  onOutput?(gate: GateName, line: string): void;
}

export interface GateResult extends GateReport {
  /** Did everything that judged pass, and did anything judge? */
  readonly passed: boolean;
}

/** Has gates judge a checkout, or one of its commits, by themselves: no agent works, and nothing is journalled. */
export async function gate(options: GateOptions): Promise<GateResult> {
  return (await import("./library-runs.ts")).judgeAlone(options);
}

/** What an agent's text says: its signal or its verdict. Anything in doubt is `unknown`. Never rejects. */
export async function parse(
  text: string,
  options: { readonly id?: string; readonly role?: SignalRole } = {},
): Promise<Reading> {
  return (await import("../parse/agent/agent-text.ts")).readAgentText(text, options);
}

/** The text that goes back to an agent, from a document `remand.brief/1`. */
export async function brief(document: BriefInput, options: BriefSpec = {}): Promise<WrittenBrief> {
  // As the document would be sent: a field that is `undefined` is left out.
  const sent: unknown = JSON.parse(JSON.stringify(document ?? null));
  return (await import("../app/brief-document.ts")).writtenFrom(sent, "the document", options);
}

/** The effective config of a checkout, where each value came from, and every problem with its place. */
export async function config(options: Pick<RunOptions, "root" | "config" | "set" | "env">): Promise<ResolvedConfig> {
  return (await import("./library-runs.ts")).effectiveConfig(options);
}

/** The stories of a checkout, and every problem with its place. */
export async function stories(options: Pick<RunOptions, "root" | "config" | "set" | "env">): Promise<StoriesReading> {
  return (await import("./library-runs.ts")).readStories(options);
}
