import type { CriticRequest, PerspectiveRequest, ReReviewRequest } from "../../core/stories/prompt.ts";
import { fileList, issueLine } from "../briefs/findings.ts";
import { worstFirst } from "../briefs/parts.ts";
import {
  type BriefWriter,
  type BriefPiece,
  bullets,
  instruction,
  line,
  name,
  section,
  joinPieces,
} from "../briefs/brief-writer.ts";
import { indentLines } from "../briefs/report.ts";
import { contestedTests } from "./contested.ts";
import {
  authorsMessage,
  checkNotes,
  criteriaList,
  practicesPart,
  promptPen,
  shownWork,
  start,
} from "./prompt-parts.ts";
import { nonceRequest, reviewForms } from "./signal-forms.ts";

/** S2.8: the critic reviews the code before the audit. */
export function writeCriticPrompt(request: CriticRequest, options: { readonly nonce: string }): string {
  const pen = promptPen(options.nonce);
  return `${joinPieces([
    start(pen, request.rolePrompt, "## Review Assignment", ...factsOf(request, pen)),
    section("### Goal", instruction(pen, request.story.goal, pen.limits.goalChars, "the goal")),
    section("### Files to Review", fileList(pen, request.filesModified)),
    section("### Developer READY_FOR_REVIEW Signal", authorsMessage(pen, request.readySignal)),
    checkNotes(pen, request.notes),
    contestedTests(pen, request.contested),
    request.work === undefined ? "" : section("### The Work", shownWork(pen, request.work, "the work under review")),
    request.since === undefined
      ? ""
      : section(
          "### What Changed Since You Passed It",
          "Look at this first; what stayed as it was has been judged.",
          shownWork(pen, request.since, "changes since the last review"),
        ),
    section("### Review Focus", REVIEW_FOCUS.map((focus) => `- ${focus}`).join("\n")),
    section("### Project Practices", practicesPart(pen, request.practices)),
    requiredOutput(pen, request.story.id),
    request.stage === undefined ? "" : CRITERIA_FORM,
    "Begin review.",
  ])}\n`;
}

/** For reviewers of a stage such as spec compliance (S1.9). A critic leaves the criteria to the auditor (S2.25). */
const CRITERIA_FORM = [
  "If it is part of your stage to look at the acceptance criteria, say of each what you saw, in a section of your report:",
  "",
  ...indentLines(["Verification Results:", "- <criterion>: VERIFIED - <evidence>", "- <criterion>: FAILED - <reason>"]),
].join("\n");

/** S1.14: the reviewer who raised the findings decides for each whether the fix addresses it. */
export function writeReReviewPrompt(request: ReReviewRequest, options: { readonly nonce: string }): string {
  const pen = promptPen(options.nonce);
  return `${joinPieces([
    start(pen, request.rolePrompt, "## Re-Review Assignment", ...factsOf(request, pen)),
    "You asked for changes. The author has made some. Judge the fix, not the whole of the work again.",
    section(
      "### Your Earlier Findings",
      bullets(pen, worstFirst(request.findings), (finding) => issueLine(finding, pen), { what: "findings" }),
    ),
    section("### The Fix", shownWork(pen, { text: request.fixDiff, ...wholeAt(request) }, "diff of the fix")),
    section("### Files Changed by the Fix", fileList(pen, request.filesModified)),
    checkNotes(pen, request.notes),
    contestedTests(pen, request.contested),
    request.readySignal === undefined
      ? ""
      : section("### What the Author Says of It", authorsMessage(pen, request.readySignal)),
    section("### Project Practices", practicesPart(pen, request.practices)),
    section(
      "### Answer Each Finding",
      [
        "Answer every finding above, by its id, in a section of your report:",
        "",
        "    Earlier Findings:",
        "    - <id>: ADDRESSED - <what shows it>",
        "    - <id>: NOT ADDRESSED - <what is still wrong>",
        "",
        "Report a new issue only if the fix itself brought it in.",
      ].join("\n"),
    ),
    requiredOutput(pen, request.story.id),
    "Begin review.",
  ])}\n`;
}

