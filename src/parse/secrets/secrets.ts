import { plainText } from "../../stdx/plain-text.ts";
import { findAssignments } from "./secret-assignments.ts";
import { SHORTEST_LITERAL, type Secret, findLiterals } from "./secret-literals.ts";
import { findJwts, findPrivateKeys, findTokens } from "./secret-tokens.ts";

/** What a project redacts beyond the well-known patterns. */
export interface SecretRules {
  /** Texts that must not be kept, of four characters or more: values of the environment, of `.env`, a person's list. */
  readonly literals?: readonly string[];
  /** The person's own patterns. They run over whole logs, so they should not be clever. */
  readonly patterns?: readonly { readonly kind: string; readonly pattern: RegExp }[];
}

export interface Redacted {
  readonly text: string;
  /** How many of each kind were taken out. */
  readonly counts: Readonly<Record<string, number>>;
}

/**
 * Takes secrets out of a text and leaves `[redacted:<kind>]` in their places. It is a net, not a proof: what is listed
 * goes for certain, what only looks like a secret goes if it looks like one of those that are known here. The time it
 * takes grows with the text and with nothing else.
 */
export function redactSecrets(text: string, rules: SecretRules = {}): Redacted {
  const counts: Record<string, number> = {};
  const literals = (rules.literals ?? []).filter(
    (literal) => literal.length >= SHORTEST_LITERAL && !isPartOfMark(literal),
  );
  const found = [
    ...findLiterals(text, literals, LITERAL),
    ...findPrivateKeys(text),
    ...findTokens(text),
    ...findJwts(text),
    ...findAssignments(text),
    ...(rules.patterns ?? []).flatMap((rule) => findPattern(text, rule)),
  ];
  let clean = replaceSecrets(text, found, counts);
  // Replacing a secret can form another literal with the text beside it; every round removes some for good.
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const left = findLiterals(clean, literals, LITERAL);
    if (left.length === 0) break;
    clean = replaceSecrets(clean, left, counts);
  }
  return { text: clean, counts };
}

const LITERAL = "listed";
const MOST_ROUNDS = 10;

const mark = (kind: string): string => `[redacted:${kind}]`;

/** Taking these out would put them in again. */
const isPartOfMark = (literal: string): boolean => mark(LITERAL).includes(literal);

function findPattern(text: string, { kind, pattern }: { readonly kind: string; readonly pattern: RegExp }): Secret[] {
  const flags = pattern.flags.includes("g") ? pattern.flags : `${pattern.flags}g`;
  const secrets: Secret[] = [];
  for (const match of text.matchAll(new RegExp(pattern.source, flags))) {
    if (match[0] !== "") secrets.push({ start: match.index, end: match.index + match[0].length, kind });
  }
  return secrets;
}

/** Places that overlap become one, named after the first of them. */
function replaceSecrets(text: string, found: readonly Secret[], counts: Record<string, number>): string {
  const sorted = [...found].sort((a, b) => a.start - b.start || b.end - a.end);
  const parts: string[] = [];
  let kept = 0;
  for (let i = 0; i < sorted.length;) {
    const { start, kind } = sorted[i]!;
    let { end } = sorted[i]!;
    for (i++; i < sorted.length && sorted[i]!.start < end; i++) end = Math.max(end, sorted[i]!.end);
    parts.push(text.slice(kept, start), mark(kind));
    counts[kind] = (counts[kind] ?? 0) + 1;
    kept = end;
  }
  parts.push(text.slice(kept));
  return parts.join("");
}

/**
 * The same value without secrets and without what could move a terminal's cursor or turn text around. What is kept was
 * cleaned when it was kept; code that an agent wrote, and a story's own text, were not.
 */
export function withoutSecrets<T>(value: T, rules: SecretRules): T {
  // A story's document says the same of many attempts: each text is looked through once.
  const known = new Map<string, string>();
  return cleanValue(value, (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const clean = cleanText(text, rules);
    known.set(text, clean);
    return clean;
  }) as T;
}

function cleanValue(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === "string") return clean(value);
  if (Array.isArray(value)) return value.map((each) => cleanValue(each, clean));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, cleanValue(each, clean)]));
}

/** A short text holds no secret that is known by its looks, and most texts are short. */
const SHORTEST = 8;

export function cleanText(text: string, rules: SecretRules): string {
  return text.length < SHORTEST ? plainText(text) : redactSecrets(plainText(text), rules).text;
}

/**
 * The values of a `.env` file, as the usual loaders read it: `NAME=value`, with or without `export`, quoted or not, a
 * quoted one over several lines too. Anything else is skipped: the file is never run.
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
