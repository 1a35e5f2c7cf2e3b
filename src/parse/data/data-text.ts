import { parse } from "yaml";

/** A value from text that should be JSON or YAML, or why there is none. */
export type DataResult =
  | { readonly ok: true; readonly value: unknown; /** The text ended before the value did. */ readonly cut: boolean }
  | { readonly ok: false; readonly problem: string };

/** Reads strict JSON, or repairs text that is nearly JSON. */
export function readJson(text: string): DataResult {
  try {
    return { ok: true, value: JSON.parse(text) as unknown, cut: false };
  } catch {
    const lenient = readLenientJson(text);
    return lenient.ok ? lenient : { ok: false, problem: "is not JSON, not even nearly" };
  }
}

/** The parser's time grows with the square of the errors in a text, so only short texts are parsed. */
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

/** The parser recurses once per level, and some engines crash with a full stack instead of throwing. */
const MOST_BRACKETS = 200;
/** YAML nests by brackets, by indentation, and by several markers on one line. */
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

/**
 * The value of text that is nearly JSON. The reader accepts what a person would: trailing and missing commas, comments,
 * single or curly quotes, keys without quotes, Python's words, line ends and quotes inside strings, a missing end. It
 * reads the text once and never goes back, so that no text can make it slow. (Libraries for this backtrack: 16 kB of
 * misplaced quotes kept one busy for 18 seconds.)
 */
export type LenientResult =
  | { readonly ok: true; readonly value: unknown; /** The text ended before the value did. */ readonly cut: boolean }
  | { readonly ok: false };

export function readLenientJson(text: string): LenientResult {
  const cursor: TextCursor = { text, at: 0, cut: false };
  const value = readValue(cursor, "array", 0);
  skip(cursor);
  if (value === FAILED || cursor.at < text.length) return { ok: false };
  return { ok: true, value, cut: cursor.cut };
}

interface TextCursor {
  readonly text: string;
  at: number;
  cut: boolean;
}

type Inside = "object" | "array";

const FAILED = Symbol("not nearly JSON");
const DEEPEST = 100;

function readValue(cursor: TextCursor, inside: Inside, depth: number): unknown {
  skip(cursor);
  const char = cursor.text[cursor.at];
  if (char === undefined) {
    cursor.cut = true;
    return null;
  }
  if (char === "{" || char === "[") {
    if (depth >= DEEPEST) return FAILED;
    cursor.at++;
    return char === "{" ? readObject(cursor, depth + 1) : readArray(cursor, depth + 1);
  }
  const close = CLOSING[char];
  return close === undefined ? readWord(cursor) : readString(cursor, close, inside);
}

function readObject(cursor: TextCursor, depth: number): unknown {
  // Without a prototype, so that no key has a special meaning.
  const object = Object.create(null) as Record<string, unknown>;
  for (;;) {
    skip(cursor, ",;");
    const char = cursor.text[cursor.at];
    if (char === undefined) cursor.cut = true;
    if (char === "}") cursor.at++;
    // A bracket that closes something else also closes this object, whose own brace is missing.
    if (char === undefined || char === "}" || char === "]") return object;
    const close = CLOSING[char];
    const key = close === undefined ? readKey(cursor) : readString(cursor, close, "key");
    skip(cursor);
    if (cursor.text[cursor.at] === ":") cursor.at++;
    else if (cursor.at < cursor.text.length) return FAILED;
    const value = readValue(cursor, "object", depth);
    if (value === FAILED || typeof key !== "string") return FAILED;
    object[key] = value;
  }
}

function readArray(cursor: TextCursor, depth: number): unknown {
  const items: unknown[] = [];
  for (;;) {
    skip(cursor, ",;");
    const char = cursor.text[cursor.at];
    if (char === undefined) cursor.cut = true;
    if (char === "]") cursor.at++;
    if (char === undefined || char === "]" || char === "}") return items;
    const value = readValue(cursor, "array", depth);
    if (value === FAILED) return FAILED;
    if (value !== "...") items.push(value);
  }
}

