import type { GateName } from "../gates/gate.ts";
import type { Identity } from "../events/identity.ts";
import type { EscalationId, Fingerprint, TreeId } from "../events/ids.ts";
import type { TriedFinding } from "../gates/tried-finding.ts";
import type { BudgetName } from "./budget.ts";
import type { Stall } from "./stop-rules.ts";

/** A question that only a person can answer. */
export interface Escalation {
  readonly id: EscalationId;
  readonly kind: EscalationKind;
  readonly reason: EscalationReason;
  readonly gate: GateName | null;
  readonly title: string;
  /** The root cause as far as it is known. */
  readonly assessment: string;
  readonly recommendation: string;
  /** One question. */
  readonly question: string;
  readonly options: readonly EscalationOption[];
  readonly attempts: readonly TriedAndFailed[];
  readonly branch: string;
  readonly commit: string;
}

/** S1's line: what was tried, why it failed. */
export interface TriedAndFailed {
  readonly attempt: number;
  readonly tried: string;
  readonly failed: string;
  /** What it was rejected for; absent where no finding is known. */
  readonly findings?: readonly TriedFinding[];
  /** How many more findings there were. */
  readonly findingsLeftOut?: number;
}

export interface EscalationOption {
  readonly verb: AnswerVerb;
  readonly does: string;
  readonly cost: string;
}

export const ESCALATION_KINDS = ["decision", "authorisation", "manual"] as const;
export type EscalationKind = (typeof ESCALATION_KINDS)[number];

export type EscalationReason =
  | { readonly type: "budget"; readonly budget: BudgetName; readonly used: number; readonly limit: number }
  | { readonly type: "stall"; readonly stall: Stall; readonly detail: string }
  | { readonly type: "scope-too-broad"; readonly files: readonly string[] }
  | { readonly type: "non-deterministic"; readonly detail: string }
  | { readonly type: "gate-error"; readonly errors: number; readonly detail: string }
  | { readonly type: "gate-inconclusive"; readonly times: number; readonly detail: string }
  | { readonly type: "gate-blocked"; readonly times: number; readonly detail: string }
  | { readonly type: "agent-failure"; readonly outcome: string; readonly times: number; readonly detail: string }
  | { readonly type: "agent-missing"; readonly role: string }
  | {
      readonly type: "engine-died";
      /** The step by its name: `attempt 1`, `the checks gate`. */
      readonly during: string;
      readonly kind: "attempt" | "gate" | "step";
      readonly times: number;
    }
  | { readonly type: "incomplete"; readonly category: string; readonly blocker: string; readonly needed: string }
  | { readonly type: "conflict"; readonly detail: string }
  | { readonly type: "dispute"; readonly finding: string; readonly detail: string }
  | {
      readonly type: "approval";
      readonly of: "rework" | "retry" | "merge";
      /** What became of the last answer, where that is why the question comes again. */
      readonly detail?: string;
    }
  /** The target moved under the work again and again. `merges`: Remand would merge it, so a person can too. */
  | { readonly type: "target-moves"; readonly times: number; readonly merges: boolean }
  /** The story's branch holds a commit that no gate has passed, and that nothing of ours made. */
  | { readonly type: "branch-moved"; readonly commit: string; readonly detail: string }
  | { readonly type: "infrastructure"; readonly issue: string; readonly tries: number }
  /** Tests that fail before the work and that no person has classified. */
  | { readonly type: "failing-base"; readonly tests: readonly string[] }
  /** Targets that match nothing which fails before the work. */
  | { readonly type: "target-not-failing"; readonly targets: readonly string[] }
  /**
   * Tests that passed before and no longer pass in their earlier version. Those of `cannotFail` pass even with faults
   * planted in the work.
   */
  | { readonly type: "contested-tests"; readonly tests: readonly string[]; readonly cannotFail?: readonly string[] };

/** May a person answer that the work is to be merged, or that they merged it? */
export const asksForMerge = (reason: EscalationReason | null): boolean =>
  (reason?.type === "approval" && reason.of === "merge") || (reason?.type === "target-moves" && reason.merges);

/**
 * `merge`: yes, merge it. `resolve`: a person fixed it, and the gates run again on what is there; for a merge, the
 * person merged it, which is checked. `drop`: commits that no gate has seen are taken off the branch. `send-back`: once
 * more, with guidance. `retry`, `declare-healthy` and `halt` answer an infrastructure escalation. `known` and `target`
 * say what failures of the base are. `allow`: the work may change existing tests; the others mean what they say.
 */
export const ANSWER_VERBS = [
  "merge",
  "resolve",
  "send-back",
  "waive",
  "dispute",
  "drop",
  "raise-budget",
  "force-complete",
  "abandon",
  "retry",
  "declare-healthy",
  "halt",
  "known",
  "target",
  "allow",
] as const;
export type AnswerVerb = (typeof ANSWER_VERBS)[number];

/** A person lets a finding or a gate through. It opens the gate and is never shown as a pass. */
export interface Waiver {
  readonly gate: GateName;
  /** The findings it covers. A new finding at the same gate is not covered. */
  readonly findings: readonly Fingerprint[];
  /** Where there was no finding to name (an error, nothing proven), it covers this tree alone. */
  readonly tree: TreeId | null;
  readonly by: string;
  readonly identity?: Identity;
  readonly reason: string;
  readonly at: number;
}
