import { contestedWords } from "../../core/gates/contested-test.ts";
import type { AdjudicationRequest, ShownContested } from "../../core/stories/prompt.ts";
import { groupDigits } from "../untrusted-text.ts";
import {
  type BriefWriter,
  type BriefPiece,
  bullets,
  evidenceFence,
  line,
  name,
  path,
  restOf,
  section,
  joinPieces,
} from "../briefs/brief-writer.ts";
import { evidenceList, issueLine } from "../briefs/findings.ts";
import { promptPen, start } from "./prompt-parts.ts";
import { reviewForms } from "./signal-forms.ts";

/** The existing tests that the work changed, in both versions, and the request for a ruling on each by name. */
export function contestedTests(pen: BriefWriter, contested: readonly ShownContested[] = []): BriefPiece {
  if (contested.length === 0) return "";
  return section(
    "### Contested Tests",
    "These tests passed before. In their earlier versions they do not pass with the work: the work changed or removed them. Of a test that passes with planted faults it is not known whether it can fail at all: look for code that keeps it from failing.",
    bullets(pen, contested, (each) => `${line(pen, each.test)}: ${contestedWords(each)}`, { what: "tests" }),
    versions(pen, contested),
    "Rule on each of them by its name: is the change to the test right according to the story? A test that was weakened, removed or fitted to the work without need is an issue, with the test's name and file. If you pass the work, the changed tests are accepted.",
  );
}

/** Each file once, however many of its tests are contested: `-` is the earlier version, `+` the work's. */
function versions(pen: BriefWriter, contested: readonly ShownContested[]): BriefPiece {
  const diffs = new Map(
    contested.flatMap((each) => (each.file === undefined || each.diff === undefined ? [] : [[each.file, each]])),
  );
  const shown = [...diffs].slice(0, MOST_FILES);
  return joinPieces([
    ...shown.map(([file, { diff = "", isOfStory }]) => {
      const before = isOfStory === true ? "version passed earlier" : "base version";
      return evidenceFence(pen, cut(diff), `${path(pen, file)}: - ${before}, + version of the work`);
    }),
    ...restOf(pen, diffs.size - shown.length, "files"),
  ]);
}

const MOST_FILES = 10;
const MOST_LINES = 200;

function cut(diff: string): string {
  const lines = diff.trimEnd().split("\n");
  if (lines.length <= MOST_LINES) return diff.trimEnd();
  return [
    ...lines.slice(0, MOST_LINES),
    `… ${groupDigits(lines.length - MOST_LINES)} more lines of this file left out …`,
  ].join("\n");
}

/**
 * The prompt of a reviewer who neither raised the finding nor wrote the code, and decides whether the finding stands.
 */
export function writeAdjudicationPrompt(request: AdjudicationRequest, options: { readonly nonce: string }): string {
  const pen = promptPen(options.nonce);
  const id = name(pen, request.story.id);
  return `${joinPieces([
    start(
      pen,
      request.rolePrompt,
      "## Adjudication Assignment",
      `Task ID: ${id}`,
      `Title: ${line(pen, request.story.title)}`,
    ),
    "A finding is disputed. Decide about this finding alone, from the code and the evidence, not from who said what.",
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
      reviewForms(id, pen.nonce),
    ),
    "Begin adjudication.",
  ])}\n`;
}
