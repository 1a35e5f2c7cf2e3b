import type { FailedHow } from "../events/event.ts";
import type { GateName } from "../gates/gate.ts";
import type { Fingerprint, RoleName, StoryId, TreeId } from "../events/ids.ts";
import type { Policy } from "../events/policy.ts";
import type { BriefVariant } from "../gates/registry.ts";
import type { BudgetName } from "./budget.ts";
import type { Escalation } from "./escalation.ts";
import type { Phase, TddPhase } from "./story.ts";
import type { Route, Scope } from "./scope.ts";

/**
 * What to do next. `key` is the story and the number of its events at the decision. It shows that a command was done
 * already, and that a worker has been replaced.
 */
export type Command = { readonly key: string } & (StoryCommand | ProjectCommand);

export type StoryCommand = { readonly story: StoryId } & StoryAction;

export type StoryAction =
  | { readonly type: "start-story" }
  | { readonly type: "judge-base" }
  | StartAttempt
  | { readonly type: "ask-again"; readonly attempt: number; readonly times: number }
  | StartGate
  /** Continues a step whose agent outlived the engine that dispatched it. */
  | { readonly type: "resume-work"; readonly work: StartAttempt | StartGate }
  | { readonly type: "find-blame"; readonly gate: GateName; readonly tree: TreeId }
  | { readonly type: "fix-lint" }
  | SendBack
  | { readonly type: "restore-tree"; readonly tree: TreeId }
  | { readonly type: "grant-grace"; readonly gate: GateName; readonly failures: number }
  | { readonly type: "adjudicate"; readonly finding: Fingerprint; readonly gate: GateName; readonly role: RoleName }
  | {
      readonly type: "deliver";
      readonly how: Policy["deliver"];
      readonly approvedBy?: string;
      /** The person who says that the work is merged: that is checked, and nothing is merged. */
      readonly claimedBy?: string;
      readonly drop?: string;
    }
  | { readonly type: "adopt-work"; readonly by: string; readonly branch?: string }
  | { readonly type: "accept"; readonly notes?: readonly string[]; readonly drop?: string }
  | { readonly type: "fail"; readonly how: FailedHow; readonly reason: string }
  | { readonly type: "raise-escalation"; readonly escalation: Escalation }
  | { readonly type: "warn-budget"; readonly budget: BudgetName; readonly used: number; readonly limit: number }
  | { readonly type: "flag-story"; readonly usualMs: number; readonly takenMs: number };

export type ProjectCommand = { readonly story: null } & (
  | {
      readonly type: "start-remediation";
      readonly attempt: number;
      readonly issue: string;
      readonly guidance: readonly string[];
    }
  | { readonly type: "check-health"; readonly attempt: number }
  | { readonly type: "raise-escalation"; readonly escalation: Escalation }
  | { readonly type: "warn-budget"; readonly budget: BudgetName; readonly used: number; readonly limit: number }
);

export interface StartAttempt {
  readonly type: "start-attempt";
  readonly attempt: number;
  readonly phase: Phase;
  readonly role: RoleName;
  readonly tddPhase?: TddPhase;
  readonly reworkOf: GateName | "person" | null;
  /** Whether the last reply was unreadable, so that the prompt explains the format in full. */
  readonly spellOutFormat: boolean;
  readonly timeoutMs: number;
  readonly forecastUsd: number | null;
  /** A model that replaces the role's usual one after this many failures. */
  readonly stronger?: { readonly model: string; readonly failures: number };
  /** Begins a new conversation after this many failures in the previous one. */
  readonly fresh?: { readonly failures: number };
}

export interface StartGate {
  readonly type: "start-gate";
  readonly gate: GateName;
  readonly tree: TreeId;
  /** The stages to run; earlier stages keep their pass. Empty for a gate without stages. */
  readonly stages: readonly string[];
  /** For a re-review: the tree of the last judgement, so that the reviewer sees only the fix. */
  readonly since: TreeId | null;
  /** Earlier findings; the reviewer answers ADDRESSED or NOT for each. */
  readonly answer: readonly Fingerprint[];
  readonly timeoutMs: number;
}

export interface SendBack {
  readonly type: "send-back";
  readonly gate: GateName | "person";
  readonly variant: BriefVariant;
  readonly failure: number;
  readonly failureLimit: number | null;
  readonly route: Route;
  readonly scope: Scope;
}

/**
 * Who does the next step. Each lane has its own limit of parallel work; `engine` has none. Free slots are assigned in
 * this order: work in progress is finished before new work starts.
 */
export const LANES = ["engine", "critics", "auditors", "checks", "developers"] as const;
export type Lane = (typeof LANES)[number];
