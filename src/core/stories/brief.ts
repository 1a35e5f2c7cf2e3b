import type { Blame } from "../blame/blame.ts";
import type { Finding } from "../gates/finding.ts";
import type { CheckRun, CiClass, CriterionResult, GateName, ReviewConflict, StageResult } from "../gates/gate.ts";
import type { BriefVariant } from "../gates/registry.ts";
import type { TriedAndFailed } from "./escalation.ts";
import type { Route, Scope } from "./scope.ts";

/** What goes back to the agent: everything the next attempt needs, and nothing that could mislead it. */
export interface Brief {
  readonly story: { readonly id: string; readonly title: string; readonly goal: string };
  /** The gate that failed; a person may send work back without one. */
  readonly gate: GateName | "person";
  readonly variant: BriefVariant;
  readonly attempt: number;
  readonly failure: number;
  readonly failureLimit: number;
  /** How often work went back for the place that is blamed (S3); where it is not counted, `failure` stands in. */
  readonly locationAttempt?: number;
  readonly route: Route;
  /** The role file's own text, put in front of the assignment (S0). */
  readonly rolePrompt: string;
  readonly summary: string;
  readonly evidence: readonly BriefEvidence[];
  readonly blame: Blame | null;
  readonly required: readonly Finding[];
  /** Blocking findings of other gates that failed before and have not run since. */
  readonly stillOpen: readonly Finding[];
  readonly information: readonly Finding[];
  readonly requiredFixes: readonly string[];
  readonly priority: "HIGH" | "MEDIUM" | "LOW";
  readonly stages: readonly StageResult[];
  readonly runs: readonly CheckRun[];
  readonly criteria: readonly CriterionResult[];
  readonly survivors: readonly Survivor[];
  readonly mutationScore: string;
  readonly ci: { readonly class: CiClass; readonly step: string; readonly runId: string } | null;
  readonly conflicts: readonly ReviewConflict[];
  readonly filesModified: readonly string[];
  readonly earlier: readonly TriedAndFailed[];
  /** What reviewers learned, and what a person said. */
  readonly context: readonly string[];
  readonly guidance: readonly string[];
  readonly scope: Scope;
  readonly judgedBy: readonly string[];
  readonly report: ReportWay;
  /** The agent said nothing readable before: spell the format out. */
  readonly spellOutFormat: boolean;
}

/** How its receiver says that it is done: in its last message, by a tool, or (inside a client) by wanting to stop. */
export const REPORT_WAYS = ["signal", "tool", "stop"] as const;
export type ReportWay = (typeof REPORT_WAYS)[number];

/** Untrusted text: the brief's writer fences and caps it. */
export interface BriefEvidence {
  readonly title: string;
  readonly text: string;
  /** Where the whole of it is kept. */
  readonly fullAt?: string;
}

/** S1: one mutant that no test noticed. */
export interface Survivor {
  readonly file: string;
  readonly line: number;
  readonly mutation: string;
  readonly description: string;
  readonly recommendedTest: string;
}