/** Skips white space, comments, and the characters of `also`. */
function skip(cursor: TextCursor, also = ""): void {
  const { text } = cursor;
  for (;;) {
    const char = text[cursor.at];
    if (char === undefined) return;
    if (WHITE.test(char) || also.includes(char)) cursor.at++;
    else if (text.startsWith("//", cursor.at)) cursor.at = endOf(text, "\n", cursor.at);
    else if (text.startsWith("/*", cursor.at)) cursor.at = endOf(text, "*/", cursor.at + 2);
    else return;
  }
}

function endOf(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at < 0 ? text.length : at + mark.length;
}

function readKey(cursor: TextCursor): unknown {
  KEY.lastIndex = cursor.at;
  const key = KEY.exec(cursor.text)?.[0];
  if (key === undefined) return FAILED;
  cursor.at += key.length;
  return key;
}

function readWord(cursor: TextCursor): unknown {
  WORD.lastIndex = cursor.at;
  const found = WORD.exec(cursor.text)?.[0];
  if (found === undefined) return FAILED;
  cursor.at += found.length;
  const word = found.trim();
  if (Object.hasOwn(WORDS, word)) return WORDS[word];
  return NUMBER.test(word) ? Number(word) : word;
}

function readString(cursor: TextCursor, close: string, inside: Inside | "key"): string {
  const { text } = cursor;
  const parts: string[] = [];
  let from = ++cursor.at;
  for (; cursor.at < text.length; cursor.at++) {
    const char = text[cursor.at]!;
    if (char === "\\") {
      const [meaning, length] = escapeAt(text, cursor.at);
      parts.push(text.slice(from, cursor.at), meaning);
      cursor.at += length - 1;
      from = cursor.at + 1;
    } else if (close.includes(char) && endsString(text, cursor.at + 1, inside)) {
      parts.push(text.slice(from, cursor.at++));
      return parts.join("");
    }
  }
  cursor.cut = true;
  parts.push(text.slice(from));
  return parts.join("");
}

/** Whether the quote before `from` ends the string; otherwise its escape is missing. */
function endsString(text: string, from: number, inside: Inside | "key"): boolean {
  const rest = text.slice(from, from + LOOK_AHEAD);
  return (inside === "key" ? AFTER_KEY : inside === "object" ? AFTER_MEMBER : AFTER_ITEM).test(rest);
}

const LOOK_AHEAD = 80;
const AFTER_KEY = /^\s*(?::|$)/;
const AFTER_MEMBER = /^\s*(?:[}\]]|\/[/*]|$|[,;]\s*(?:["'“”‘’`}\]]|\/[/*]|$|[\w$-]+\s*:)|\n\s*["'“”‘’`])/;
const AFTER_ITEM =
  /^\s*(?:[}\]]|\/[/*]|$|[,;]\s*(?:["'“”‘’`{}[\]\d]|\/[/*]|-\d|$|\.\.\.|(?:true|false|null|True|False|None)\b)|\n\s*["'“”‘’`])/;

function escapeAt(text: string, at: number): readonly [meaning: string, length: number] {
  const char = text[at + 1] ?? "";
  const hex = char === "u" ? /^[0-9a-fA-F]{4}/.exec(text.slice(at + 2, at + 6))?.[0] : undefined;
  if (hex !== undefined) return [String.fromCharCode(Number.parseInt(hex, 16)), 6];
  // A backslash that escapes nothing is meant literally, as in Windows paths.
  return [ESCAPES.get(char) ?? `\\${char}`, 2];
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["r", "\r"],
  ["b", "\b"],
  ["f", "\f"],
  ...[..."\"'`/\\"].map((char) => [char, char] as const),
]);
/** What closes a string, by its opening quote. */
const CLOSING: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  "`": "`",
  "“": "”“",
  "”": "”",
  "‘": "’‘",
  "’": "’",
};
const WORDS: Readonly<Record<string, unknown>> = {
  true: true,
  True: true,
  TRUE: true,
  false: false,
  False: false,
  FALSE: false,
  null: null,
  None: null,
  undefined: null,
};
const NUMBER = /^-?\d{1,15}(?:\.\d{1,15})?$/;
const WHITE = /\s/;
const KEY = /[\w$.-]+/y;
/** Up to the end of a value. A comment needs white space before it, because a URL has two slashes too. */
const WORD = /(?:[^,;{}[\]\n"/]|(?<!\s)\/|\/(?![/*]))+/y;
