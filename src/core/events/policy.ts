import type { KnownFailure } from "../gates/base-failures.ts";
import type { FailOn } from "../gates/severity.ts";
import type { GateName } from "../gates/gate.ts";
import type { RoleName } from "./ids.ts";
import type { Phase } from "../stories/story.ts";
import type { StopSettings } from "../stories/stop-rules.ts";

/**
 * The rules a story runs under, resolved: every value is there. A story keeps the policy it started with.
 * Config (files, presets, flags) is turned into one of these before anything is decided.
 */
export interface Policy {
  readonly preset: PresetName;
  readonly autonomy: Autonomy;
  readonly phases: readonly PhasePlan[];
  readonly limits: Limits;
  readonly stall: StallRules;
  readonly gates: { readonly [G in GateName]: GateRules };
  readonly roles: Roles;
  readonly specialists: readonly Specialist[];
  readonly concurrency: Concurrency;
  readonly onExhausted: "manual" | "error" | "skip";
  readonly circuitBreaker: boolean;
  /** What is done with work that opened every gate. */
  readonly deliver: "branch" | "merge" | "pull-request";
  readonly merge: "manual" | "auto";
  readonly scope: ScopeRules;
  /** Failures of the base that people know about; without it, none. */
  readonly knownFailures?: readonly KnownFailure[];
  /** Is work refused that no test shows? Without it, no. */
  readonly requireTest?: boolean;
}

export const PRESETS = ["critic-audit", "factory", "goal", "story"] as const;
export type PresetName = (typeof PRESETS)[number];

export const AUTONOMIES = ["conservative", "standard", "full"] as const;
export type Autonomy = (typeof AUTONOMIES)[number];

export interface PhasePlan {
  readonly phase: Phase;
  /** In the order they are judged. */
  readonly gates: readonly GateName[];
}

/** Every loop has its own bound; only `failures` (and `iterations`, `perLocation`) count rework. */
export interface Limits {
  /** The N-th failed judgement of a gate escalates instead of sending back. `null`: `iterations` is the bound. */
  readonly failures: { readonly [G in GateName]: number | null };
  /** Attempts of a whole story. */
  readonly iterations: number;
  /** Failures blamed on one place without a pass between them. */
  readonly perLocation: number;
  /** A gate that breaks, again and again. */
  readonly errors: number;
  readonly inconclusives: number;
  /** `blocked` judgements of one story, each after infrastructure was called healthy again. */
  readonly blocked: number;
  /** Dispatches in a row that ended in nothing usable. */
  readonly agentFailures: number;
  /** Timeouts of one story, over its whole life. */
  readonly timeouts: number;
  readonly rateLimits: number;
  readonly refusals: number;
  readonly dependencyWaits: number;
  /**
   * Times the target may move under finished work before a person is asked; rules stored without it:
   * `DEFAULT_TARGET_MOVES`.
   */
  readonly targetMoves?: number;
  /** Times an agent is asked to say it again before its attempt counts as unclear. */
  readonly clarifications: number;
  /** Retries of an outside CI run that failed for reasons of its own. */
  readonly ciRetries: number;
  readonly remediations: number;
  readonly transientRetries: number;
  /** First wait before a retry; each further one doubles it. */
  readonly backoffMs: number;
  readonly timeoutMs: Readonly<Record<"developer" | "critic" | "auditor" | "remediation", number>>;
  readonly story: SpendLimits;
  readonly run: SpendLimits;
}

export const DEFAULT_TARGET_MOVES = 10;

/** `null` is no limit. */
export interface SpendLimits {
  readonly costUsd: number | null;
  readonly tokens: number | null;
  readonly timeMs: number | null;
}

/** Zero switches a rule off. */
export interface StallRules extends StopSettings {
  /** Extra rounds for work that got strictly better each time. */
  readonly grace: number;
}

export interface GateRules {
  readonly failOn: FailOn;
  /** Every finding must be fixed, whatever its severity (S0). */
  readonly everyFinding: boolean;
  /** Paths that can change this gate's evidence; empty means all. */
  readonly affectedBy: readonly string[];
  /** Paths that cannot, even if the above says so. */
  readonly unaffectedBy: readonly string[];
  /** Ordered stages, or perspectives looked at side by side; empty for a gate without parts. */
  readonly stages: readonly string[];
  readonly stageOrder: "in-order" | "side-by-side";
  /** Is the change that caused a failure looked for before the work goes back? */
  readonly blame: boolean;
  /** What happens after a failure that blame cannot explain. */
  readonly onUnexplained: "escalate" | "send-back";
}

export interface Roles {
  readonly phase: { readonly [P in Phase]: RoleName };
  readonly stage: Readonly<Record<string, RoleName>>;
  readonly critic: RoleName;
  readonly auditor: RoleName;
  readonly remediation: RoleName;
  readonly healthCheck: RoleName;
  readonly adjudicator: RoleName;
  readonly ciIntegration: RoleName;
  readonly fallback: Readonly<Record<string, RoleName>>;
  /** What changes about a role whose work keeps failing; without it, nothing. */
  readonly reinforcement?: readonly Reinforcement[];
}

export interface Reinforcement {
  readonly role: RoleName;
  /** Another model, from the attempt after that many failures in one phase on. */
  readonly stronger?: { readonly model: string; readonly after: number };
  /** After that many failures in one conversation the next attempt begins a new one. */
  readonly freshAfter?: number;
}

/** Every condition that is given must hold. The first specialist that fits is taken. */
export interface Specialist {
  readonly role: RoleName;
  readonly languages?: readonly string[];
  readonly paths?: readonly string[];
  readonly categories?: readonly string[];
}

/** How many may work at once. */
export interface Concurrency {
  readonly developers: number;
  readonly critics: number;
  readonly auditors: number;
  readonly checks: number;
  /** Stories in flight; `null` is no limit of its own. */
  readonly stories: number | null;
}

export interface ScopeRules {
  readonly exceptions: "with-rationale" | "never";
  /** What is done with changes beyond the scope that no reason excuses. */
  readonly outside: "send-back" | "revert";
  readonly testPaths: readonly string[];
  readonly typePaths: readonly string[];
}
