import type { AttemptOutcome } from "../stories/attempt.ts";
import type { KnownFailure } from "../gates/base-failures.ts";
import type { Blame } from "../blame/blame.ts";
import type { BriefVariant } from "../gates/registry.ts";
import type { BudgetName, SpentBudget } from "../stories/budget.ts";
import type { AnswerVerb, Escalation } from "../stories/escalation.ts";
import type { Finding } from "../gates/finding.ts";
import type { BaseRuns, GateName, Judgement } from "../gates/gate.ts";
import type { Phase, Story, TddPhase } from "../stories/story.ts";
import type { Route, Scope, ScopeException } from "../stories/scope.ts";
import type { AgentSession, EscalationId, EvidenceId, Fingerprint, RoleName, StoryId, TreeId } from "./ids.ts";
import type { Identity } from "./identity.ts";
import type { LostJournal } from "./journal-anchor.ts";
import type { Policy } from "./policy.ts";

/** One line of the journal. `story` is the stream; `null` is the project's own. */
export interface Recorded {
  readonly v: 1;
  readonly at: number;
  readonly story: StoryId | null;
  readonly event: Event;
}

/** What happened. The past tense is meant: an event is never refused by the fold. */
export type Event = ProjectEvent | StoryEvent | EscalationEvent;

export type ProjectEvent =
  | { readonly type: "policy.set"; readonly policy: Policy; readonly by: string }
  | { readonly type: "infrastructure.blocked"; readonly issue: string }
  | { readonly type: "remediation.started"; readonly attempt: number }
  | ({ readonly type: "remediation.finished"; readonly attempt: number; readonly fixes: readonly string[] } & Cost)
  | ({ readonly type: "health.checked"; readonly healthy: boolean; readonly remaining: readonly string[] } & Cost)
  | { readonly type: "run.resumed"; readonly by: string; readonly identity?: Identity }
  | { readonly type: "base.moved"; readonly commit: string }
  /** The first line of a journal that took the place of another. `id`: its own. */
  | { readonly type: "journal.replaced"; readonly id: string; readonly lost: LostJournal; readonly by: string };

export type EscalationEvent =
  | { readonly type: "escalation.raised"; readonly escalation: Escalation }
  | { readonly type: "person.answered"; readonly answer: Answer }
  | { readonly type: "budget.warned"; readonly budget: BudgetName; readonly used: number; readonly limit: number };

