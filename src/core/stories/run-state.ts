import { entries, type SortedMap } from "../../stdx/sorted-map.ts";
import type { Identity } from "../events/authority.ts";
import type { StoryId } from "../events/ids.ts";
import type { Policy } from "../events/policy.ts";
import type { Event } from "../events/event.ts";
import type { BudgetName, Spent } from "./budget.ts";
import type { Escalation } from "./escalation.ts";
import type { Lane } from "./command.ts";
import type { Counters, StoryState } from "./story-state.ts";
import type { GateName, Judgement } from "../gates/gate.ts";
import type { Story } from "./story.ts";

/** The whole state of a project's run, folded from its journal. */
export interface RunState {
  /** Events folded so far. */
  readonly position: number;
  /** Events of the project's own stream. */
  readonly seq: number;
  /** The policy of stories that start from now on. */
  readonly policy: Policy | null;
  readonly stories: SortedMap<StoryId, StoryState>;
  /** For each story, the stories that depend on it. */
  readonly dependents: SortedMap<StoryId, readonly StoryId[]>;
  /** Stories with a next step, by the lane that does it, most urgent first. */
  readonly lanes: Lanes;
  /** Stories that wait for a time, soonest first. */
  readonly timers: SortedMap<string, StoryId>;
  readonly busy: { readonly [L in Lane]: number };
  /** Stories that have started and are neither settled nor waiting for a person. */
  readonly inFlight: number;
  /** The number of stories that must run alone, because the engine died in them; absent: none. */
  readonly alone?: number;
  readonly remediation: Remediation | null;
  readonly escalation: Escalation | null;
  readonly escalations: number;
  readonly halted: { readonly by: string; readonly reason: string; readonly identity?: Identity } | null;
  readonly spent: Spent;
  /** The number of attempts and gate runs that began, of all stories; absent: none (S4.68). */
  readonly actions?: number;
  readonly raised: { readonly [B in BudgetName]?: number };
  readonly warned: readonly BudgetName[];
  /** How long accepted stories of each kind took. */
  readonly usual: Readonly<Record<string, { readonly count: number; readonly totalMs: number }>>;
  readonly base: string;
}

export type Lanes = { readonly [L in Lane]: SortedMap<string, StoryId> };

/** The repair of infrastructure; no new work is dispatched meanwhile. */
export interface Remediation {
  readonly issue: string;
  readonly since: number;
  readonly tries: number;
  readonly stage: "waiting" | "repairing" | "repaired";
  readonly guidance: readonly string[];
  readonly history: readonly RemediationTry[];
}

export interface RemediationTry {
  readonly attempt: number;
  readonly fixes: readonly string[];
  readonly healthy: boolean;
  readonly remaining: readonly string[];
}

/**
 * The part of a story's state that says how far it is and who must act. Every `StoryState` has these fields; with
 * thousands of stories, only these are read for most of them.
 */
export interface StoryOutline extends Pick<
  StoryState,
  | "policy"
  | "phase"
  | "running"
  | "waivers"
  | "wait"
  | "escalation"
  | "deferred"
  | "held"
  | "ending"
  | "raised"
  | "spent"
> {
  readonly story: Pick<Story, "id" | "title" | "shelf" | "dependsOn">;
  /** All attempts that began: the number of the newest is the length. */
  readonly attempts: { readonly length: number };
  /** The attempts that count against the limit. */
  readonly counters: Pick<Counters, "attempts">;
  readonly gates: { readonly [G in GateName]?: GateOutline };
}

export interface GateOutline {
  readonly fresh: boolean;
  readonly last: (Pick<Judgement, "result" | "notes"> & { readonly blocking: { readonly length: number } }) | null;
}

export interface RunOutline extends Pick<
  RunState,
  "policy" | "remediation" | "escalation" | "halted" | "spent" | "raised"
> {
  readonly stories: SortedMap<StoryId, StoryOutline>;
  /** How many stories have ended and are not among `stories`, because old ones were left out. */
  readonly unlisted?: Settled;
  /**
   * `gone`: the engine ended unexpectedly, and what it started is still running according to the journal. `stopped`: no
   * engine runs, and nothing is running. Absent: an engine runs, or that is unknown.
   */
  readonly engine?: "gone" | "stopped";
}

/** What is known about the engine. It is in no event, so it is no part of the state. */
export type WithEngine = Pick<RunOutline, "engine">;

/** Adds to the state what is known about the engine. */
export function withEngine<R extends RunOutline>(run: R, isAlive: boolean): R & WithEngine {
  if (isAlive) return run;
  for (const [, { running, ending }] of entries(run.stories))
    if (running !== null && ending === null) return { ...run, engine: "gone" };
  return { ...run, engine: "stopped" };
}

export interface Settled {
  readonly accepted: number;
  readonly failed: number;
  /** Absent in snapshots of older versions. */
  readonly dismissed?: number;
}

/** Returns the outcome of an ended story, in the words of `remand status`. */
export const endedAs = ({ how }: NonNullable<StoryState["ending"]>): "accepted" | "failed" | "dismissed" =>
  how === "accepted" || how === "dismissed" ? how : "failed";

type Asked = Pick<StoryOutline, "escalation" | "deferred" | "ending">;

/** Whether a person is asked about this story. Every list and every count of questions uses this rule. */
export const isAsking = (state: Asked): boolean => hasQuestion(state) && state.deferred === undefined;

/** Whether the story has a question, including one that is deferred to the next run. */
export const hasQuestion = ({ escalation, ending }: Asked): boolean => escalation !== null && ending === null;

/** Says what is broken if an event reports broken infrastructure; else `null`. */
export function infrastructureIssue(event: Event): string | null {
  switch (event.type) {
    case "infrastructure.blocked":
      return event.issue;
    case "gate.judged":
      return event.judgement.result === "blocked" ? event.judgement.summary : null;
    case "blame.found":
      return event.blame.verdict === "environment" ? event.blame.explanation : null;
    case "step.failed":
      return event.infrastructure ? event.detail : null;
    case "attempt.finished":
      if (event.outcome.type === "blocked") return event.outcome.issue;
      return event.outcome.type === "incomplete" && event.outcome.category === "infrastructure"
        ? event.outcome.blocker
        : null;
    default:
      return null;
  }
}
