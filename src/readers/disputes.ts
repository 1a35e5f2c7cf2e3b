import { plainText } from "../stdx/plain-text.ts";

/** An author says that a finding is wrong. */
export interface ReadDispute {
  /** The finding's id, or its number in the list that the author was given. */
  readonly about: string;
  readonly rationale: string;
}

/**
 * The lines `Dispute: <finding>: <reason>` of an agent's message. They only say what the agent holds: whether the
 * finding stands is for somebody else. A dispute without a reason is none.
 */
export function readDisputes(text: string): ReadDispute[] {
  const disputes = new Map<string, ReadDispute>();
  for (const line of plainText(text.slice(-LONGEST_READ)).split("\n")) {
    const [, about, rationale] = DISPUTE.exec(line) ?? [];
    if (about === undefined || rationale === undefined) continue;
    const key = about.toLowerCase();
    if (disputes.size < MOST) disputes.set(key, { about: key, rationale: rationale.slice(0, LONGEST_REASON) });
  }
  return [...disputes.values()];
}

const DISPUTE = /^(?:[-*] )?`?Dispute: (?:finding )?[`[#]{0,2}([0-9a-f]{16}|\d{1,3})[`\]]{0,2}: (\S.*?)`?\s*$/i;
const LONGEST_READ = 100_000;
const LONGEST_REASON = 2000;
const MOST = 100;
