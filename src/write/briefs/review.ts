import type { Brief } from "../../core/stories/brief.ts";
import type { Result } from "../../core/events/error.ts";
import { toReviewScale } from "../../core/gates/finding.ts";
import { fileList, issueLine, reviewScaleLine } from "./findings.ts";
import {
  closing,
  conflicts,
  evidenceAndBlame,
  fixesOf,
  information,
  opening,
  passingCriteria,
  previousWork,
  worstFirst,
} from "./parts.ts";
import { type BriefWriter, bullets, line, name, section, joinPieces } from "./brief-writer.ts";

/** S0.9: the critic's findings go back to the developer; every listed issue must be fixed. */
export function reviewBrief(brief: Brief, pen: BriefWriter): string {
  return joinPieces([
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

export function issuesFound(brief: Brief, pen: BriefWriter): string {
  const list = bullets(pen, worstFirst(brief.required), (finding) => issueLine(finding, pen), { what: "issues" });
  return section(
    "### Issues Found",
    list === "" ? "- none was listed; the evidence and the result above are all there is" : list,
  );
}

export function requiredFixes(brief: Brief, pen: BriefWriter): string {
  const list = bullets(pen, fixesOf(brief), (fix) => line(pen, fix), { what: "fixes" });
  return section("### Required Fixes", list === "" ? "- Make the result above a pass." : list);
}

/**
 * S1.9 to S1.12: the verdict of each stage, findings on their scale; CRITICAL and IMPORTANT need action, SUGGESTION
 * does not.
 */
export function stagedReviewBrief(brief: Brief, pen: BriefWriter): string {
  return joinPieces([
    opening(brief, pen, "## Rework Assignment"),
    section("### REVIEW GATE FAILED", "At least one stage of the review asks for changes."),
    section("### Stage Verdicts", stageVerdicts(brief, pen)),
    section("### Required Changes", requiredChanges(brief, pen)),
    conflicts(brief, pen),
    information(brief, pen, (finding) => reviewScaleLine(finding, pen)),
    evidenceAndBlame(brief, pen),
    passingCriteria(brief, pen, "These hold already, and must still hold afterwards:"),
    section("### Files Changed in This Slice", fileList(pen, brief.filesModified)),
    closing(brief, pen, [
      "Address every CRITICAL and IMPORTANT finding, test first where behavior changes.",
      "SUGGESTION findings are for information; they need no action.",
      "Re-run the verification commands.",
      "Signal READY_FOR_REVIEW. The failed stage and those after it are reviewed again, by the reviewers who raised the findings.",
    ]),
  ]);
}

function stageVerdicts(brief: Brief, pen: BriefWriter): string {
  return bullets(
    pen,
    brief.stages,
    ({ stage, result, reviewer, summary }) =>
      `${name(pen, stage)}: ${STAGE_VERDICT[result]} (${name(pen, reviewer)})${summary === undefined ? "" : ` - ${line(pen, summary)}`}`,
    { what: "stages" },
  );
}

const STAGE_VERDICT: Readonly<Record<Result, string>> = {
  pass: "PASS",
  fail: "CHANGES REQUIRED",
  blocked: "BLOCKED",
  error: "NOT JUDGED (the reviewer broke)",
  inconclusive: "INCONCLUSIVE",
};

/**
 * The findings that the policy requires to be fixed, even if a reviewer called one a suggestion: then its line says so.
 */
function requiredChanges(brief: Brief, pen: BriefWriter): string {
  const list = bullets(
    pen,
    worstFirst(brief.required),
    (finding) => {
      const asked = toReviewScale(finding.severity) === "SUGGESTION" ? " (required here)" : "";
      return `${reviewScaleLine(finding, pen)}${asked}`;
    },
    { what: "findings" },
  );
  const fixes = bullets(pen, brief.requiredFixes, (fix) => line(pen, fix), { what: "fixes" });
  return joinPieces([list, fixes === "" ? "" : `Asked for by the reviewers:\n${fixes}`]);
}