const wholeAt = ({ wholeAt: command }: ReReviewRequest): { wholeAt?: string } =>
  command === undefined ? {} : { wholeAt: command };

const REVIEW_FOCUS = [
  "Code quality and best practices",
  "Error handling patterns",
  "Naming conventions",
  "Architectural consistency",
  "Project standards compliance",
];

function factsOf(request: CriticRequest | ReReviewRequest, pen: BriefWriter): string[] {
  return [
    `Task ID: ${name(pen, request.story.id)}`,
    `Title: ${line(pen, request.story.title)}`,
    ...(request.stage === undefined ? [] : [`Stage: ${name(pen, request.stage)} (judge this and nothing else)`]),
  ];
}

function requiredOutput(pen: BriefWriter, storyId: string): BriefPiece {
  const id = name(pen, storyId);
  return section(
    "### Required Output Signal",
    [
      "You MUST end your review with one of these, at the very start of a line, outside quotes and code:",
      `- \`REVIEW_PASSED: ${id}\` - if the code quality is acceptable`,
      `- \`REVIEW_FAILED: ${id}\` - if issues need fixing`,
    ].join("\n"),
    reviewForms(id, pen.nonce),
  );
}

/** S4.40: one view of the work (code, security, product owner), answered as JSON. */
export function writePerspectivePrompt(request: PerspectiveRequest, options: { readonly nonce: string }): string {
  const pen = promptPen(options.nonce);
  const perspective = name(pen, request.perspective);
  return `${joinPieces([
    start(
      pen,
      request.rolePrompt,
      `## Review Assignment: ${perspective}`,
      `Task ID: ${name(pen, request.story.id)}`,
      `Title: ${line(pen, request.story.title)}`,
      `Phase: ${request.phase}`,
      `Perspective: ${perspective}. Others look at the work from other sides; judge this one thoroughly.`,
    ),
    section("### Goal", instruction(pen, request.story.goal, pen.limits.goalChars, "the goal")),
    section("### Acceptance Criteria", criteriaList(pen, request.criteria)),
    section("### Files to Review", fileList(pen, request.filesModified)),
    request.readySignal === undefined
      ? ""
      : section("### What the Author Says of It", authorsMessage(pen, request.readySignal)),
    checkNotes(pen, request.notes),
    contestedTests(pen, request.contested),
    section(
      "### The Work",
      shownWork(
        pen,
        { text: request.product, ...(request.wholeAt === undefined ? {} : { wholeAt: request.wholeAt }) },
        `product of the ${request.phase} phase`,
      ),
    ),
    section("### Project Practices", practicesPart(pen, request.practices)),
    section("### Required Output", RESULT_FORM, nonceRequest(pen.nonce, "the JSON document")),
    "Begin review.",
  ])}\n`;
}

/** The placeholders are deliberately not JSON: a reviewer who repeats the form gives no verdict. */
const RESULT_FORM = [
  "End your message with one JSON document, and nothing after it but the nonce. Output format (JSON), indentation left out and every",
  "placeholder in angle brackets replaced:",
  "",
  ...indentLines([
    "{",
    '  "passed": <true or false>,',
    '  "issues": [',
    "    {",
    '      "severity": <"blocker", "critical", "major" or "minor">,',
    '      "category": <"security", "testing", "requirements", "design", …>,',
    '      "file": <path, or null>,',
    '      "line": <number, or null>,',
    '      "description": <what is wrong, and why it matters>,',
    '      "suggestedFix": <what to do about it>',
    "    }",
    "  ],",
    '  "criteria": [{"criterion": <its id>, "status": <"verified" or "failed">, "evidence": <what shows it>}],',
    '  "context": [<what you learned that the author does not know>]',
    "}",
  ]),
  "",
  "Say `passed: false` only with at least one issue that can be acted on. An issue names its place where it has one.",
  "`criteria` holds the acceptance criteria that you checked; leave it empty if none is yours to check.",
].join("\n");
