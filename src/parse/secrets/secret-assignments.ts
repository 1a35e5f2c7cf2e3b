import { endOfRun, type Secret } from "./secret-literals.ts";

/**
 * Finds secrets by what precedes them: the name that they are assigned to, an Authorization header, the position of a
 * password in a URL. Code has many such names without secrets, so the value is checked too.
 */
export function findAssignments(text: string): Secret[] {
  return findForms(text, FORMS);
}

/** Finds only passwords in URLs, which their position alone identifies. */
export function findUrlPasswords(text: string): Secret[] {
  return findForms(text, [ADDRESS]);
}

function findForms(text: string, forms: readonly AssignmentForm[]): Secret[] {
  const secrets: Secret[] = [];
  for (const { pattern, read } of forms) {
    const next = new RegExp(pattern.source, pattern.flags);
    const scan: Scan = { text, bareEnd: createBareEnd(text) };
    for (let match = next.exec(text); match !== null; match = next.exec(text)) {
      const secret = read(scan, match.index + match[0].length, match);
      if (secret === null) continue;
      secrets.push(secret);
      next.lastIndex = Math.max(next.lastIndex, secret.end);
    }
  }
  return secrets;
}

interface Scan {
  readonly text: string;
  /** Returns where a value without quotes ends. */
  bareEnd(from: number): number;
}

interface AssignmentForm {
  readonly pattern: RegExp;
  readonly read: AssignmentReader;
}

type AssignmentReader = (scan: Scan, from: number, match: RegExpExecArray) => Secret | null;

const NAMES =
  "pass(?:word|wd|phrase)|pwd|secret(?:[_-]?access)?(?:[_-]?key)?|token|credential|(?:api|access|private|account|signing|encryption|auth|session|shared)[_-]?key";

