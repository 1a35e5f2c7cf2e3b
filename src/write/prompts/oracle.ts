import type { OracleRequest } from "../../core/stories/prompt.ts";
import { evidenceList } from "../briefs/findings.ts";
import { bullets, evidenceFence, instruction, line, name, section, joinPieces } from "../briefs/brief-writer.ts";
import { indentLines } from "../briefs/report.ts";
import { criteriaList, diffFence, promptPen, start } from "./prompt-parts.ts";
import { nonceRequest } from "./signal-forms.ts";

/** S3.1: has the goal been reached? The oracle reads and runs; it writes nothing. */
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

/** Asked of the same oracle again, because its answer could not be read or gave no reason. */
export function writeOracleClarification(problems: readonly string[], options: { readonly nonce: string }): string {
  const pen = promptPen(options.nonce);
  return `${joinPieces([
    "Your verdict cannot be used as it is. A verdict that is not a pass names its reasons, each with file and line where it has one.",
    bullets(pen, problems, (problem) => line(pen, problem), { what: "problems" }),
    VERDICT_FORM,
    nonceRequest(options.nonce, "the document"),
  ])}\n`;
}

/** The placeholders are no JSON on purpose: the form, repeated by the oracle, must not be a verdict. */
const VERDICT_FORM = [
  "End your message with one JSON document; indentation left out, placeholders in angle brackets replaced:",
  "",
  ...indentLines([
    "{",
    '  "converged": <true or false>,',
    '  "conditionResults": [{ "type": <type>, "passed": <true or false>, "output": <what shows it> }],',
    '  "reasons": [<each reason why it has not converged, as file:line: reason where it has a place>],',
    '  "nextHint": <what the maker should do next>,',
    '  "confidence": <between 0 and 1>',
    "}",
  ]),
].join("\n");
