import type { KnownFailure } from "../gates/base-failures.ts";
import type { Blame } from "../blame/blame.ts";
import type { LicensedTest } from "../gates/contested-test.ts";
import type { Identity } from "../events/authority.ts";
import type { Answer, FailedHow, Step } from "../events/event.ts";
import type { Finding } from "../gates/finding.ts";
import type { BaseRuns, GateName, Judgement, TestIdentities } from "../gates/gate.ts";
import type { AgentSession, EvidenceId, Fingerprint, RoleName, StoryId, TreeId } from "../events/ids.ts";
import type { Policy } from "../events/policy.ts";
import type { AttemptOutcome, AttemptSummary } from "./attempt.ts";
import type { BudgetName, Spent, SpentBudget } from "./budget.ts";
import type { Escalation, Waiver } from "./escalation.ts";
import type { Phase, Story } from "./story.ts";
import type { Lane } from "./command.ts";
import type { Route, Scope, ScopeException } from "./scope.ts";

/**
 * The whole state of one story, folded from its events.
 *
 * A story is **queued** until it starts, and **settled** at the end (`ending`). In between, something is `running` for
 * it (an attempt, a gate, a step of the engine), or an `escalation` waits for a person, or a `wait` waits for a time or
 * another story. If none of these is set, `decide/next-step` decides what comes next, from the fields below alone.
 * `failing` is set from a failed judgement until the work has been sent back, and `rework` from then until the attempt
 * with the brief has ended.
 */
export interface StoryState {
  readonly story: Story;
  /** Events of this story so far. */
  readonly seq: number;
  /** The story's position in the order of arrival. */
  readonly arrival: number;
  /** The rules that it started with; `null` while it is queued. */
  readonly policy: Policy | null;
  readonly startedAt: number | null;
  readonly phase: Phase;
  readonly completed: readonly Phase[];
  readonly running: Running | null;
  /** Whether the product of this phase is ready for the gates. */
  readonly productReady: boolean;
  readonly tree: TreeId | null;
  readonly commit: string;
  /** The tree before the work under review, including changes of earlier attempts without a result. */
  readonly startedFrom: TreeId | null;
  readonly gates: { readonly [G in GateName]?: GateState };
  readonly attempts: readonly AttemptSummary[];
  readonly failing: Failing | null;
  readonly rework: Rework | null;
  /** How often the work was sent back: the number of the newest rework (the iteration of S4.34). */
  readonly reworks: number;
  /** What the newest rework may change; `null` for new work. */
  readonly scope: Scope | null;
  /** The newest attempt's changes outside its scope, with its reasons. */
  readonly exceptions: readonly ScopeException[];
  /** The full message of the newest attempt that ended as ready. */
  readonly message: EvidenceId | null;
  /** How often each role was asked and replied, apart from attempts; and the conversations to resume. */
  readonly asked: Readonly<Record<RoleName, number>>;
  readonly sessions: Readonly<Record<RoleName, AgentSession>>;
  /** A person asked for rework while something else was running. */
  readonly requested: {
    readonly phase: Phase;
    readonly message: string;
    /** Comments on single locations. */
    readonly findings?: readonly Finding[];
  } | null;
  /** Ids of the comments on its pull request for which the work was already sent back. */
  readonly heard?: readonly string[];
  readonly wait: Wait | null;
  readonly escalation: Escalation | null;
  /** When the question to a person was raised; `null` if there is none. */
  readonly escalatedAt: number | null;
  /** The person who deferred the question to the next run; absent if it was not deferred. */
  readonly deferred?: { readonly by: string; readonly reason: string };
  readonly escalations: number;
  readonly disputes: readonly Dispute[];
  readonly waivers: readonly Waiver[];
  /** The last answer of a person, while it can be undone. */
  readonly undo: Undo | null;
  /** Guidance of people for the next brief. */
  readonly guidance: readonly string[];
  readonly counters: Counters;
  readonly locations: Readonly<Record<string, LocationRecord>>;
  /** Locations under rework; the next judgement of that gate decides their outcome. */
  readonly watched: { readonly gate: GateName; readonly places: readonly string[] } | null;
  /** The trees of this phase's attempts, oldest first, or their products if those have their own hash. */
  readonly trees: readonly (TreeId | Fingerprint)[];
  readonly raised: { readonly [B in BudgetName]?: number };
  readonly warned: readonly BudgetName[];
  readonly grace: { readonly [G in GateName]?: number };
  readonly spent: Spent;
  /** What failed at the base, by name. */
  readonly preExisting: readonly string[];
  /** How the checks ended at the base; absent if no gate ran one. */
  readonly baseRuns?: BaseRuns;
  /** The base, if its checks were still running when the work started; absent once their results are known. */
  readonly openBase?: { readonly tree: TreeId; readonly commit: string };
  /** Tests with two different results on the base; absent if an older version prepared the story. */
  readonly flakyAtBase?: readonly string[];
  /** Failures at the base that people called known, and those that they made targets of this story. */
  readonly known?: readonly KnownFailure[];
  readonly targets?: readonly string[];
  /** Tests, or patterns of tests, that people allowed the work to change. */
  readonly licensed?: readonly LicensedTest[];
  /** The newest tree whose tests a passing gate, or a person, has seen; absent: none yet. */
  readonly seenTree?: TreeId;
  readonly held: boolean;
  /** How the person who paused it is known; absent if it is not paused, or an older version paused it. */
  readonly heldAs?: Identity;
  /** The person who asked to stop the running step now; `null` if there is none. */
  readonly stopping: string | null;
  readonly flagged: boolean;
  readonly delivered: string | null;
  /** How a person wants accepted work to be delivered; absent: as its policy says. */
  readonly deliver?: "merge" | "pull-request";
  /** A person's decision about the delivery, and why a delivery was refused; absent before either. */
  readonly delivery?: Delivery;
  /** The person who fixed the work: the fix is adopted before a gate runs. */
  readonly adopting?: string;
  /** The branch that the story's file names has not been adopted yet. */
  readonly adoptsBranch?: true;
  /** Its position in a lane or among the timers; `null` if it has no next step. */
  readonly queued: { readonly lane: Lane | "timers"; readonly key: string } | null;
  readonly ending: Ending | null;
}

