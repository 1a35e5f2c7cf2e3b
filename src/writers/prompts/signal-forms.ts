import { indented } from "../briefs/report.ts";

/*
 * The reviewers' signals in full, as S2 defines them. They are indented: a reviewer who repeats his instructions must
 * not have passed or failed anything by that.
 */

export function reviewForms(storyId: string): string {
  return forms([
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

export function auditForms(storyId: string): string {
  return forms([
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

function forms(alternatives: readonly (readonly string[])[]): string {
  return [
    "In full, without the indentation, with what stands in angle brackets replaced:",
    ...alternatives.map((lines) => indented(lines).join("\n")),
  ].join("\n\n");
}
