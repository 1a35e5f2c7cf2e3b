import type { Brief } from "../../domain/brief.ts";
import type { TddPhase } from "../../domain/phase.ts";
import { fileList } from "./evidence.ts";
import { issueLine } from "./findings.ts";
import { closing, evidenceAndBlame, information, opening, passingCriteria, worstFirst } from "./parts.ts";
import { bullets, section, together, type Pen } from "./pen.ts";
import { requiredFixes } from "./review.ts";

/** S1: the TDD pair resumes at the phase that failed, with the failing output and the domain concerns. */
export function tddBrief(brief: Brief, pen: Pen): string {
  const phase = brief.route.tddPhase;
  return together([
    opening(brief, pen, "## Rework Assignment"),
    section(
      "### TDD GATE FAILED",
      phase === undefined ? "It is not known which phase failed: find that out first." : FAILED_PHASE[phase],
    ),
    section("### Failing Tests", list(brief, pen, false)),
    section("### Domain Review Concerns", list(brief, pen, true)),
    evidenceAndBlame(brief, pen),
    requiredFixes(brief, pen),
    information(brief, pen, (finding) => issueLine(finding, pen)),
    passingCriteria(brief, pen, "These hold already, and must still hold afterwards:"),
    section("### Files Changed in This Slice", fileList(pen, brief.filesModified)),
    closing(brief, pen, [
      `Resume at ${phase === undefined ? "the phase that failed" : phase.toUpperCase()}; the phases before it stand.`,
      "Read the failing output and find out why it fails before you change anything.",
      "Fix it, then complete the cycle through COMMIT: RED touches tests only, DOMAIN types only, GREEN production code only.",
      "Signal READY_FOR_REVIEW when the acceptance test and all unit tests pass. The gate runs again on fresh evidence.",
    ]),
  ]);
}

const FAILED_PHASE: Readonly<Record<TddPhase, string>> = {
  red: "Phase that failed: RED. The test was wrong: it failed for the wrong reason, or passed before there was code.",
  domain: "Phase that failed: DOMAIN. The domain review raised a veto that is not resolved.",
  green: "Phase that failed: GREEN. The implementation was wrong: tests fail with it in place.",
  commit: "Phase that failed: COMMIT. The work is not committed in a state that passes.",
};

/** A concern of the domain reviewer is told from a failing test by its category or stage. */
function list(brief: Brief, pen: Pen, domain: boolean): string {
  const chosen = brief.required.filter(
    (finding) => domain === /domain/i.test(`${finding.category} ${finding.stage ?? ""}`),
  );
  return bullets(pen, worstFirst(chosen), (finding) => issueLine(finding, pen), {
    what: domain ? "concerns" : "failures",
  });
}