/** The last answer of a person, and the state of the story before it; kept until work on the answer starts. */
export interface Undo {
  readonly answer: Answer;
  readonly at: number;
  /** The state without its policy, which the story has, and without its own `undo`: only one answer can be undone. */
  readonly before: StoryState;
}

export type Running = {
  readonly since: number;
  /** The number of the event that started it. The performer uses it to check that its step is still running. */
  readonly seq: number;
  /** The engine that started it died, but its agent outlived that engine. */
  readonly resumed?: true;
} & (
  | { readonly type: "attempt"; readonly attempt: number; readonly role: RoleName; readonly unclear: number }
  | { readonly type: "gate"; readonly gate: GateName }
  | { readonly type: "step"; readonly step: Step }
);

/** The state of one gate. The counts of failures are kept across phases; the rest is about the current phase. */
export interface GateState {
  /** The newest pass or fail; `fresh` says whether it is about the current files. */
  readonly last: Judgement | null;
  readonly fresh: boolean;
  /** The newest tree that it passed. */
  readonly lastPass: TreeId | null;
  /** Why the gate has had no result since then, in the gate's own message. */
  readonly trouble: string | null;
  /** Tests, or whole checks, with two results for one tree, so that the gate had no result. */
  readonly flaky: readonly string[];
  /** Charged failures since a person last reset them. */
  readonly failures: number;
  /** All charged failures: never reset, for the trail. */
  readonly failuresEver: number;
  /** Counts in a row, each with its own limit. */
  readonly errors: number;
  readonly inconclusives: number;
  readonly ciRetries: number;
  readonly lintFixed: boolean;
  /** Failed rounds since a person last reset them, oldest first. */
  readonly rounds: readonly Round[];
  /** Identities of the findings of all rounds. */
  readonly seen: readonly Fingerprint[];
  readonly overturned: readonly Fingerprint[];
  /** Findings that an independent reviewer upheld; each is reviewed once. */
  readonly upheld: readonly { readonly finding: Fingerprint; readonly says: string }[];
  /** The base that the gate ran against; only the merge gate uses it. */
  readonly base: string;
}

