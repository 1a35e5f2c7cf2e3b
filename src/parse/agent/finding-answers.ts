import { plainText } from "../../stdx/plain-text.ts";
import { takeFence, watchFences } from "./fences.ts";

export interface FindingAnswer {
  readonly isAddressed: boolean;
  /** What shows it, or what is still wrong. */
  readonly reason: string;
}

/**
 * What a second review says of the findings of the first: lines `<id>: ADDRESSED - …` and `<id>: NOT ADDRESSED - …`.
 * Only ids that were asked about count, and nothing in quotes or code does. Where one id has both answers, it is not
 * addressed.
 */
export function readFindingAnswers(text: string, ids: readonly string[]): ReadonlyMap<string, FindingAnswer> {
  const asked = new Set(ids);
  const answers = new Map<string, FindingAnswer>();
  const fences = watchFences();
  for (const line of plainText(text.slice(-LONGEST_READ)).split("\n")) {
    if (takeFence(fences, line) || !fences.outside) continue;
    const [whole, id, not, word] = ANSWER.exec(line) ?? [];
    if (whole === undefined || id === undefined || !asked.has(id)) continue;
    const isAddressed = not === undefined && !/^(?:un|still|open)/i.test(word ?? "");
    if (answers.get(id)?.isAddressed === false) continue;
    const reason = line.slice(whole.length).replace(/^[\s*–—:-]+/, "");
    answers.set(id, { isAddressed, reason: reason.trim().slice(0, LONGEST_REASON) });
  }
  return answers;
}

const LONGEST_READ = 256 * 1024;
const LONGEST_REASON = 2000;

const ANSWER =
  /^ {0,3}(?:[-*•+] |\d{1,3}[.)] )?[`*[]{0,3}([0-9a-f]{16})[`*\]]{0,3}(?:\s*[:–—-]|\s)\s{0,3}\*{0,2}(NOT (?:YET )?)?(ADDRESSED|FIXED|RESOLVED|UNADDRESSED|UNRESOLVED|STILL PRESENT|OPEN)\b/i;

/** An author says that a finding is wrong. */
export interface ReadDispute {
  /** The finding's id, or its number in the list that the author was given. */
  readonly about: string;
  readonly rationale: string;
}

/**
 * The lines `Dispute: <finding>: <reason>` of an agent's message. They only say what the agent holds: whether the
 * finding stands is for a reviewer to decide. A dispute without a reason is none.
 */
export function readDisputes(text: string): ReadDispute[] {
  const disputes = new Map<string, ReadDispute>();
  for (const line of plainText(text.slice(-LONGEST_REPORT_READ)).split("\n")) {
    const [, about, rationale] = DISPUTE.exec(line) ?? [];
    if (about === undefined || rationale === undefined) continue;
    const key = about.toLowerCase();
    if (disputes.size < MOST) disputes.set(key, { about: key, rationale: rationale.slice(0, LONGEST_RATIONALE) });
  }
  return [...disputes.values()];
}

const DISPUTE = /^(?:[-*] )?`?Dispute: (?:finding )?[`[#]{0,2}([0-9a-f]{16}|\d{1,3})[`\]]{0,2}: (\S.*?)`?\s*$/i;
const LONGEST_REPORT_READ = 100_000;
const LONGEST_RATIONALE = 2000;
const MOST = 100;
