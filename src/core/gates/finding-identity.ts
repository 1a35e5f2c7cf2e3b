import { sha256 } from "../../stdx/sha256.ts";
import { type Fingerprint, fingerprint } from "../events/ids.ts";
import { type Finding, type FindingDraft, normalisedMessage } from "./finding.ts";

/**
 * Gives a finding its identity. The line is not part of it, because a fix above moves the line. The severity is not,
 * because a reviewer may grade the same problem differently the next time. Times, positions and folders in a message
 * are removed, because they change from run to run.
 */
export function identifyFinding(draft: FindingDraft): Finding {
  const place = [draft.file ?? "", draft.symbol ?? "", draft.criterion ?? ""];
  const text = normalisedMessage(draft.message);
  return { id: fingerprint(sha256([draft.category.toLowerCase(), ...place, text].join("\n")).slice(0, 16)), ...draft };
}

/** Computes the identity of a whole failure: the set of its findings, in any order. */
export function failureFingerprint(findings: readonly Finding[], summary: string): Fingerprint {
  const parts = findings.length > 0 ? [...new Set(findings.map((f) => f.id))].sort() : [normalisedMessage(summary)];
  return fingerprint(sha256(parts.join("\n")).slice(0, 16));
}
