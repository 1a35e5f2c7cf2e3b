export type Scalar = string | number | boolean | null;

/** How a text that stood there before was quoted: it is kept, so that a change of a value changes nothing else. */
export type Quotes = "as-needed" | "single" | "double";

/** A value on one line, quoted where YAML would otherwise read something else. It holds in flow lists too. */
export function yamlScalar(value: Scalar, quotes: Quotes = "as-needed"): string {
  if (typeof value === "number") return yamlNumber(value);
  if (typeof value !== "string") return String(value);
  if (quotes === "double" || NEEDS_ESCAPES.test(value)) return doubleQuoted(value);
  return quotes === "as-needed" && isPlain(value) ? value : `'${value.replaceAll("'", "''")}'`;
}

function yamlNumber(value: number): string {
  if (Number.isNaN(value)) return ".nan";
  if (!Number.isFinite(value)) return value > 0 ? ".inf" : "-.inf";
  return Object.is(value, -0) ? "-0" : String(value);
}

/** Words only: it is better to quote once too often than to guess at the rest of YAML's rules. */
const PLAIN = /^[\p{L}_/][\p{L}\p{N}_/ .()@+=-]*$/u;

/** `15m` begins with a digit, and is no number to anybody. */
const LENGTH_OF_TIME = /^\d+(?:ms|[smhd])$/;

/** Some reader of YAML takes these for something other than text. */
const RESERVED = new Set(["true", "false", "null", "yes", "no", "on", "off", "y", "n"]);

function isPlain(text: string): boolean {
  if (LENGTH_OF_TIME.test(text)) return true;
  return PLAIN.test(text) && !text.endsWith(" ") && !RESERVED.has(text.toLowerCase());
}

const NEEDS_ESCAPES = /[\p{Cc}\p{Cs}\u2028\u2029\ufeff\ufffe\uffff]/u;

/** JSON's form is YAML's, but for a few characters that JSON lets stand. */
function doubleQuoted(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
