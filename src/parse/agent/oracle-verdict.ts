import { oracleVerdictSchema } from "../../core/schemas/reading.ts";
import { issueText } from "../../core/schemas/issue-text.ts";
import { plainText } from "../../stdx/plain-text.ts";
import { isRecord } from "../../stdx/assert.ts";
import { type DataResult, readJson, readShortYaml } from "../data/data-text.ts";
import { findJsonBlocks } from "./fences.ts";

/** The oracle's verdict (S3.1) on one iteration. */
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
    if (converged == null && word == null) return refusal("converged is missing");
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

/** The value that was read, or all reasons why it could not be read. */
type EvidenceReading<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Reads a document that one of the sources' tools wrote: JSON alone, JSON in prose, or YAML; possibly under a key with
 * the document's own name (`CI_RESULT: …`). `meaning` then interprets it.
 */
function readEvidence<D, T>(
  text: string,
  name: string,
  schema: Schema<D>,
  meaning: (document: D) => EvidenceReading<T>,
): EvidenceReading<T> {
  if (text.length > LONGEST) return refusal(`The document is longer than ${LONGEST} characters.`);
  const data = dataOf(plainText(text), name);
  if (!data.ok) return refusal(`The document ${data.problem}.`);
  if (data.cut) return refusal("The document has no end.");
  const { value } = data;
  const named = isRecord(value) && Object.hasOwn(value, name) ? value[name] : value;
  const parsed = schema.safeParse(named);
  if (!parsed.success) return refusal(...parsed.error.issues.slice(0, MOST_PROBLEMS).map(issueText));
  return meaning(parsed.data);
}

/** The part of a schema's interface that is needed here. */
interface Schema<D> {
  safeParse(
    value: unknown,
  ):
    | { readonly success: true; readonly data: D }
    | { readonly success: false; readonly error: { readonly issues: readonly Parameters<typeof issueText>[0][] } };
}

function refusal(...problems: readonly string[]): { ok: false; problems: readonly string[] } {
  return { ok: false, problems };
}

const LONGEST = 8 * 1024 * 1024;
const MOST_PROBLEMS = 20;

function dataOf(text: string, name: string): DataResult {
  const whole = text.trim();
  if (whole.startsWith("{")) return readJson(whole);
  // A name alone on the first line, with unindented fields below it, is a heading and not a key.
  const isHeading = whole.startsWith(`${name}:\n`) && !/^\S+\n\s/.test(whole);
  const yaml = readShortYaml(isHeading ? whole.slice(name.length + 2) : whole);
  if (yaml.ok && isRecord(yaml.value)) return yaml;
  const block = findJsonBlocks(whole, () => true, 1).at(-1);
  return block === undefined ? yaml : readJson(block.text);
}
