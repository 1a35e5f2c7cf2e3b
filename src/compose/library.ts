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
 * The API for other programs, which offers what Remand's own commands use. Each function loads what it needs when it is
 * called, so that importing the package is cheap and has no side effects.
 */

/** Options of all functions that run the engine. The callbacks are a `Watcher`'s; they change nothing. */
interface WatchedOptions extends Partial<Watcher> {
  /** The checkout's folder. */
  readonly root: string;
  /** Stops the run cleanly. The next call continues it. */
  readonly signal?: AbortSignal;
  /** The person in whose name paused stories resume. */
  readonly by?: string;
  /** If the journal is missing or was changed: keep the old file, and start a new one that records the loss. */
  readonly newJournal?: boolean;
  /** Reports something about the checkout that a person should know and that stops nothing. */
  onNotice?(text: string): void;
  /** The variables for agents and checks; absent: the process's own environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface LoopOptions extends WatchedOptions {
  /** The task for the agent; absent: to make the check pass. */
  readonly goal?: string;
  /** The shell command that decides whether the task is done. */
  readonly check: string;
  /** A program and its arguments, which reads its prompt from its standard input; or an agent of the caller's own. */
  readonly agent: readonly string[] | Agent;
  readonly limits?: {
    /** The maximum number of attempts. */
    readonly iterations?: number;
    readonly costUsd?: number;
    /** For example `30m`. */
    readonly time?: string;
  };
  /** Existing tests that the agent may change: names, files or patterns. Read when the loop starts. */
  readonly testsMayChange?: readonly string[];
  /**
   * A folder with files that the agent never sees, by their paths in the project: the check must also pass with them.
   */
  readonly hidden?: string;
  /** Other values of the config, as `path=value`. */
  readonly set?: readonly string[];
  /** Start over, even if this loop ran before. */
  readonly fresh?: boolean;
  /** Work in a worktree instead of in `root` itself. */
  readonly worktree?: boolean;
}

export interface RunOptions extends WatchedOptions {
  /** Ids of the stories to work on, with those they depend on; absent: all that are ready. */
  readonly stories?: readonly string[];
  /** The project's config: a file instead of `remand.yaml`, or a value. */
  readonly config?: string | ConfigPart;
  readonly set?: readonly string[];
  /** Agents of the caller's own, by role; they take precedence over those of the config. */
  readonly agents?: Readonly<Record<string, Agent>>;
}

export interface RunResult {
  /**
   * The exit code of the command: 0 accepted, 3 rejected, 4 a person must act, 5 a budget is used up, 130 aborted by
   * the signal.
   */
  readonly exitCode: ExitCode;
  readonly stories: readonly StoryResult[];
  /** The full state, folded from the journal. */
  readonly state: RunState;
}

export interface StoryResult extends BoardRow {
  /** The open question that only a person can answer. */
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
  /** Names of gates (absent: those of the config), and of at most one story. */
  readonly names?: readonly string[];
  /** The commit to judge, in a worktree that is removed afterwards; absent: the files as they are. */
  readonly at?: string;
  /** What to compare with; absent: the default branch. */
  readonly base?: string;
  /** Ask reviewers even if a gate before them did not pass. */
  readonly all?: boolean;
  /** Existing tests that the change may change: names, files or patterns. */
  readonly testsMayChange?: readonly string[];
  /** Do not pass while tests are contested: the gate that reports them is `inconclusive`. */
  readonly strict?: boolean;
  /** A line that a gate printed. */
  onOutput?(gate: GateName, line: string): void;
}

export interface GateResult extends GateReport {
  /** Whether at least one gate ran and all that ran passed. */
  readonly passed: boolean;
}

/** Runs gates on a checkout, or on one of its commits: no agent works, and nothing is appended to the journal. */
export async function gate(options: GateOptions): Promise<GateResult> {
  return (await import("./library-runs.ts")).judgeAlone(options);
}

/** Reads the signal or verdict in an agent's text. Anything in doubt is `unknown`. Never rejects. */
export async function parse(
  text: string,
  options: { readonly id?: string; readonly role?: SignalRole } = {},
): Promise<Reading> {
  return (await import("../parse/agent/agent-text.ts")).readAgentText(text, options);
}

/** Writes the text that goes back to an agent, from a document `remand.brief/1`. */
export async function brief(document: BriefInput, options: BriefSpec = {}): Promise<WrittenBrief> {
  // The document as it would be sent: `undefined` fields are left out.
  const sent: unknown = JSON.parse(JSON.stringify(document ?? null));
  return (await import("../app/brief-document.ts")).writeBriefFromDocument(sent, "the document", options);
}

/** Resolves the effective config of a checkout, with the origin of each value, and every problem with its location. */
export async function config(options: Pick<RunOptions, "root" | "config" | "set" | "env">): Promise<ResolvedConfig> {
  return (await import("./library-runs.ts")).effectiveConfig(options);
}

/** Reads the stories of a checkout, and every problem with its location. */
export async function stories(options: Pick<RunOptions, "root" | "config" | "set" | "env">): Promise<StoriesReading> {
  return (await import("./library-runs.ts")).readStories(options);
}
