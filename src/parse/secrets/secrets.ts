import { SUSPICIOUS, plainText, visibleText } from "../../stdx/plain-text.ts";
import { type LiteralFinder, type Secret, createLiteralFinder, literalForms } from "./secret-literals.ts";
import { findAssignments, findUrlPasswords } from "./secret-assignments.ts";
import { TOKEN_BEGINNINGS, findJwts, findPrivateKeys, findTokens } from "./secret-tokens.ts";
import { isMachineField, isMachineObject } from "../../core/events/machine-fields.ts";

/** What to redact in addition to the well-known patterns. */
export interface SecretRules {
  /**
   * Texts of four characters or more that must not be stored: values of the environment, of `.env`, a person's list.
   */
  readonly literals?: readonly string[];
  /** The person's own patterns. They run over whole logs, so they should be simple. */
  readonly patterns?: readonly { readonly kind: string; readonly pattern: RegExp }[];
}

export interface Redacted {
  readonly text: string;
  /** How many of each kind were removed. */
  readonly counts: Readonly<Record<string, number>>;
}

/**
 * Replaces secrets in a text by `[redacted:<kind>]`. Listed texts are always removed; other secrets only if they have a
 * known form, so this proves nothing about the rest. The time grows only with the text.
 */
export function redactSecrets(text: string, rules: SecretRules = {}): Redacted {
  const counts: Record<string, number> = {};
  const { literals } = compile(rules);
  const find = (part: string): Secret[] => [...findCertain(part, literals, rules), ...findAssignments(part)];
  return { text: redactWindows(text, find, counts), counts };
}

/**
 * Does the same without guesses: listed texts, tokens and keys with a known beginning, passwords in URLs. Code, names
 * and prose stay as they are, so it can be applied to everything that is stored.
 */
export function redactCertain(text: string, rules: SecretRules): string {
  const { literals } = compile(rules);
  return redactWindows(text, (part) => [...findCertain(part, literals, rules), ...findUrlPasswords(part)], {});
}

/**
 * Whether a text, or a string in the JSON that it is, may contain anything for `redactCertain`. Quick, because nearly
 * every text contains no secret.
 */
export function mayHoldSecret(text: string, rules: SecretRules): boolean {
  if (rules.patterns !== undefined && rules.patterns.length > 0) return true;
  return (
    compile(rules).literals.has(text) ||
    TOKEN.test(text) ||
    (text.includes("://") && ADDRESS.test(text)) ||
    HINTS.some((hint) => text.includes(hint)) ||
    SUSPICIOUS.test(text)
  );
}

/* Separate: in one expression they take three times as long. */
const TOKEN = new RegExp(TOKEN_BEGINNINGS);
const ADDRESS = /:\/\/[^\s/]*@/;
/** Keys, web tokens, and invisible characters as JSON escapes them. */
const HINTS = ["PRIVATE KEY", "eyJ", "\\u00"];

interface CompiledRules {
  readonly literals: LiteralFinder;
}

const compiledRules = new WeakMap<SecretRules, CompiledRules>();

function compile(rules: SecretRules): CompiledRules {
  const known = compiledRules.get(rules);
  if (known !== undefined) return known;
  const compiled = { literals: createLiteralFinder(literalForms(rules.literals ?? [])) };
  compiledRules.set(rules, compiled);
  return compiled;
}

function findCertain(text: string, literals: LiteralFinder, { patterns = [] }: SecretRules): Secret[] {
  return [
    ...literals.find(text, LITERAL),
    ...findPrivateKeys(text),
    ...findTokens(text),
    ...findJwts(text),
    ...patterns.flatMap((rule) => findPattern(text, rule)),
  ];
}

type FindSecrets = (text: string) => readonly Secret[];

const LITERAL = "listed";
/** Memory grows with this and not with the text: a log may be a hundred megabytes of secrets. */
const WINDOW = 1024 * 1024;
/** Longer than any secret that begins in a window. */
const REACH = 64 * 1024;

function redactWindows(text: string, find: FindSecrets, counts: Record<string, number>): string {
  if (text.length <= WINDOW + REACH) return redactPart(text, text.length, find, counts).text;
  const parts: string[] = [];
  for (let from = 0; from < text.length;) {
    const lineEnd = text.lastIndexOf("\n", from + WINDOW);
    const until = lineEnd > from + WINDOW - REACH ? lineEnd + 1 : Math.min(from + WINDOW, text.length);
    const part = redactPart(text.slice(from, until + REACH), until - from, find, counts);
    parts.push(part.text);
    from += part.read;
  }
  return parts.join("");
}

/** Redacts at least the first `limit` characters: a secret that begins there is removed completely. */
function redactPart(
  text: string,
  limit: number,
  find: FindSecrets,
  counts: Record<string, number>,
): { readonly text: string; readonly read: number } {
  const first = replaceSecrets(text, limit, findVisible(text, find), counts);
  let clean = first.text;
  // Replacing a secret can form another one with the text beside it, so this is repeated.
  for (let round = 0; round < MOST_ROUNDS && first.replaced > 0; round++) {
    const again = replaceSecrets(clean, clean.length, findVisible(clean, find), counts);
    if (again.replaced === 0) break;
    clean = again.text;
  }
  return { text: clean, read: first.read };
}

const MOST_ROUNDS = 10;

/**
 * Finds secrets also in the text without color codes and invisible characters, because these do not hide a secret from
 * a reader.
 */
function findVisible(text: string, find: FindSecrets): readonly Secret[] {
  const found = find(text);
  const visible = visibleText(text);
  if (visible === null) return found;
  const inVisible = find(visible.text).map(({ start, end, kind }) => ({
    start: visible.placeOf(start),
    end: visible.placeOf(end - 1) + 1,
    kind,
  }));
  return [...found, ...inVisible];
}

