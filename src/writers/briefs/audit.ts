import type { Brief } from "../../domain/brief.ts";
import { issueLine } from "./findings.ts";
import { closing, conflicts, evidenceAndBlame, information, opening, passingCriteria, previousWork } from "./parts.ts";
import { bullets, line, section, together, type Pen } from "./pen.ts";
import { issuesFound, requiredFixes } from "./review.ts";

/** S0: criteria that the auditor found not met. */
export function auditBrief(brief: Brief, pen: Pen): string {
  return together([
    opening(brief, pen, "## Rework Assignment"),
    section(
      "### AUDIT_FAILED",
      "The Auditor has held your work against each acceptance criterion, and some are not met.",
    ),
    failedCriteria(brief, pen),
    issuesFound(brief, pen),
    requiredFixes(brief, pen),
    passingCriteria(brief, pen, "These criteria were verified, and must stay so:"),
    conflicts(brief, pen),
    evidenceAndBlame(brief, pen),
    information(brief, pen, (finding) => issueLine(finding, pen)),
    previousWork(brief, pen, "audit"),
    closing(brief, pen, [
      "Go through the failed criteria carefully.",
      "Understand WHY each criterion failed before you change anything.",
      "Fix ALL the issues listed above.",
      "Re-run the verification commands in ALL environments.",
      "Signal READY_FOR_REVIEW when all criteria are met. The Critic reviews the code again before the next audit.",
    ]),
  ]);
}

function failedCriteria(brief: Brief, pen: Pen): string {
  const failed = brief.criteria.filter((criterion) => criterion.status !== "verified");
  const list = bullets(
    pen,
    failed,
    ({ criterion, status, evidence }) =>
      `${line(pen, criterion)}: ${status === "failed" ? "FAILED" : "NOT VERIFIED"} - ${line(pen, evidence)}`,
    { what: "criteria" },
  );
  return section("### Failed Criteria", list === "" ? "- none was named; see the issues" : list);
}
