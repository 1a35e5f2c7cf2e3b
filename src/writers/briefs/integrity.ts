import type { Brief } from "../../domain/brief.ts";
import { fileList } from "./evidence.ts";
import { issueLine } from "./findings.ts";
import { closing, evidenceAndBlame, information, opening, passingCriteria, stillOpen } from "./parts.ts";
import { section, together, type Pen } from "./pen.ts";
import { issuesFound, requiredFixes } from "./review.ts";

/** The diff itself was refused: out of scope, tests weakened, nothing changed, something left behind. */
export function integrityBrief(brief: Brief, pen: Pen): string {
  return together([
    opening(brief, pen, "## Rework Assignment"),
    section("### INTEGRITY CHECK FAILED", "The diff of your attempt was read before anything else, and refused."),
    issuesFound(brief, pen),
    requiredFixes(brief, pen),
    stillOpen(brief, pen),
    evidenceAndBlame(brief, pen),
    information(brief, pen, (finding) => issueLine(finding, pen)),
    passingCriteria(brief, pen, "These hold already, and must still hold afterwards:"),
    section("### Files Changed in This Attempt", fileList(pen, brief.filesModified)),
    closing(brief, pen, [
      "Take back every change that is refused above, and only those.",
      ...(brief.stillOpen.length === 0 ? [] : ["Then fix what is still open from before: nothing above replaces it."]),
      "If you believe that nothing has to change, do not say so in words alone: show it with the commands that judge it.",
      "Restore tests that were deleted, skipped or loosened.",
      "Signal READY_FOR_REVIEW when the diff holds only what the scope allows.",
    ]),
  ]);
}
