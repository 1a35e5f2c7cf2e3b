import type { PerspectiveRequest } from "../../domain/prompt.ts";
import { fileList } from "../briefs/evidence.ts";
import { instruction, line, name, section, together } from "../briefs/pen.ts";
import { indented } from "../briefs/report.ts";
import { contestedTests } from "./contested.ts";
import { authorsMessage, checkNotes, criteriaList, practicesPart, promptPen, shownWork, start } from "./sheet.ts";

/** S4: one view of the work (code, security, product owner), answered as JSON. */
export function writePerspectivePrompt(request: PerspectiveRequest, options: { readonly nonce: string }): string {
  const pen = promptPen(options.nonce);
  const perspective = name(pen, request.perspective);
  return `${together([
    start(
      pen,
      request.rolePrompt,
      `## Review Assignment: ${perspective}`,
      `Task ID: ${name(pen, request.story.id)}`,
      `Title: ${line(pen, request.story.title)}`,
      `Phase: ${request.phase}`,
      `Perspective: ${perspective}. Others look at the work from other sides; judge this one thoroughly.`,
    ),
    section("### Goal", instruction(pen, request.story.goal, pen.room.goalChars, "the goal")),
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
    section("### Required Output", RESULT_FORM),
    "Begin review.",
  ])}\n`;
}

/** The placeholders are no JSON on purpose: the form, repeated by a reviewer, must not be a verdict. */
const RESULT_FORM = [
  "End your message with one JSON document and nothing after it. Output format (JSON), indentation left out and every",
  "placeholder in angle brackets replaced:",
  "",
  ...indented([
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
    '  "context": [<what you learned that the author does not know>]',
    "}",
  ]),
  "",
  "Say `passed: false` only with at least one issue that can be acted on. An issue names its place where it has one.",
].join("\n");
