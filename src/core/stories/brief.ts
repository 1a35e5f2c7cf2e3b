import type { Blame } from "../blame/blame.ts";
import type { Finding } from "../gates/finding.ts";
import type { CheckRun, GateName } from "../gates/gate.ts";
import type { BriefVariant } from "../gates/registry.ts";
import type { briefSchema } from "../schemas/brief.ts";
import type { Stored } from "../schemas/scalars.ts";
import type { TriedAndFailed } from "./escalation.ts";

type BriefDocument = Stored<typeof briefSchema>;

/** The parts of a brief that differ from its document: resolved gates and severities, and reports of gates. */
interface ResolvedParts {
  /** The gate that failed, or `person` for work that a person sent back without one. */
  readonly gate: GateName | "person";
  readonly variant: BriefVariant;
  readonly required: readonly Finding[];
  readonly stillOpen: readonly Finding[];
  readonly information: readonly Finding[];
  readonly earlier: readonly TriedAndFailed[];
  readonly blame: Blame | null;
  readonly runs: readonly CheckRun[];
}

/** The feedback for the agent: everything that the next attempt needs. */
export type Brief = Omit<BriefDocument, "schema" | keyof ResolvedParts> & ResolvedParts;

/** How the agent reports that it is done: in its last message, by a tool, or (inside a client) by trying to stop. */
export const REPORT_WAYS = ["signal", "tool", "stop"] as const;
export type ReportWay = (typeof REPORT_WAYS)[number];

export type BriefEvidence = Brief["evidence"][number];
export type Survivor = Brief["survivors"][number];
