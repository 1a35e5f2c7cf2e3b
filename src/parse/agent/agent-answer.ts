import { type Reading, unknownReading } from "../../core/stories/reading.ts";
import { type ReadingResult, SIGNALS, type SignalRole } from "../../core/stories/signal.ts";
import type { ScopeException } from "../../core/stories/scope.ts";
import { countText, plainText } from "../../stdx/plain-text.ts";
import { markdownLines } from "../../stdx/markdown-lines.ts";
import { missingNonce, withoutNonceLines } from "./nonce-line.ts";
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
  expected: { readonly id: string; readonly role: SignalRole; readonly nonce?: string },
): Reading {
  const { id, role, nonce } = expected;
  const said = readAgentText(nonce === undefined ? text : withoutNonceLines(text, nonce), { id, role });
  const value = readVerdictValue(output);
  if (value === null || !isItsToSay(value.result, expected.role))
    return text.trim() === "" ? unknownReading("It said nothing.") : withNonce(said, text, expected);
  // As text it goes through every rule that a verdict in a message goes through: the id, the role, contradictions.
  const given = readAgentText(JSON.stringify(output), { id, role });
  if (given.result !== "unknown" && said.result !== "unknown" && said.result !== given.result) {
    return unknownReading(`Its structured answer says "${given.result}", and its message says "${said.result}".`);
  }
  return given;
}

/** A verdict that is a message alone must carry the prompt's nonce, where there is one. */
function withNonce(
  said: Reading,
  text: string,
  { id, nonce }: { readonly id: string; readonly nonce?: string },
): Reading {
  if (nonce === undefined || said.result === "unknown") return said;
  const missing = missingNonce(text, said, { id, nonce });
  return missing === null ? said : unknownReading(...said.problems, missing);
}

/** A developer's program may leave data of its own that looks like a verdict, and is none. */
function isItsToSay(result: ReadingResult, role: SignalRole): boolean {
  return role !== "developer" || result === "ready" || result === "incomplete" || result === "blocked";
}

/**
 * The lines `Scope exception: <file>: <reason>` of an agent's message. They only say what the agent claims: whether
 * an exception is granted is for the rules, and what was changed is asked of git.
 */
export function readScopeExceptions(text: string): ScopeException[] {
  const exceptions = new Map<string, ScopeException>();
  for (const line of plainText(text.slice(-LONGEST_READ)).split("\n")) {
    const [, path, rationale] = EXCEPTION.exec(line) ?? [];
    if (path === undefined || rationale === undefined) continue;
    if (exceptions.size < MOST) exceptions.set(path, { path, rationale: rationale.slice(0, LONGEST_REASON) });
  }
  return [...exceptions.values()];
}

const EXCEPTION = /^(?:[-*] )?`?Scope exception: `?([^\s:`][^:`]{0,500})`?: (\S.*?)`?\s*$/i;
const LONGEST_READ = 100_000;
const LONGEST_REASON = 1000;
const MOST = 100;

/**
 * What an agent's message says under this heading: everything behind the first such heading outside code, whatever
 * its level and whatever headings follow, up to the signal that ends the message. Agents number and nest their headings
 * as they like; the signal is the one line whose form is fixed. `null` where there is no such heading, or nothing under it.
 */
export function readPhaseProduct(message: string, heading: string): string | null {
  const text = plainText(message);
  let start = -1;
  let end = text.length;
  for (const line of markdownLines(text)) {
    if (start < 0) {
      if (line.kind === "heading" && isNamed(line.title, heading)) start = line.end;
    } else if (line.kind === "text" && SIGNAL_LINE.test(line.text)) {
      end = line.start;
      break;
    }
  }
  const product = start < 0 ? "" : text.slice(start, end).trim();
  return product === "" ? null : capLength(product);
}

const SIGNAL_LINE = new RegExp(`^(?:${SIGNALS.join("|")})(?![\\w])`);

/** `Research`, `Research: the payment service`, `1. Research` and `**Research**` are all the section that was asked for. */
function isNamed(title: string, heading: string): boolean {
  // A heading is short; what is longer is cut, so that no run of marks can cost more than its own length.
  const bare = title
    .slice(0, 200)
    .replace(/^[\d.)\s*_`]+/, "")
    .replace(/[*_`\s]+$/, "")
    .toLowerCase();
  const name = heading.toLowerCase();
  return bare === name || (bare.startsWith(name) && /^[*_`]*\s*[:\u2013\u2014-]/.test(bare.slice(name.length)));
}

/** Longer than a person reads, and small enough to keep in a repository. */
const MOST_CHARS = 200_000;

function capLength(product: string): string {
  if (product.length <= MOST_CHARS) return product;
  return `${product.slice(0, MOST_CHARS)}\n\n… ${countText(product.length - MOST_CHARS, "character")} left out …`;
}