export type StoryEvent =
  | { readonly type: "story.added"; readonly story: Story }
  | { readonly type: "story.changed"; readonly story: Story; readonly what: readonly string[] }
  | { readonly type: "story.started"; readonly by: string }
  | {
      readonly type: "story.prepared";
      readonly tree: TreeId;
      readonly commit: string;
      /** What failed at the base, each time it ran; and what failed there only once. */
      readonly preExisting: readonly string[];
      /** How the checks went before the work began; absent in older journals. */
      readonly baseRuns?: BaseRuns;
      readonly flaky?: readonly string[];
      /** What people called known before, in answer to the question of another story. */
      readonly known?: readonly KnownFailure[];
      /** The checks still run on the base: `base.judged` tells how they went. */
      readonly isBaseOpen?: true;
    }
  | {
      readonly type: "base.judged";
      readonly preExisting: readonly string[];
      readonly flaky: readonly string[];
      readonly baseRuns?: BaseRuns;
    }
  | AttemptStarted
  | AttemptUnclear
  | AttemptFinished
  | {
      readonly type: "gate.started";
      readonly gate: GateName;
      readonly tree: TreeId;
      readonly stages: readonly string[];
    }
  | { readonly type: "gate.judged"; readonly judgement: Judgement }
  | { readonly type: "step.started"; readonly step: Step }
  | {
      readonly type: "step.failed";
      readonly step: Step;
      readonly detail: string;
      readonly infrastructure: boolean;
      /** Trying again cannot help before a person has changed something. */
      readonly lasting?: true;
    }
  | ({ readonly type: "blame.found"; readonly gate: GateName; readonly blame: Blame } & Cost)
  | { readonly type: "lint.fixed"; readonly tree: TreeId; readonly commit: string; readonly changed: readonly string[] }
  /** What the target has got since then is in the branch now; where both changed one place, the marks are in the files. */
  | {
      readonly type: "branch.updated";
      readonly tree: TreeId;
      readonly commit: string;
      readonly changed: readonly string[];
      readonly conflicts: readonly string[];
    }
  | SentBack
  | { readonly type: "tree.restored"; readonly tree: TreeId; readonly commit: string }
  | { readonly type: "grace.granted"; readonly gate: GateName; readonly failures: number }
  | {
      readonly type: "finding.disputed";
      readonly gate: GateName;
      readonly finding: Fingerprint;
      readonly by: string;
      readonly rationale: string;
    }
  | ({
      readonly type: "finding.adjudicated";
      readonly finding: Fingerprint;
      readonly upheld: boolean;
      readonly by: string;
      readonly reason: string;
      /** How often each role was asked for it; without it, `by` was, once. */
      readonly asked?: Readonly<Record<RoleName, number>>;
    } & Cost)
  | {
      readonly type: "work.delivered";
      readonly how: Policy["deliver"];
      readonly where: string;
      /** The person who approved the merge, or merged it. */
      readonly by?: string;
    }
  /** Nothing was delivered: the target does not hold the work, or the branch holds commits that no gate has passed. */
  | {
      readonly type: "delivery.refused";
      readonly why: "not-merged" | "branch-moved";
      readonly detail: string;
      /** What the branch is at instead of the verified commit. */
      readonly commit?: string;
    }
  /** A person said that they fixed it: what is in the worktree and on the branch is the story's work now. */
  | {
      readonly type: "work.adopted";
      readonly tree: TreeId;
      readonly commit: string;
      readonly changed: readonly string[];
      readonly by: string;
    }
  /** `notes`: what the gates passed it in spite of. */
  | { readonly type: "story.accepted"; readonly notes?: readonly string[] }
  | { readonly type: "story.failed"; readonly how: FailedHow; readonly reason: string }
  | { readonly type: "story.flagged"; readonly usualMs: number; readonly takenMs: number }
  | WorkInterrupted
  /** The engine died; an agent that it had dispatched outlived it, and what ran goes on with that agent. */
  | { readonly type: "work.resumed"; readonly detail: string; readonly engine: EngineEnd }
  /** `now`: what runs for it is ended, instead of being let end. */
  | { readonly type: "story.held"; readonly by: string; readonly identity?: Identity; readonly now?: boolean }
  | { readonly type: "story.released"; readonly by: string; readonly identity?: Identity }
  /** A person takes the last answer back, as if it had not been given. Too late, it changes nothing. */
  | { readonly type: "answer.undone"; readonly by: string; readonly identity?: Identity }
  | { readonly type: "policy.applied"; readonly policy: Policy; readonly by: string; readonly identity?: Identity };

/** What ran for the story was ended, and its result is not known. */
export interface WorkInterrupted {
  readonly type: "work.interrupted";
  readonly detail: string;
  /** How the engine that ran it ended. */
  readonly engine?: EngineEnd;
  /** The budget that was used up while it ran, and what it took until then. */
  readonly overrun?: Cost & { readonly budget: SpentBudget };
  /** `target-moved`: the step gave up itself, because its target moved; that is counted, and tried again after a pause. */
  readonly cause?: "target-moved";
}

/** Written before the agent is dispatched, so that a crash never grants a free attempt. */
export interface AttemptStarted {
  readonly type: "attempt.started";
  readonly attempt: number;
  readonly phase: Phase;
  readonly role: RoleName;
  readonly tddPhase?: TddPhase;
  readonly reworkOf: GateName | "person" | null;
  readonly brief: EvidenceId | null;
  readonly forecastUsd: number | null;
  /** The model that is asked for; without it, the agent's own. */
  readonly model?: string;
  /** What kept the agent from the rest of the machine: `none`, or the sandbox with what held. */
  readonly isolation?: string;
  /** It is the stronger one, because so many attempts of this role and phase have failed. */
  readonly stronger?: { readonly failures: number };
  /** The conversation before was left on purpose, because so many attempts in it have failed. */
  readonly fresh?: { readonly failures: number };
}

