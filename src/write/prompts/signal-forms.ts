import { howToReport, indentLines } from "../briefs/report.ts";
import { countText } from "../../stdx/plain-text.ts";
import type { ClarificationRequest } from "../../core/stories/prompt.ts";
import type { SignalRole } from "../../core/stories/reading.ts";
import { bullets, line, name, section, joinPieces } from "../briefs/brief-writer.ts";
import { promptPen } from "./prompt-parts.ts";

/*
 * The reviewers' signals in full, as S2.11 and S2.28 define them. They are indented, so that a reviewer who repeats the
 * instructions sends no signal.
 */

export function reviewForms(storyId: string, nonce: string): string {
  return forms(nonce, [
    [
      `REVIEW_PASSED: ${storyId}`,
      "",
      "Files Reviewed:",
      "- <file>",
      "",
      "Quality Assessment:",
      "- Code style: COMPLIANT",
      "- Error handling: ADEQUATE",
      "- Naming: CONSISTENT",
      "- Architecture: ALIGNED",
      "",
      "Summary: <your assessment in a sentence>",
    ],
    [
      `REVIEW_FAILED: ${storyId}`,
      "",
      "Files Reviewed:",
      "- <file>",
      "",
      "Issues Found:",
      "- <file>:<line>: <what is wrong>",
      "",
      "Required Fixes:",
      "- <what to do about it>",
      "",
      "Priority: <HIGH|MEDIUM|LOW>",
    ],
  ]);
}

export function auditForms(storyId: string, nonce: string): string {
  return forms(nonce, [
    [
      `AUDIT_PASSED: ${storyId}`,
      "",
      "Verification Results:",
      "- <criterion>: VERIFIED - <evidence>",
      "",
      "Commands Executed:",
      "- <command> (<environment>): PASS",
      "",
      "Summary: <your conclusion in a sentence>",
    ],
    [
      `AUDIT_FAILED: ${storyId}`,
      "",
      "Failed Criteria:",
      "- <criterion>: FAILED - <reason>",
      "",
      "Issues Found:",
      "- <file>:<line>: <what is wrong>",
      "",
      "Required Fixes:",
      "- <what to do about it>",
      "",
      "Passing Criteria:",
      "- <criterion>",
    ],
    [
      `AUDIT_BLOCKED: ${storyId}`,
      "",
      "Pre-existing Failures:",
      "- <what was broken before this work>",
      "",
      "Cannot proceed with audit until infrastructure is fixed.",
    ],
  ]);
}

function forms(nonce: string, alternatives: readonly (readonly string[])[]): string {
  return [
    nonceRequest(nonce, "the signal"),
    "In full, without the indentation, with what stands in angle brackets replaced:",
    ...alternatives.map(([signal = "", ...lines]) => indentLines([signal, nonce, ...lines]).join("\n")),
  ].join("\n\n");
}

/**
 * Requests the nonce. Text that a reviewer copies from the work, or output of the work, does not contain the nonce, so
 * it cannot count as a verdict. Scripted agents find the nonce by these words.
 */
export const nonceRequest = (nonce: string, after: string): string =>
  `If you answer by a message, the line right after ${after} must be the nonce of this prompt: \`${nonce}\`. Without it the message is no verdict.`;

/** Sent to the same agent in the same conversation, so role and assignment are not repeated. */
export function writeClarificationPrompt(request: ClarificationRequest, options: { readonly nonce: string }): string {
  const pen = promptPen(options.nonce);
  const id = name(pen, request.storyId);
  const problems = bullets(pen, request.problems, (problem) => line(pen, problem), { what: "problems" });
  return `${joinPieces([
    "## Please Say It Again",
    whyAgain(request, id),
    section(request.why === "incomplete" ? "### What It Leaves Out" : "### What Was Odd About It", problems),
    section("### What to Do", whatToDo(request)),
    request.role === "developer"
      ? howToReport({ report: "signal", spellOutFormat: true, storyId: id })
      : formsOf(request.role, id, pen.nonce),
  ])}\n`;
}

function whyAgain({ why, ask, asks }: ClarificationRequest, id: string): string {
  if (why === "unreadable")
    return `Your last message could not be read as a report on ${id} (asked ${ask} of ${countText(asks, "time")}).`;
  if (why === "incomplete") return `Your last message about ${id} leaves something out, and cannot count without it.`;
  return `Your last message rejects the work on ${id} without one issue that can be acted on.`;
}

function whatToDo({ why, role }: ClarificationRequest): string {
  if (why === "unreadable") return REPEAT_REQUEST;
  return why === "incomplete" ? FILL_IT_IN : NAME_PARTICULARS[role];
}

const FILL_IT_IN =
  "Look at what is listed above, then give your whole report once more, with an answer to each of these, in the form below.";

const REPEAT_REQUEST =
  "Do no further work. Give the same report once more, in the form below, as the last thing in your message.";

const NAME_PARTICULARS: Readonly<Record<SignalRole, string>> = {
  developer: "Say what blocks you, what you tried, and what you need.",
  critic:
    "Name each issue with its file and line, and what to do about it. If there is none, the review has passed: say so.",
  auditor:
    "Name each criterion that is not met, what shows it, and what to do about it. If there is none, the audit has passed: say so.",
};

function formsOf(role: "critic" | "auditor", id: string, nonce: string): string {
  return section("### Required Output Signal", role === "critic" ? reviewForms(id, nonce) : auditForms(id, nonce));
}