export interface Round {
  readonly attempt: number;
  readonly tree: TreeId;
  readonly commit: string;
  readonly failure: Fingerprint | null;
  readonly blocking: number;
  /** The blocking findings, by identity. */
  readonly findings?: readonly Fingerprint[];
  /** Results of single tests; absent if the gate ran none, and in older rounds. */
  readonly identities?: TestIdentities;
  /**
   * Whether the gate had passed the work between the previous round and this one; only set if tests can be compared.
   */
  readonly afterPass?: true;
}

export interface Failing {
  readonly gate: GateName;
  readonly blame: Blame | null;
  /** Whether a person approved the rework. */
  readonly approved: boolean;
  /** Whether the best tree was restored after a regression cascade. */
  readonly restored: boolean;
}

export interface Rework {
  readonly gate: GateName | "person";
  readonly route: Route;
  readonly brief: string;
  /** The feedback, as it is noted in the story's file. */
  readonly note?: EvidenceId;
}

export type Wait =
  | { readonly type: "time"; readonly until: number; readonly why: string }
  | { readonly type: "story"; readonly story: StoryId | null; readonly why: string };

export interface Dispute {
  readonly finding: Fingerprint;
  readonly gate: GateName;
  readonly by: string;
  readonly rationale: string;
  /** `refused`: the independent reviewer upheld the finding, so a person decides. */
  readonly standing: "open" | "refused";
  /** The independent reviewer's ruling, with its reason. */
  readonly ruling?: string;
  /** The dispute was a person's answer to a question. If the finding is upheld, the question is asked again. */
  readonly isAnswer?: true;
}

export interface Delivery {
  /** The person who answered `merge`: for the tree verified then, and what the target brings into it. */
  readonly approvedBy?: string;
  /** The person who says that they merged it themselves, which is checked. */
  readonly claimedBy?: string;
  readonly refused?: { readonly why: "not-merged" | "branch-moved"; readonly detail: string; readonly commit?: string };
  /** The commit that a person wants removed from the branch. */
  readonly drop?: string;
}

/** Counts of loops that never charge rework. */
export interface Counters {
  readonly attempts: number;
  readonly agentFailures: number;
  readonly timeouts: number;
  readonly rateLimits: number;
  readonly refusals: number;
  readonly dependencyWaits: number;
  readonly blocked: number;
  readonly unchanged: number;
  readonly stepFailures: number;
  /** How often in a row the engine died in the same step; absent if the story made progress since. */
  readonly engineDeaths?: EngineDeaths;
  /** How often the target moved under finished work since the last attempt. */
  readonly targetMoves?: number;
  /** The budget that was used up in the middle of a step, until a person has answered; absent: none. */
  readonly cutShort?: SpentBudget;
  /** How the last dispatch ended, if its result was not usable. */
  readonly lastFailure: AttemptOutcome | null;
  readonly approvedRetry: boolean;
  readonly missing: readonly RoleName[];
}

export interface EngineDeaths {
  /** The name of the step, for people: `attempt 1`, `the checks gate`, `the set-up`. */
  readonly during: string;
  readonly kind: Running["type"];
  readonly gate: GateName | null;
  readonly times: number;
}

/** The record of one location (S3.26): its reworks and their outcomes. */
export interface LocationRecord {
  readonly attempts: number;
  readonly lastAttemptAt: number;
  readonly outcomes: readonly ("pass" | "fail")[];
  readonly totalCostUsd: number;
  /** Failures blamed on the location since the last pass. */
  readonly sincePass: number;
}

export type Ending =
  | {
      readonly how: "accepted";
      readonly at: number;
      readonly forced: { readonly by: string; readonly reason: string } | null;
      /** What the gates passed the work in spite of, in sentences. */
      readonly notes?: readonly string[];
    }
  | { readonly how: FailedHow; readonly at: number; readonly reason: string };
