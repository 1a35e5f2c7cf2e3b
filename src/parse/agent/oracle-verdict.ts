import { oracleVerdictSchema } from "../../core/schemas/evidence.ts";
import { readEvidence, refusal, type EvidenceReading } from "../data/evidence.ts";

/** What the oracle (S3.1) says of one iteration. */
export interface OracleVerdict {
  /** `partial`: some of the conditions hold. Only `pass` ends the loop. */
  readonly verdict: "pass" | "fail" | "partial";
  readonly conditions: readonly { readonly type: string; readonly passed: boolean; readonly output: string }[];
  readonly reasons: readonly string[];
  readonly nextHint: string | null;
  readonly confidence: number | null;
}

export function readOracleVerdict(text: string): EvidenceReading<OracleVerdict> {
  return readEvidence(text, "oracle", oracleVerdictSchema, (document) => {
    const { converged, verdict: word } = document;
    if (converged == null && word == null) return refusal("converged: it is not said whether the goal is reached");
    if (converged != null && word != null && converged !== (word === "pass")) {
      return refusal(`verdict: "${word}" does not agree with converged: ${converged}`);
    }
    const conditions = (document.conditionResults ?? []).map(({ type, passed, output }) => ({
      type,
      passed,
      output: output ?? "",
    }));
    const verdict = word ?? (converged === true ? "pass" : "fail");
    const unmet = conditions.find(({ passed }) => !passed);
    if (verdict === "pass" && unmet !== undefined) {
      return refusal(`converged: it says so, and the condition ${unmet.type} does not hold`);
    }
    return {
      ok: true,
      value: {
        verdict,
        conditions,
        reasons: [...(document.reasons ?? []), ...(document.failReasons ?? [])],
        nextHint: document.nextHint ?? null,
        confidence: document.confidence ?? null,
      },
    };
  });
}