const mark = (kind: string): string => `[redacted:${kind}]`;
const MARK = /\[redacted:[a-z0-9-]{1,40}\]/y;
const LONGEST_MARK = 60;

/** Whether a secret is inside the mark of an earlier redaction, which must stay whole. */
function isInMark(text: string, { start, end }: Secret): boolean {
  const before = Math.max(0, start - LONGEST_MARK);
  const begin = text.slice(before, start + 1).lastIndexOf("[");
  if (begin === -1) return false;
  MARK.lastIndex = before + begin;
  return MARK.test(text) && MARK.lastIndex >= end;
}

function findPattern(text: string, { kind, pattern }: { readonly kind: string; readonly pattern: RegExp }): Secret[] {
  const flags = pattern.flags.includes("g") ? pattern.flags : `${pattern.flags}g`;
  const secrets: Secret[] = [];
  for (const match of text.matchAll(new RegExp(pattern.source, flags))) {
    if (match[0] !== "") secrets.push({ start: match.index, end: match.index + match[0].length, kind });
  }
  return secrets;
}

interface Replaced {
  readonly text: string;
  readonly read: number;
  readonly replaced: number;
}

/** Replaces secrets. Overlapping ranges are merged, with the kind of the first. */
function replaceSecrets(
  text: string,
  limit: number,
  found: readonly Secret[],
  counts: Record<string, number>,
): Replaced {
  const sorted = found.filter((secret) => !isInMark(text, secret)).sort((a, b) => a.start - b.start || b.end - a.end);
  const parts: string[] = [];
  let kept = 0;
  let replaced = 0;
  for (let i = 0; i < sorted.length && sorted[i]!.start < limit;) {
    const { start, kind } = sorted[i]!;
    let { end } = sorted[i]!;
    for (i++; i < sorted.length && sorted[i]!.start < end; i++) end = Math.max(end, sorted[i]!.end);
    parts.push(text.slice(kept, start), mark(kind));
    counts[kind] = (counts[kind] ?? 0) + 1;
    replaced++;
    kept = end;
  }
  const read = Math.max(limit, kept);
  if (replaced === 0) return { text: read === text.length ? text : text.slice(0, read), read, replaced };
  parts.push(text.slice(kept, read));
  return { text: parts.join(""), read, replaced };
}

/**
 * Returns the value without secrets, and without characters that could move a terminal's cursor or reverse text. Stored
 * texts were cleaned when they were stored; code of an agent, and a story's own text, were not. `kept`: short texts
 * with their results, from one call to the next with the same rules.
 */
export function withoutSecrets<T>(value: T, rules: SecretRules, kept = new Map<string, string>()): T {
  // A story's document repeats texts for many attempts: each is cleaned once.
  const known = new Map<string, string>();
  return cleanValue(value, (text) => {
    const before = kept.get(text) ?? known.get(text);
    if (before !== undefined) return before;
    const clean = cleanText(text, rules);
    (text.length <= SHORT ? kept : known).set(text, clean);
    return clean;
  }) as T;
}

function cleanValue(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === "string") return clean(value);
  if (Array.isArray(value)) return value.map((each) => cleanValue(each, clean));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, cleanValue(each, clean)]));
}

const SHORT = 500;

/** Shorter texts contain no secret of a known form, and most texts are short. */
const SHORTEST = 8;

export function cleanText(text: string, rules: SecretRules): string {
  return text.length < SHORTEST ? plainText(text) : redactSecrets(plainText(text), rules).text;
}

/**
 * Returns the values of a `.env` file, as the usual loaders read it: `NAME=value`, with or without `export`, quoted or
 * not, in quotes also over several lines. Anything else is skipped: the file is never run.
 */
export function readEnvValues(text: string): readonly string[] {
  const values: string[] = [];
  for (const [, double, single, back, bare = ""] of text.matchAll(ASSIGNMENT)) {
    if (double !== undefined) values.push(double.replaceAll(/\\(.)/gs, (_, char: string) => UNESCAPED[char] ?? char));
    else values.push(single ?? back ?? bare.replace(/\s+#.*$/, "").trim());
  }
  return values.filter((value) => value !== "");
}

const ASSIGNMENT =
  /^[ \t]*(?:export[ \t]+)?[\w.-]+[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|`([^`]*)`|([^\r\n]*))/gms;

const UNESCAPED: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

/** Redacts every text in a value. Returns the value itself if nothing was removed. */
export function redactTexts<T>(value: T, redact: (text: string) => string): T {
  return walk(value, "", "", { redact, isKept: () => false }) as T;
}

/** Does the same for events and their views: ids, paths and words of a list stay as they are. */
export function redactFields<T>(value: T, redact: (text: string) => string): T {
  return walk(value, "", "", { redact, isKept: isMachineField }) as T;
}

interface Walk {
  redact(text: string): string;
  isKept(parent: string, name: string): boolean;
}

function walk(value: unknown, parent: string, name: string, how: Walk): unknown {
  if (typeof value === "string") return how.isKept(parent, name) ? value : how.redact(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => walk(item, parent, name, how));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  const isMachine = how.isKept === isMachineField && isMachineObject(parent, name);
  return isMachine ? value : walkObject(value as Record<string, unknown>, name, how);
}

function walkObject(value: Record<string, unknown>, name: string, how: Walk): unknown {
  let isChanged = false;
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => {
    // Reviewers choose the names in `quality`; all other names come from Remand or the config.
    const kept = name === "quality" ? how.redact(key) : key;
    const clean = walk(item, name, key, how);
    isChanged ||= clean !== item || kept !== key;
    return [kept, clean];
  });
  return isChanged ? Object.fromEntries(entries) : value;
}