const ADDRESS: AssignmentForm = { pattern: /:\/\//g, read: readAddress };

const FORMS: readonly AssignmentForm[] = [
  { pattern: new RegExp(`(${NAMES})\\\\{0,3}["'\`]?([ \\t]{0,8}(?:=>|:=|[:=])[ \\t]{0,8})`, "gi"), read: readAssigned },
  { pattern: new RegExp(`--(?:[a-z0-9]{1,20}-){0,4}(${NAMES})[ \\t]{1,3}`, "gi"), read: readArgument },
  {
    pattern: /authorization\\{0,3}["']?[ \t]{0,3}[:=][ \t]{0,3}\\{0,3}["']?(?:[a-z]{3,12}[ \t]{1,3})?/gi,
    read: readHeader,
  },
  { pattern: /\bbearer[ \t]{1,3}/gi, read: readBearer },
  ADDRESS,
];

function readAssigned({ text, bareEnd }: Scan, from: number, match: RegExpExecArray): Secret | null {
  const [, name = "", operator = ""] = match;
  const kind = kindOf(name);
  const quoted = quotedValue(text, from);
  if (quoted !== null) {
    const value = text.slice(quoted.start, quoted.end);
    const isLongEnough = value.length >= (kind === "password" ? 1 : 4);
    // A value with spaces is a sentence about a secret, unless it is a passphrase.
    const isSentence = /\s/.test(value) && !/phrase/i.test(name);
    return isLongEnough && !isSentence && !isPlaceholder(value) ? { ...quoted, kind } : null;
  }
  if (operator.includes(">")) return null;
  const place = { start: from, end: bareEnd(from) };
  const isSecret = operator === "=" ? isTightSecret(text, place, name) : isLooseSecret(text, place, kind);
  return isSecret ? { ...place, kind } : null;
}

interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** Whether the value in `NAME=value` is a secret: in an environment, a query or a command. */
function isTightSecret(text: string, place: TextRange, name: string): boolean {
  const value = text.slice(place.start, place.end);
  if (!mayBeSecret(text, place, value) || PLAIN.test(value))
    return kindOf(name) === "password" && /^\d{4,}$/.test(value);
  // An argument that is passed on: `token=token`, `secret=settings.SECRET`.
  return value.toLowerCase() !== name.toLowerCase() && !/^[A-Za-z_]+\.[A-Za-z_.]+$/.test(value);
}

/**
 * Whether the value in `name: value` or `name = value` is a secret: in YAML it may be; in code and sentences it mostly
 * is not.
 */
function isLooseSecret(text: string, place: TextRange, kind: string): boolean {
  const value = text.slice(place.start, place.end);
  if (!mayBeSecret(text, place, value)) return false;
  if (!isWord(value)) return !PLAIN.test(value) || kind === "password";
  // A single word can still be a secret: a password at the end of a line.
  const endsLine = place.end === text.length || /[\r\n\\]/.test(text.charAt(place.end));
  return kind === "password" && endsLine && /^[a-z]{6,}$/.test(value) && !ORDINARY.test(value);
}

function mayBeSecret(text: string, { end }: TextRange, value: string): boolean {
  const isCode = text.charAt(end) === "(" || CODE.test(value);
  return value.length >= 4 && !isPlaceholder(value) && !isCode;
}

function readArgument({ text, bareEnd }: Scan, from: number, match: RegExpExecArray): Secret | null {
  const place = quotedValue(text, from) ?? { start: from, end: bareEnd(from) };
  const value = text.slice(place.start, place.end);
  const isSecret = value.length >= 4 && !isPlaceholder(value) && !value.startsWith("-");
  return isSecret ? { ...place, kind: kindOf(match[1]!) } : null;
}

function readHeader({ text, bareEnd }: Scan, from: number): Secret | null {
  const place = { start: from, end: bareEnd(from) };
  const value = text.slice(place.start, place.end);
  const isSecret = value.length >= 6 && mayBeSecret(text, place, value) && !isWord(value);
  return isSecret ? { ...place, kind: "authorization" } : null;
}

function readBearer({ text }: Scan, from: number): Secret | null {
  const end = endOfRun(text, from, BEARER);
  const isToken = end - from >= 8 && (end - from >= 24 || /\d/.test(text.slice(from, end)));
  return isToken ? { start: from, end, kind: "bearer" } : null;
}

/** `scheme://user:password@host`, or a long word as the user, which is then a token. */
function readAddress({ text }: Scan, from: number): Secret | null {
  const authority = text.slice(from, endOfRun(text, from, AUTHORITY));
  const at = authority.lastIndexOf("@");
  // A bracket begins a numeric address, or the mark of an earlier redaction.
  if (at === -1 || authority.startsWith("[")) return null;
  const colon = authority.indexOf(":");
  const start = colon !== -1 && colon < at ? colon + 1 : 0;
  const value = authority.slice(start, at);
  const isSecret = value.length >= (start > 0 ? 1 : 16) && !isPlaceholder(value);
  return isSecret ? { start: from + start, end: from + at, kind: "url-password" } : null;
}

const BEARER = /[A-Za-z0-9._~+/=-]*/y;
const AUTHORITY = /[^\s/?#"'`<>\\]*/y;
const BARE = /[^\s"'`,;(){}\]<>&|\\]*/y;

/** Values may contain further names; the end of a run is computed once for all of them. */
function createBareEnd(text: string): (from: number) => number {
  let begin = 0;
  let end = 0;
  return (from) => {
    if (from < begin || from >= end) {
      begin = from;
      end = endOfRun(text, from, BARE);
    }
    return end;
  };
}

const LONGEST_QUOTED = 4096;

/**
 * Returns the text between quotes, which may be escaped; `null` if there is no quote, or none that ends it on the same
 * line.
 */
function quotedValue(text: string, from: number): TextRange | null {
  let start = from;
  while (start - from < 3 && text.charAt(start) === "\\") start++;
  const escapes = start - from;
  const quote = text.charAt(start);
  if (quote === "" || !"\"'`".includes(quote)) return null;
  start++;
  let slashes = 0;
  for (let end = start; end < text.length && end - start < LONGEST_QUOTED; end++) {
    const char = text.charAt(end);
    if (char === "\n") return null;
    const isEnd = char === quote && (escapes === 0 ? slashes % 2 === 0 : slashes === escapes);
    if (isEnd) return { start, end: end - slashes };
    slashes = char === "\\" ? slashes + 1 : 0;
  }
  return null;
}

/** Whether a value is a placeholder: a variable, a blank to fill in, asterisks, or an earlier redaction. */
const isPlaceholder = (value: string): boolean => /^(?:[$<{(%=[]|\*+$|x{3,}$|\.{3})/i.test(value);
/** Whether a value has only letters: a type, a variable, a word of a sentence. */
const isWord = (value: string): boolean => /^[A-Za-z_$][A-Za-z_$.-]*[.!?:]?$/.test(value);
const CODE = /^(?:process\.env|os\.environ|import\.meta|env\.|this\.|self\.)/;
const PLAIN = /^(?:true|false|null|none|nil|undefined|string|number|boolean|\d{1,9})$/i;
const ORDINARY =
  /^(?:string|number|boolean|unknown|object|undefined|symbol|required|optional|missing|invalid|incorrect|changed|expired|hidden|accepted|rejected|correct|wrong|updated|removed)$/;

function kindOf(name: string): string {
  if (/^(?:pass|pwd)/i.test(name)) return "password";
  return /key$/i.test(name) ? "key" : name.toLowerCase();
}
