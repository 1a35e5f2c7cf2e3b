import type { OracleRequest } from "../../core/stories/prompt.ts";
import { evidenceList } from "../briefs/findings.ts";
import { bullets, evidenceFence, instruction, line, name, section, joinPieces } from "../briefs/brief-writer.ts";
import { indentLines } from "../briefs/report.ts";
import { promptPen, start } from "./prompt-parts.ts";

/** S3.1: has the goal been reached? The oracle reads and runs; it writes nothing. */
export function writeOraclePrompt(request: OracleRequest, options: { readonly nonce: string }): string {
  const pen = promptPen(options.nonce);
  return `${joinPieces([
    start(pen, request.rolePrompt, "## Oracle Assignment", `Iteration: ${request.iteration} of ${request.iterations}`),
    section("### Goal", instruction(pen, request.goal, pen.limits.goalChars, "the goal")),
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
      "### Instructions",
      "Judge each condition by evidence, not by what the maker says. Change nothing. If you cannot tell, it has not converged.",
    ),
    section("### Required Output", VERDICT_FORM),
    "Begin.",
  ])}\n`;
}

/** The placeholders are no JSON on purpose: the form, repeated by the oracle, must not be a verdict. */
const VERDICT_FORM = [
  "End your message with one JSON document and nothing after it; indentation left out, placeholders in angle brackets replaced:",
  "",
  ...indentLines([
    "{",
    '  "converged": <true or false>,',
    '  "conditionResults": [{ "type": <type>, "command": <command>, "passed": <true or false>, "evidence": <what shows it> }],',
    '  "reasons": [<each reason why it has not converged>],',
    '  "nextHint": <what the maker should do next>,',
    '  "confidence": <between 0 and 1>',
    "}",
  ]),
].join("\n");
