import { sha256 } from "../../stdx/sha256.ts";
import { type Fingerprint, fingerprint } from "../events/ids.ts";
import { type Finding, type FindingDraft, normalisedMessage } from "./finding.ts";

/**
 * Gives a finding its identity. The line is not part of it, because fixing what stands above moves it; the
 * severity is not, because a reviewer may weigh the same thing otherwise the next time; what a run leaves in a
 * message (times, positions, folders) is taken out for the same reason.
 */
export function identifyFinding(draft: FindingDraft): Finding {
  const place = [draft.file ?? "", draft.symbol ?? "", draft.criterion ?? ""];
  const text = normalisedMessage(draft.message);
  return { id: fingerprint(sha256([draft.category.toLowerCase(), ...place, text].join("\n")).slice(0, 16)), ...draft };
}

/** The identity of a whole failure: the set of its findings, whatever order they came in. */
export function failureFingerprint(findings: readonly Finding[], summary: string): Fingerprint {
  const parts = findings.length > 0 ? [...new Set(findings.map((f) => f.id))].sort() : [normalisedMessage(summary)];
  return fingerprint(sha256(parts.join("\n")).slice(0, 16));
}
