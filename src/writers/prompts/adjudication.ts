import type { AdjudicationRequest } from "../../domain/prompt.ts";
import { evidenceList } from "../briefs/evidence.ts";
import { issueLine } from "../briefs/findings.ts";
import { evidenceFence, line, name, section, together } from "../briefs/pen.ts";
import { promptPen, start } from "./sheet.ts";
import { reviewForms } from "./signal-forms.ts";

/** Somebody who neither raised the finding nor wrote the code says whether it stands. */
export function writeAdjudicationPrompt(request: AdjudicationRequest, options: { readonly nonce: string }): string {
  const pen = promptPen(options.nonce);
  const id = name(pen, request.story.id);
  return `${together([
    start(
      pen,
      request.rolePrompt,
      "## Adjudication Assignment",
      `Task ID: ${id}`,
      `Title: ${line(pen, request.story.title)}`,
    ),
    "A finding is disputed. Decide about this finding alone, from the code and the evidence, whoever said what.",
    section("### The Finding", `- ${issueLine(request.finding, pen)}`),
    section(
      `### The Objection, by ${name(pen, request.disputedBy)}`,
      evidenceFence(pen, request.rebuttal, "objection"),
    ),
    section("### Evidence", evidenceList(pen, request.evidence)),
    section(
      "### Required Output Signal",
      [
        "You MUST end with one of these, at the very start of a line, outside quotes and code:",
        `- \`REVIEW_FAILED: ${id}\` - the finding stands; repeat it under \`Issues Found:\` with what shows it`,
        `- \`REVIEW_PASSED: ${id}\` - the finding does not stand; say why in \`Summary:\``,
      ].join("\n"),
      reviewForms(id),
    ),
    "Begin adjudication.",
  ])}\n`;
}
