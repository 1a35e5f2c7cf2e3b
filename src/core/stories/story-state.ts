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
 * Everything that is known of one story, folded from its events.
 *
 * A story is **queued** until it starts and is **settled** at the end (`ending`). In between either something
 * is `running` for it (an attempt, a gate, a step of the engine), or an `escalation` waits for a person, or a
 * `wait` for a time or another story, or none of these: then `decide/next-step` says what comes next, from
 * the fields below and nothing else. `failing` is set from a failed judgement until the work has gone back, and
 * `rework` from then until the attempt that carries the brief has ended.
 */
export interface StoryState {
  readonly story: Story;
  /** Events of this story so far. */
  readonly seq: number;
  /** Its place in the order of arrival. */
  readonly arrival: number;
  /** The rules it started with; `null` while it is queued. */
  readonly policy: Policy | null;
  readonly startedAt: number | null;
  readonly phase: Phase;
  readonly completed: readonly Phase[];
  readonly running: Running | null;
  /** Is there a product of this phase for the gates? */
  readonly productReady: boolean;
  readonly tree: TreeId | null;
  readonly commit: string;
  /**
   * The tree from which the work under review started. It includes what an attempt without a result left behind.
   */
  readonly startedFrom: TreeId | null;
  readonly gates: { readonly [G in GateName]?: GateState };
  readonly attempts: readonly AttemptSummary[];
  readonly failing: Failing | null;
  readonly rework: Rework | null;
  /** How often the work was sent back: the number of the newest rework (the iteration of S4.34). */
  readonly reworks: number;
  /** What the newest rework may touch; `null` for new work. */
  readonly scope: Scope | null;
  /** Where the newest attempt went beyond its scope, with its reasons. */
  readonly exceptions: readonly ScopeException[];
  /** The full message of the newest attempt that is ready. */
  readonly message: EvidenceId | null;
  /** How often each role was asked and replied, apart from attempts; and the conversations to resume. */
  readonly asked: Readonly<Record<RoleName, number>>;
  readonly sessions: Readonly<Record<RoleName, AgentSession>>;
  /** A person asked for rework while something else was under way. */
  readonly requested: {
    readonly phase: Phase;
    readonly message: string;
    /** Comments on single locations. */
    readonly findings?: readonly Finding[];
  } | null;
  /** Comments on its pull request for which the work was already sent back. */
  readonly heard?: readonly string[];
  readonly wait: Wait | null;
  readonly escalation: Escalation | null;
  /** Since when it waits for a person; `null` when it does not. */
  readonly escalatedAt: number | null;
  /** The person who put the question off to the next run; absent where it waits for an answer. */
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
  /**
   * What attempts of this phase ended with, oldest first: their trees, or their products where those are known apart.
   */
  readonly trees: readonly (TreeId | Fingerprint)[];
  readonly raised: { readonly [B in BudgetName]?: number };
  readonly warned: readonly BudgetName[];
  readonly grace: { readonly [G in GateName]?: number };
  readonly spent: Spent;
  /** What failed at the base, by name. */
  readonly preExisting: readonly string[];
  /** How the checks went at the base; absent where no gate ran one. */
  readonly baseRuns?: BaseRuns;
  /** The base, if its checks were still running when the work started; absent once their results are known. */
  readonly openBase?: { readonly tree: TreeId; readonly commit: string };
  /** Tests with two different results on the base; absent if an older version prepared the story. */
  readonly flakyAtBase?: readonly string[];
  /** Failures of the base that people called known, and those they made this story's target. */
  readonly known?: readonly KnownFailure[];
  readonly targets?: readonly string[];
  /** Tests, or patterns of tests, that people allowed the work to change. */
  readonly licensed?: readonly LicensedTest[];
  /** The newest files whose tests a gate that passed, or a person, has seen; absent where nothing has. */
  readonly seenTree?: TreeId;
  readonly held: boolean;
  /** How the person who paused it is known; absent where it runs, or an older version paused it. */
  readonly heldAs?: Identity;
  /** The person who wants the running step stopped now; `null` for none. */
  readonly stopping: string | null;
  readonly flagged: boolean;
  readonly delivered: string | null;
  /** How a person wants accepted work to be delivered; absent where its policy says how. */
  readonly deliver?: "merge" | "pull-request";
  /** What a person decided about the delivery, and why there was none; absent before that. */
  readonly delivery?: Delivery;
  /** The person who fixed the work: their changes are adopted before a gate runs. */
  readonly adopting?: string;
  /** The branch that the story's file names is still to be taken in. */
  readonly adoptsBranch?: true;
  /** Its position in a lane or among the timers; `null` if nothing is to be done. */
  readonly queued: { readonly lane: Lane | "timers"; readonly key: string } | null;
  readonly ending: Ending | null;
}

