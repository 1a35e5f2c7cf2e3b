import type { AuditorRequest, OracleRequest } from "../../core/stories/prompt.ts";
import { fileList, issueLine, evidenceList } from "../briefs/findings.ts";
import { byText } from "../../stdx/sorted-map.ts";
import { worstFirst } from "../briefs/parts.ts";
import {
  type BriefWriter,
  type BriefPiece,
  bullets,
  line,
  name,
  section,
  joinPieces,
  evidenceFence,
  instruction,
} from "../briefs/brief-writer.ts";
import { indentLines } from "../briefs/report.ts";
import { contestedTests } from "./contested.ts";
import { checkNotes, commandList, criteriaList, promptPen, shownWork, start, diffFence } from "./prompt-parts.ts";
import { auditForms, nonceRequest } from "./signal-forms.ts";

/** S2.25: the auditor verifies each criterion by its own runs. */
export function writeAuditorPrompt(request: AuditorRequest, options: { readonly nonce: string }): string {
  const pen = promptPen(options.nonce);
  const id = name(pen, request.story.id);
  return `${joinPieces([
    start(pen, request.rolePrompt, "## Audit Assignment", `Task ID: ${id}`, `Title: ${line(pen, request.story.title)}`),
    section("### Acceptance Criteria", criteriaList(pen, request.criteria)),
    section(
      "### Files to Verify",
      fileList(pen, request.filesModified),
      request.wholeAt === undefined ? "" : `The whole of the work: \`${line(pen, request.wholeAt)}\``,
    ),
    section(
      "### The Work",
      request.work === undefined ? "" : shownWork(pen, { text: request.work }, "diff of the work"),
    ),
    section(
      "### What the Audit Before Found",
      bullets(pen, worstFirst(request.earlier ?? []), (finding) => issueLine(finding, pen), { what: "findings" }),
    ),
    section("### Critic Assessment (PASSED)", assessment(request, pen)),
    section(
      "### Verification Commands",
      commandList(pen, request.commands),
      request.work === undefined
        ? "Run each of them yourself, in every environment it is listed for. What the developer says he ran is no evidence."
        : "You can run none of them: go by what the engine ran, and by the work. What the developer says he ran is no evidence.",
    ),
    section("### What the Engine Ran on This Tree", runsOf(request, pen)),
    checkNotes(pen, request.notes),
    contestedTests(pen, request.contested),
    section(
      "### Required Output Signal",
      [
        "You MUST end your audit with one of these, at the very start of a line, outside quotes and code:",
        `- \`AUDIT_PASSED: ${id}\` - if all acceptance criteria are verified`,
        `- \`AUDIT_FAILED: ${id}\` - if criteria are not met`,
        `- \`AUDIT_BLOCKED: ${id}\` - if infrastructure was broken before this work and keeps you from judging it`,
      ].join("\n"),
      auditForms(id, pen.nonce),
    ),
    "Begin audit.",
  ])}\n`;
}

/** The runs of the checks with exit codes, as evidence for an auditor that may not run commands. */
function runsOf({ runs = [] }: AuditorRequest, pen: BriefWriter): BriefPiece {
  const list = bullets(
    pen,
    runs,
    ({ command, environment, result, details }) =>
      `\`${line(pen, command)}\` (${name(pen, environment)}): ${result.toUpperCase()} - ${line(pen, details)}`,
    { what: "runs" },
  );
  return list === ""
    ? ""
    : joinPieces([list, `These results stand. ${shows(runs)}, and not yet that a criterion holds.`]);
}

/** States what the runs show. A command that fails only for known reasons passes, but its exit code is not 0. */
function shows(runs: NonNullable<AuditorRequest["runs"]>): string {
  const red = runs.filter(({ result, exitCode }) => result === "pass" && exitCode !== null && exitCode !== 0);
  if (red.length === 0) return "They show that the commands pass";
  return `${red.map(({ check, exitCode }) => `${check} exits with ${exitCode}`).join(", ")}: nothing fails there but what is listed. They show no other failure`;
}

/** The reviewers' assessment, sorted by name, so that the order of the object's keys does not matter. */
function assessment(request: AuditorRequest, pen: BriefWriter): BriefPiece {
  const aspects = Object.entries(request.quality).sort(([a], [b]) => byText(a, b));
  const list = bullets(pen, aspects, ([aspect, verdict]) => `${name(pen, aspect)}: ${line(pen, verdict)}`, {
    what: "aspects",
  });
  const summary = request.criticSummary === "" ? "" : `Summary: ${line(pen, request.criticSummary)}`;
  return joinPieces([list, summary]) || "- the critic passed it without particulars";
}

/** S3.1: whether the goal has been reached. The oracle reads and runs; it writes nothing. */
export function writeOraclePrompt(request: OracleRequest, options: { readonly nonce: string }): string {
  const pen = promptPen(options.nonce);
  return `${joinPieces([
    start(pen, request.rolePrompt, "## Oracle Assignment"),
    section("### Goal", instruction(pen, request.goal, pen.limits.goalChars, "the goal")),
    section("### Acceptance Criteria", criteriaList(pen, request.criteria)),
    section(
      "### Stopping Conditions",
      bullets(
        pen,
        request.conditions,
        ({ type, command, threshold }) =>
          `${name(pen, type)}: \`${line(pen, command)}\`${threshold === undefined ? "" : ` (at least ${threshold})`}`,
        { what: "conditions" },
      ),
    ),
    section(
      "### What the Maker Says",
      request.makerSummary === "" ? "" : evidenceFence(pen, request.makerSummary, "the maker's summary"),
    ),
    section("### Evidence", evidenceList(pen, request.evidence)),
    section(
      "### The Work",
      request.work === undefined
        ? `\`${line(pen, request.wholeAt ?? "git diff")}\` shows it.`
        : diffFence(pen, request.work, "the diff"),
    ),
    section(
      "### Instructions",
      "Judge each condition by evidence, not by what the maker says. Change nothing. If you cannot tell, it has not converged.",
    ),
    section("### Required Output", joinPieces([VERDICT_FORM, nonceRequest(options.nonce, "the document")])),
    "Begin.",
  ])}\n`;
}

/** Sent to the same oracle again, because its answer could not be parsed or gave no reason. */
export function writeOracleClarification(problems: readonly string[], options: { readonly nonce: string }): string {
  const pen = promptPen(options.nonce);
  return `${joinPieces([
    "Your verdict cannot be used as it is. A verdict that is not a pass names its reasons, each with file and line where it has one.",
    bullets(pen, problems, (problem) => line(pen, problem), { what: "problems" }),
    VERDICT_FORM,
    nonceRequest(options.nonce, "the document"),
  ])}\n`;
}

/** The placeholders are deliberately not JSON: an oracle that repeats the form gives no verdict. */
const VERDICT_FORM = [
  "End your message with one JSON document; indentation left out, placeholders in angle brackets replaced:",
  "",
  ...indentLines([
    "{",
    '  "converged": <true or false>,',
    '  "conditionResults": [{ "type": <of the condition, or id of a criterion>, "passed": <true or false>, "output": <what shows it> }],',
    '  "reasons": [<each reason why it has not converged, as file:line: reason where it has a place>],',
    '  "nextHint": <what the maker should do next>,',
    '  "confidence": <between 0 and 1>',
    "}",
  ]),
].join("\n");
