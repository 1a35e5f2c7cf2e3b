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

/** Everything that is known of a project's run, folded from its journal. */
export interface RunState {
  /** Events folded so far. */
  readonly position: number;
  /** Events of the project's own stream. */
  readonly seq: number;
  /** For stories that start from now on. */
  readonly policy: Policy | null;
  readonly stories: SortedMap<StoryId, StoryState>;
  /** Who waits for whom: a story and those that depend on it. */
  readonly dependents: SortedMap<StoryId, readonly StoryId[]>;
  /** Stories that something could be done for, by who would do it, most urgent first. */
  readonly lanes: Lanes;
  /** Stories that wait for a time, soonest first. */
  readonly timers: SortedMap<string, StoryId>;
  readonly busy: { readonly [L in Lane]: number };
  /** Stories that were started and are neither settled nor waiting for a person. */
  readonly inFlight: number;
  /** Stories that must run alone, because the engine has died in them; absent for none. */
  readonly alone?: number;
  readonly remediation: Remediation | null;
  readonly escalation: Escalation | null;
  readonly escalations: number;
  readonly halted: { readonly by: string; readonly reason: string; readonly identity?: Identity } | null;
  readonly spent: Spent;
  /** Attempts and gate runs that began, of all stories; absent for none (S4.68). */
  readonly actions?: number;
  readonly raised: { readonly [B in BudgetName]?: number };
  readonly warned: readonly BudgetName[];
  /** How long accepted stories of each kind took. */
  readonly usual: Readonly<Record<string, { readonly count: number; readonly totalMs: number }>>;
  readonly base: string;
}

export type Lanes = { readonly [L in Lane]: SortedMap<string, StoryId> };

/** Repairing infrastructure; while it runs no new work is dispatched. */
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
 * What is needed of a story to say where it stands and who must act. Every story state is one; where there are
 * thousands of stories, it is all that is read of most of them.
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
  /** Every attempt that began: the number of the newest is how many there are. */
  readonly attempts: { readonly length: number };
  /** Those that count against the limit. */
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
  /** How many stories have ended and are not among `stories`, where those of long ago were left out. */
  readonly unlisted?: Settled;
  /**
   * `gone`: the engine ended without a word, and what it had started is under way in the journal alone. `stopped`: no
   * engine runs, and none left anything open. Absent: one runs, or that is unknown.
   */
  readonly engine?: "gone" | "stopped";
}

/** What is known of the engine, beside the state: it is in no event. */
export type WithEngine = Pick<RunOutline, "engine">;

/** The state with what is known of the engine. */
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

/** What became of a story that has ended, in the words of the status. */
export const endedAs = ({ how }: NonNullable<StoryState["ending"]>): "accepted" | "failed" | "dismissed" =>
  how === "accepted" || how === "dismissed" ? how : "failed";

type Asked = Pick<StoryOutline, "escalation" | "deferred" | "ending">;

/** Is a person asked about this story? The one rule for every list and every count of questions. */
export const isAsking = (state: Asked): boolean => hasQuestion(state) && state.deferred === undefined;

/** Is there a question about it, be it put off to the next run? */
export const hasQuestion = ({ escalation, ending }: Asked): boolean => escalation !== null && ending === null;

/** What is broken, where an event reports broken infrastructure; else `null`. */
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