/** Its words could not be read. It is asked again, in the same conversation; what it used is paid all the same. */
export interface AttemptUnclear extends Cost {
  readonly type: "attempt.unclear";
  readonly attempt: number;
  readonly detail: string;
  readonly session?: AgentSession;
}

export interface AttemptFinished extends Cost {
  readonly type: "attempt.finished";
  readonly attempt: number;
  readonly outcome: AttemptOutcome;
  readonly tree: TreeId;
  readonly commit: string;
  /** Paths that differ from the tree the attempt began with. Taken from git, never from the agent. */
  readonly changed: readonly string[];
  /** Did the phase's product change? For text phases that is a section of the story file. */
  readonly productChanged: boolean;
  /** What the product is, by its content, where that is not the whole tree: a section, or code beside notes of ours. */
  readonly product?: Fingerprint;
  readonly summary: string;
  /** The agent's whole message, kept apart: it may be long. */
  readonly message?: EvidenceId;
  readonly exceptions?: readonly ScopeException[];
  /** Files beyond the scope that were put back as they were, because the config says so. */
  readonly putBack?: readonly string[];
  readonly session?: AgentSession;
}

export interface SentBack {
  readonly type: "work.sent-back";
  readonly gate: GateName | "person";
  readonly variant: BriefVariant;
  readonly failure: number;
  readonly failureLimit: number | null;
  readonly route: Route;
  readonly scope: Scope;
  readonly brief: EvidenceId;
  /** The feedback as the story's file notes it (S4). */
  readonly note?: EvidenceId;
}

export interface Cost {
  readonly costUsd?: number;
  readonly tokens?: number;
  readonly durationMs: number;
}

/**
 * How an engine ended in the middle of a step: by a signal that it handled, without one (killed, out of memory), or
 * together with its machine. Only `died` counts against the step that ran.
 */
export const ENGINE_ENDS = ["stopped", "died", "rebooted"] as const;
export type EngineEnd = (typeof ENGINE_ENDS)[number];

/** What the engine does that is neither an attempt nor a gate. */
export const STEPS = [
  "prepare",
  "base",
  "dispatch",
  "blame",
  "lint-fix",
  "brief",
  "restore",
  "update",
  "adopt",
  "adjudication",
  "delivery",
] as const;
export type Step = (typeof STEPS)[number];

/** `exhausted` and `set-aside` follow from `onExhausted`; `abandoned` is a person's word. */
export const FAILED_HOW = ["exhausted", "set-aside", "abandoned"] as const;
export type FailedHow = (typeof FAILED_HOW)[number];

/** What a person said, who they are, and what it is about. */
export interface Answer {
  readonly verb: AnswerVerb;
  readonly by: string;
  /** How the person is known; absent in older journals. */
  readonly identity?: Identity;
  /** The reason, or the guidance for the next attempt. */
  readonly message: string;
  /** The escalation it answers; a person may also speak unasked. */
  readonly escalation: EscalationId | null;
  readonly gate?: GateName;
  readonly findings?: readonly Fingerprint[];
  readonly phase?: Phase;
  readonly budget?: BudgetName;
  /** For `known`, `target` and `allow`: the tests it speaks of; without it, all that were asked about. */
  readonly tests?: readonly string[];
  /** For `raise-budget`: the new limit. */
  readonly limit?: number;
  /** Said on a pull request, and by which name the forge knows each, so that none is heard twice. */
  readonly comments?: readonly HeardComment[];
}

export interface HeardComment {
  readonly id: string;
  readonly finding: Finding;
}
