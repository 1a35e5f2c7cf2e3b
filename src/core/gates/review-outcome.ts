import type { Finding } from "./finding.ts";
import type { GateName, Judgement, StageResult } from "./gate.ts";
import type { Fingerprint, RoleName, TreeId } from "../events/ids.ts";
import type { GateRules } from "../events/policy.ts";
import type { Result } from "../events/error.ts";

/** What one reviewer, or one tool, said of the work. */
export interface Verdict {
  readonly stage: string;
  readonly reviewer: RoleName;
  readonly result: Result;
  readonly findings: readonly Finding[];
  readonly summary: string;
}

export interface ReviewInput {
  readonly gate: GateName;
  readonly tree: TreeId;
  readonly rules: GateRules;
  readonly verdicts: readonly Verdict[];
  /** Stages that were not heard again, because they passed before what failed. */
  readonly kept: readonly StageResult[];
  /** Findings that an independent reviewer has thrown out. */
  readonly overturned: readonly Fingerprint[];
}

export type ReviewOutcome = Pick<
  Judgement,
  "gate" | "tree" | "result" | "findings" | "blocking" | "stages" | "conflicts" | "summary"
> & {
  readonly failure?: Fingerprint;
};

/** The rule that makes one result of what was said. Gates are given it: they bring evidence, and do not decide. */
export type Judge = (hearing: ReviewInput) => ReviewOutcome;
