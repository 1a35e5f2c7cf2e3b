import { unknownReading, type Reading } from "../domain/reading.ts";
import type { ReadingResult, SignalRole } from "../domain/signal.ts";
import { readAgentText } from "./agent-text.ts";
import { readVerdictValue } from "./verdict-value.ts";

/** What an agent left: a value (structured output, or what it reported by a tool), and its last message. */
export interface GivenAnswer {
  readonly output: unknown;
  readonly text: string;
}

/**
 * What an agent's answer says. A value counts before the text; a text that plainly says something else beside it makes
 * both worth nothing.
 */
export function readAgentAnswer(
  { output, text }: GivenAnswer,
  expected: { readonly id: string; readonly role: SignalRole },
): Reading {
  const said = readAgentText(text, expected);
  const value = readVerdictValue(output);
  if (value === null || !isItsToSay(value.result, expected.role))
    return text.trim() === "" ? unknownReading("It said nothing.") : said;
  // As text it goes through every rule that a verdict in a message goes through: the id, the role, contradictions.
  const given = readAgentText(JSON.stringify(output), expected);
  if (given.result !== "unknown" && said.result !== "unknown" && said.result !== given.result) {
    return unknownReading(`Its structured answer says "${given.result}", and its message says "${said.result}".`);
  }
  return given;
}

/** A developer's program may leave data of its own that looks like a verdict, and is none. */
function isItsToSay(result: ReadingResult, role: SignalRole): boolean {
  return role !== "developer" || result === "ready" || result === "incomplete" || result === "blocked";
}