/** The last answer of a person, and the state of the story before it; kept until work on the answer starts. */
export interface Undo {
  readonly answer: Answer;
  readonly at: number;
  /** Without its rules, which are the story's, and without its own `undo`: only one answer can be undone. */
  readonly before: StoryState;
}

export type Running = {
  readonly since: number;
  /** The number of the event that started it, by which the performer checks that its step is still running. */
  readonly seq: number;
  /** The engine that started it died, and its agent outlived it. */
  readonly resumed?: true;
} & (
  | { readonly type: "attempt"; readonly attempt: number; readonly role: RoleName; readonly unclear: number }
  | { readonly type: "gate"; readonly gate: GateName }
  | { readonly type: "step"; readonly step: Step }
);

/** The state of one gate. The counts of failures outlive the phases; the rest is about the current phase. */
export interface GateState {
  /** The newest pass or fail, and whether it is about the current files. */
  readonly last: Judgement | null;
  readonly fresh: boolean;
  /** The newest state of the files that it passed. */
  readonly lastPass: TreeId | null;
  /** Why the gate has had no result since then, in its own message. */
  readonly trouble: string | null;
  /** Tests, or whole checks, with two results for one tree, so that the gate had no result. */
  readonly flaky: readonly string[];
  /** Charged failures since a person last reset them. */
  readonly failures: number;
  /** All charged failures ever: never reset, for the trail. */
  readonly failuresEver: number;
  /** In a row, each with its own bound. */
  readonly errors: number;
  readonly inconclusives: number;
  readonly ciRetries: number;
  readonly lintFixed: boolean;
  /** Failed rounds since a person last reset them, oldest first. */
  readonly rounds: readonly Round[];
  /** Identities of findings of all rounds, and of the newest. */
  readonly seen: readonly Fingerprint[];
  readonly overturned: readonly Fingerprint[];
  /** Findings that an independent reviewer upheld; each is looked at once. */
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
  /** The gate had passed the work since the round before this one; noted where tests can be compared. */
  readonly afterPass?: true;
}

export interface Failing {
  readonly gate: GateName;
  readonly blame: Blame | null;
  /** A person approved the rework. */
  readonly approved: boolean;
  /** The best tree was restored after a regression cascade. */
  readonly restored: boolean;
}

export interface Rework {
  readonly gate: GateName | "person";
  readonly route: Route;
  readonly brief: string;
  /** The feedback, as the story's file notes it. */
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
  /** Who upheld it, and why. */
  readonly ruling?: string;
  /** It was a person's answer to a question, which comes again if the finding stands. */
  readonly isAnswer?: true;
}

export interface Delivery {
  /** Said `merge`. It holds for the tree that was verified then, and what the target brings into it. */
  readonly approvedBy?: string;
  /** Said that they merged it themselves, which is checked. */
  readonly claimedBy?: string;
  readonly refused?: { readonly why: "not-merged" | "branch-moved"; readonly detail: string; readonly commit?: string };
  /** The commit on the branch that a person wants taken off it. */
  readonly drop?: string;
}

/** Bounds of loops that never charge rework. */
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
  /** How often in a row the engine died in the same step, and in which; absent when the story got further since. */
  readonly engineDeaths?: EngineDeaths;
  /** Times the target moved under finished work, since the last attempt. */
  readonly targetMoves?: number;
  /** The budget that was used up in the middle of a step, until a person has answered; absent for none. */
  readonly cutShort?: SpentBudget;
  /** How the last dispatch ended, when that was nothing usable. */
  readonly lastFailure: AttemptOutcome | null;
  readonly approvedRetry: boolean;
  readonly missing: readonly RoleName[];
}

export interface EngineDeaths {
  /** The step by its name, for people: `attempt 1`, `the checks gate`, `the set-up`. */
  readonly during: string;
  readonly kind: Running["type"];
  readonly gate: GateName | null;
  readonly times: number;
}

/** The record of one place (S3.26): every rework of it, and what came of each. */
export interface LocationRecord {
  readonly attempts: number;
  readonly lastAttemptAt: number;
  readonly outcomes: readonly ("pass" | "fail")[];
  readonly totalCostUsd: number;
  /** Failures blamed on it since the last pass. */
  readonly sincePass: number;
}

export type Ending =
  | {
      readonly how: "accepted";
      readonly at: number;
      readonly forced: { readonly by: string; readonly reason: string } | null;
      /** What the gates passed it in spite of, in sentences. */
      readonly notes?: readonly string[];
    }
  | { readonly how: FailedHow; readonly at: number; readonly reason: string };
