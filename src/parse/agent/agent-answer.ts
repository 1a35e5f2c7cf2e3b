import {
  type Reading,
  type ReadingResult,
  SIGNALS,
  type SignalRole,
  unknownReading,
} from "../../core/stories/reading.ts";
import type { ScopeException } from "../../core/stories/scope.ts";
import { countText, plainText } from "../../stdx/plain-text.ts";
import { markdownLines } from "../../stdx/text-lines.ts";
import { readAgentText } from "./agent-text.ts";
import { readVerdictValue } from "./verdict-value.ts";
import { nextLine } from "./notable-lines.ts";
import { scanSignals } from "./signal-scan.ts";
import { takeFence, watchFences } from "./fences.ts";

/** The answer of an agent: a value (structured output, or a report by a tool), and its last message. */
export interface GivenAnswer {
  readonly output: unknown;
  readonly text: string;
}

/** Reads an agent's answer. The value counts before the text; if the text clearly contradicts it, neither counts. */
export function readAgentAnswer(
  { output, text }: GivenAnswer,
  expected: { readonly id: string; readonly role: SignalRole; readonly nonce?: string },
): Reading {
  const { id, role, nonce } = expected;
  const said = readAgentText(nonce === undefined ? text : withoutNonceLines(text, nonce), { id, role });
  const value = readVerdictValue(output);
  if (value === null || !isItsToSay(value.result, expected.role))
    return text.trim() === "" ? unknownReading("It said nothing.") : withNonce(said, text, expected);
  // As text, the value passes the same checks as a verdict in a message: the id, the role, contradictions.
  const given = readAgentText(JSON.stringify(output), { id, role });
  if (given.result !== "unknown" && said.result !== "unknown" && said.result !== given.result) {
    return unknownReading(`Its structured answer says "${given.result}", and its message says "${said.result}".`);
  }
  return given;
}

/** Requires the prompt's nonce, if there is one, of a verdict that only the message gives. */
function withNonce(
  said: Reading,
  text: string,
  { id, nonce }: { readonly id: string; readonly nonce?: string },
): Reading {
  if (nonce === undefined || said.result === "unknown") return said;
  const missing = missingNonce(text, said, { id, nonce });
  return missing === null ? said : unknownReading(...said.problems, missing);
}

/**
 * Whether a role may give this result. A developer's program may leave data that looks like a verdict but is not one.
 */
function isItsToSay(result: ReadingResult, role: SignalRole): boolean {
  return role !== "developer" || result === "ready" || result === "incomplete" || result === "blocked";
}

/**
 * Reads the lines `Scope exception: <file>: <reason>` of an agent's message. They are only claims: the rules decide
 * whether an exception counts, and git shows what changed.
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
 * Reads the section under a heading of an agent's message: everything after the first such heading outside code,
 * whatever its level and whatever headings follow, up to the signal that ends the message. Agents number and nest
 * headings in many ways, but the signal's form is fixed. `null` if there is no such heading, or nothing under it.
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

/**
 * Whether a title names the heading: `Research`, `Research: the payment service`, `1. Research` and `**Research**` all
 * do.
 */
