import { parse } from "yaml";
import { readLenientJson } from "./lenient-json.ts";

/** A value out of text that should be JSON or YAML, or why there is none. */
export type DataResult =
  | { readonly ok: true; readonly value: unknown; /** The text ended before the value did. */ readonly cut: boolean }
  | { readonly ok: false; readonly problem: string };

/** Strict JSON where it is, repaired JSON where it nearly is. */
export function readJson(text: string): DataResult {
  try {
    return { ok: true, value: JSON.parse(text) as unknown, cut: false };
  } catch {
    const lenient = readLenientJson(text);
    return lenient.ok ? lenient : { ok: false, problem: "is not JSON, not even nearly" };
  }
}

/** The parser's time grows with the square of what is wrong in a text, so only a short one is given to it. */
const LONGEST_YAML = 8 * 1024;
const MOST_ALIASES = 20;

export function readShortYaml(text: string): DataResult {
  if (text.length > LONGEST_YAML) return { ok: false, problem: `is longer than ${LONGEST_YAML} characters of YAML` };
  if (mayBeDeep(text)) return { ok: false, problem: "is nested too deep for YAML" };
  try {
    return { ok: true, value: parse(text, { maxAliasCount: MOST_ALIASES, logLevel: "error" }) as unknown, cut: false };
  } catch {
    return { ok: false, problem: "is not YAML" };
  }
}

/** The parser calls itself once per level, and some engines die of a full stack instead of saying so. */
const MOST_BRACKETS = 200;
/** YAML nests by brackets, by indentation, and by markers one behind another on one line. */
const DEEPEST_INDENT = 200;
const MOST_MARKERS = 40;

function mayBeDeep(text: string): boolean {
  let indent = 0;
  let isIndent = true;
  let markers = 0;
  let brackets = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (char === "\n") {
      indent = markers = 0;
      isIndent = true;
      continue;
    }
    if (char !== " ") isIndent = false;
    if ((char === "{" || char === "[") && ++brackets > MOST_BRACKETS) return true;
    if (isIndent && ++indent > DEEPEST_INDENT) return true;
    if ("-?:".includes(char) && SPACES.includes(text[at + 1] ?? "\n") && ++markers > MOST_MARKERS) return true;
  }
  return false;
}

const SPACES = " \t\n";
