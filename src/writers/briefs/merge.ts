import type { Brief } from "../../domain/brief.ts";
import { fileList } from "./evidence.ts";
import { issueLine } from "./findings.ts";
import { closing, evidenceAndBlame, information, opening, passingCriteria } from "./parts.ts";
import { section, together, type Pen } from "./pen.ts";
import { issuesFound, requiredFixes } from "./review.ts";

/** The branch does not go onto its base as it is. */
export function mergeBrief(brief: Brief, pen: Pen): string {
  return together([
    opening(brief, pen, "## Rework Assignment"),
    section(
      "### MERGE CHECK FAILED",
      "The work passed, and does not go onto the present base: the base has moved, or both changed the same place.",
    ),
    issuesFound(brief, pen),
    requiredFixes(brief, pen),
    evidenceAndBlame(brief, pen),
    information(brief, pen, (finding) => issueLine(finding, pen)),
    passingCriteria(brief, pen, "These hold already, and must still hold afterwards:"),
    section("### Files Changed on This Branch", fileList(pen, brief.filesModified)),
    closing(brief, pen, [
      "Bring the branch up to its base, and resolve each conflict so that both sides' purpose is kept.",
      "Change nothing that the conflict does not need.",
      "Re-run the verification commands on the result.",
      "Signal READY_FOR_REVIEW. CI and the merge check are judged again.",
    ]),
  ]);
}