function isNamed(title: string, heading: string): boolean {
  // Longer titles are cut, so that the patterns take time linear in their length.
  const bare = title
    .slice(0, 200)
    .replace(/^[\d.)\s*_`]+/, "")
    .replace(/[*_`\s]+$/, "")
    .toLowerCase();
  const name = heading.toLowerCase();
  return bare === name || (bare.startsWith(name) && /^[*_`]*\s*[:\u2013\u2014-]/.test(bare.slice(name.length)));
}

/** Longer than a person reads, and small enough for a repository. */
const MOST_CHARS = 200_000;

function capLength(product: string): string {
  if (product.length <= MOST_CHARS) return product;
  return `${product.slice(0, MOST_CHARS)}\n\n… ${countText(product.length - MOST_CHARS, "character")} left out …`;
}

/** Removes the lines that hold only the prompt's nonce. */
function withoutNonceLines(text: string, nonce: string): string {
  if (!text.includes(nonce)) return text;
  return text
    .split("\n")
    .filter((line) => !isNonce(line, nonce))
    .join("\n");
}

/**
 * Says why a message that was read as a verdict does not count; `null` if it does. A signal, or a verdict as data,
 * counts only with the prompt's nonce on the line after it, because text that a reviewer repeats from the work cannot
 * know the nonce. A rejection in plain words needs no nonce, because it cannot pass a gate.
 */
function missingNonce(text: string, reading: Reading, expected: { id: string; nonce: string }): string | null {
  const { nonce } = expected;
  if (reading.kind === "signal" && reading.signal !== null) {
    const end = scanSignals(text, expected.id).own.get(reading.signal)?.end ?? text.length;
    if (isNonce(text.slice(end, nextLine(text, end)), nonce)) return null;
    return `The line after ${reading.signal} is not the nonce of the prompt.`;
  }
  if (reading.kind !== "verdict") return null;
  const last = text.trimEnd();
  if (isNonce(last.slice(last.lastIndexOf("\n") + 1), nonce)) return null;
  return "The line after the verdict is not the nonce of the prompt.";
}

/** Removes the nonce from the last line of a message; `null` if the last line is not the nonce. */
export function withoutNonce(text: string, nonce: string): string | null {
  const last = text.trimEnd();
  const end = last.lastIndexOf("\n") + 1;
  return isNonce(last.slice(end), nonce) ? last.slice(0, end) : null;
}

/** Models often put the nonce in backticks. */
const isNonce = (line: string, nonce: string): boolean =>
  line.length < nonce.length + 40 &&
  plainText(line)
    .trim()
    .replace(/^`(.*)`$/, "$1") === nonce;

export interface FindingAnswer {
  readonly isAddressed: boolean;
  /** The evidence, or what is still wrong. */
  readonly reason: string;
}

/**
 * Reads the answers of a re-review: lines `<id>: ADDRESSED - …` and `<id>: NOT ADDRESSED - …`. Only ids that were asked
 * about count, and lines in quotes or code do not. An id with both answers is not addressed.
 */
export function readFindingAnswers(text: string, ids: readonly string[]): ReadonlyMap<string, FindingAnswer> {
  const asked = new Set(ids);
  const answers = new Map<string, FindingAnswer>();
  const fences = watchFences();
  for (const line of plainText(text.slice(-LONGEST_ANSWERS)).split("\n")) {
    if (takeFence(fences, line) || !fences.outside) continue;
    const [whole, id, not, word] = ANSWER.exec(line) ?? [];
    if (whole === undefined || id === undefined || !asked.has(id)) continue;
    const isAddressed = not === undefined && !/^(?:un|still|open)/i.test(word ?? "");
    if (answers.get(id)?.isAddressed === false) continue;
    const reason = line.slice(whole.length).replace(/^[\s*–—:-]+/, "");
    answers.set(id, { isAddressed, reason: reason.trim().slice(0, LONGEST_ANSWER_REASON) });
  }
  return answers;
}

const LONGEST_ANSWERS = 256 * 1024;
const LONGEST_ANSWER_REASON = 2000;

const ANSWER =
  /^ {0,3}(?:[-*•+] |\d{1,3}[.)] )?[`*[]{0,3}([0-9a-f]{16})[`*\]]{0,3}(?:\s*[:–—-]|\s)\s{0,3}\*{0,2}(NOT (?:YET )?)?(ADDRESSED|FIXED|RESOLVED|UNADDRESSED|UNRESOLVED|STILL PRESENT|OPEN)\b/i;

/** A finding that the author says is wrong. */
export interface ReadDispute {
  /** The finding's id, or its number in the author's list. */
  readonly about: string;
  readonly rationale: string;
}

/**
 * Reads the lines `Dispute: <finding>: <reason>` of an agent's message. They are only claims: a reviewer decides
 * whether the finding is upheld. A dispute without a reason does not count.
 */
export function readDisputes(text: string): ReadDispute[] {
  const disputes = new Map<string, ReadDispute>();
  for (const line of plainText(text.slice(-LONGEST_REPORT_READ)).split("\n")) {
    const [, about, rationale] = DISPUTE.exec(line) ?? [];
    if (about === undefined || rationale === undefined) continue;
    const key = about.toLowerCase();
    if (disputes.size < MOST_DISPUTES)
      disputes.set(key, { about: key, rationale: rationale.slice(0, LONGEST_RATIONALE) });
  }
  return [...disputes.values()];
}

const DISPUTE = /^(?:[-*] )?`?Dispute: (?:finding )?[`[#]{0,2}([0-9a-f]{16}|\d{1,3})[`\]]{0,2}: (\S.*?)`?\s*$/i;
const LONGEST_REPORT_READ = 100_000;
const LONGEST_RATIONALE = 2000;
const MOST_DISPUTES = 100;
