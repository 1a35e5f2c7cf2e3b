import type { GateName } from "../gates/gate.ts";
import type { Identity } from "../events/identity.ts";
import type { Fingerprint, TreeId } from "../events/ids.ts";
import type { escalationReasonSchema, escalationSchema, triedAndFailedSchema } from "../schemas/escalation.ts";
import type { Stored } from "../schemas/stored.ts";

/** A question that only a person can answer. */
export type Escalation = Stored<typeof escalationSchema>;

/** S1's line: what was tried, why it failed. */
export type TriedAndFailed = Stored<typeof triedAndFailedSchema>;

export type EscalationOption = Escalation["options"][number];

export const ESCALATION_KINDS = ["decision", "authorisation", "manual"] as const;
export type EscalationKind = (typeof ESCALATION_KINDS)[number];

export type EscalationReason = Stored<typeof escalationReasonSchema>;

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
