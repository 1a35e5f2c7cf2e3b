import type { Brief } from "../../domain/brief.ts";
import { issueLine } from "./findings.ts";
import {
  conflicts,
  closing,
  evidenceAndBlame,
  fixesOf,
  information,
  opening,
  passingCriteria,
  previousWork,
  worstFirst,
} from "./parts.ts";
import { bullets, line, section, together, type Pen } from "./pen.ts";

/** S0: what the critic found goes back to the developer; every listed issue must be fixed. */
export function reviewBrief(brief: Brief, pen: Pen): string {
  return together([
    opening(brief, pen, "## Rework Assignment"),
    section("### CRITIC REVIEW FAILED", "The Critic has read your code. The issues below stand between it and a pass."),
    issuesFound(brief, pen),
    requiredFixes(brief, pen),
    `### Priority: ${brief.priority}`,
    conflicts(brief, pen),
    evidenceAndBlame(brief, pen),
    information(brief, pen, (finding) => issueLine(finding, pen)),
    passingCriteria(brief, pen, "These hold already, and must still hold afterwards:"),
    previousWork(brief, pen, "review"),
    closing(brief, pen, [
      "Read every issue carefully before you change anything.",
      "Fix ALL the issues listed above. Do NOT skip any: the same Critic reviews again.",
      "Re-run the verification commands.",
      "Signal READY_FOR_REVIEW when all issues are addressed.",
    ]),
  ]);
}

export function issuesFound(brief: Brief, pen: Pen): string {
  const list = bullets(pen, worstFirst(brief.required), (finding) => issueLine(finding, pen), { what: "issues" });
  return section(
    "### Issues Found",
    list === "" ? "- none was listed; the evidence and the result above are all there is" : list,
  );
}

export function requiredFixes(brief: Brief, pen: Pen): string {
  const list = bullets(pen, fixesOf(brief), (fix) => line(pen, fix), { what: "fixes" });
  return section("### Required Fixes", list === "" ? "- Make the result above a pass." : list);
}
