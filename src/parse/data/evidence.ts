import { issueText } from "../../core/schemas/issue-text.ts";
import { plainText } from "../../stdx/plain-text.ts";
import { isRecord } from "../../stdx/assert.ts";
import { findJsonBlocks } from "../agent/fences.ts";
import { type DataResult, readJson, readShortYaml } from "./data-text.ts";

/** What was read, or every reason why not. */
export type EvidenceReading<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Reads a document that one of the sources' tools wrote: JSON by itself, JSON among words, or YAML; under a key with
 * the document's own name, if it has one (`CI_RESULT: …`). What it means is then up to the one reader it is given to.
 */
export function readEvidence<D, T>(
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

/** As much of a schema as is needed here. */
interface Schema<D> {
  safeParse(
    value: unknown,
  ):
    | { readonly success: true; readonly data: D }
    | { readonly success: false; readonly error: { readonly issues: readonly Parameters<typeof issueText>[0][] } };
}

export function refusal(...problems: readonly string[]): { ok: false; problems: readonly string[] } {
  return { ok: false, problems };
}

const LONGEST = 8 * 1024 * 1024;
const MOST_PROBLEMS = 20;

function dataOf(text: string, name: string): DataResult {
  const whole = text.trim();
  if (whole.startsWith("{")) return readJson(whole);
  // A name alone on the first line, with the fields below it not indented, is a heading and not a key.
  const isHeading = whole.startsWith(`${name}:\n`) && !/^\S+\n\s/.test(whole);
  const yaml = readShortYaml(isHeading ? whole.slice(name.length + 2) : whole);
  if (yaml.ok && isRecord(yaml.value)) return yaml;
  const block = findJsonBlocks(whole, () => true, 1).at(-1);
  return block === undefined ? yaml : readJson(block.text);
}
