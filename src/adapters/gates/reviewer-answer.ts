import { unknownReading, type Reading } from "../../domain/reading.ts";
import type { AgentResult } from "../../ports/agent.ts";
import { readAgentText } from "../../readers/agent-text.ts";
import { readVerdictValue } from "../../readers/verdict-value.ts";

/**
 * What a reviewer's answer says. Structured output is what it was asked for and counts before the text; a text that
 * plainly says something else beside it makes both worth nothing.
 */
export function readAnswer(
  { output, text }: AgentResult,
  expected: { readonly id: string; readonly role: "critic" | "auditor" },
): Reading {
  const said = readAgentText(text, expected);
  if (readVerdictValue(output) === null) return text.trim() === "" ? unknownReading("It said nothing.") : said;
  // As text it goes through every rule that a verdict in a message goes through: the id, the role, contradictions.
  const given = readAgentText(JSON.stringify(output), expected);
  if (given.result !== "unknown" && said.result !== "unknown" && said.result !== given.result) {
    return unknownReading(`Its structured answer says "${given.result}", and its message says "${said.result}".`);
  }
  return given;
}

/** Everything it said, for whoever wants to read it. */
export function wordsOf({ output, text }: AgentResult): string {
  const data = output === null || output === undefined ? "" : JSON.stringify(output, null, 2);
  return [text.trimEnd(), data].filter((part) => part !== "").join("\n\n");
}
