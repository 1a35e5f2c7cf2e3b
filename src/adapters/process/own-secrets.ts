import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import {
  redactFields,
  redactTexts,
  type SecretRules,
  mayHoldSecret,
  redactCertain,
} from "../../parse/secrets/secrets.ts";
import { secretVariables } from "../../parse/secrets/secret-literals.ts";

/*
 * The secrets that this process holds. They belong to the process and not to a project: everything that it writes to a
 * disk, a terminal or a network is redacted with them, so the redactor need not be passed around.
 */

/** Redacts what is certainly a secret: values that this process holds, and texts in the form of a token or key. */
export interface OwnRedactor {
  text(text: string): string;
  /** Redacts every text in a value that agents or tools wrote. */
  texts<T>(value: T): T;
  /** Redacts an event, or data made of events, except ids, paths and enumerated values. */
  fields<T>(value: T): T;
  /** Redacts the values in a JSON text; other text is redacted as a whole. */
  json(text: string): string;
  mayHold(text: string): boolean;
  /** All rules besides the known forms. */
  readonly rules: SecretRules;
}

export type Variables = Readonly<Record<string, string | undefined>>;

const literals = new Set<string>();
const patterns = new Map<string, RegExp>();
let redactor: OwnRedactor | null = null;
let isEnvironmentKnown = false;

export function ownRedactor(): OwnRedactor {
  if (!isEnvironmentKnown) {
    isEnvironmentKnown = true;
    learnVariables(process.env);
  }
  return (redactor ??= createOwnRedactor({
    literals: [...literals],
    patterns: [...patterns.values()].map((pattern) => ({ kind: "listed", pattern })),
  }));
}

/** Adds secrets to redact: values that a project lists, and patterns of its config. */
export function learnSecrets(values: readonly string[], listed: readonly RegExp[] = []): void {
  const known = literals.size + patterns.size;
  for (const value of values) literals.add(value);
  for (const pattern of listed) patterns.set(String(pattern), pattern);
  if (literals.size + patterns.size > known) redactor = null;
}

/** Adds the values of variables whose names say that they are secrets. */
export function learnVariables(env: Variables): void {
  // The path of a key file is no secret, and appears in many messages.
  learnSecrets(secretVariables(env).filter((value) => !(isAbsolute(value) && existsSync(value))));
}

function createOwnRedactor(rules: SecretRules): OwnRedactor {
  const mayHold = (text: string): boolean => mayHoldSecret(text, rules);
  const text = (given: string): string => (mayHold(given) ? redactCertain(given, rules) : given);
  const inJson = (given: string, clean: (value: unknown) => unknown): string => {
    if (!mayHold(given)) return given;
    try {
      return JSON.stringify(clean(JSON.parse(given)));
    } catch {
      return text(given);
    }
  };
  return {
    text,
    texts: (value) => redactTexts(value, text),
    fields: (value) => redactFields(value, text),
    json: (given) => inJson(given, (value) => redactFields(value, text)),
    mayHold,
    rules,
  };
}

/**
 * Redacts a stream of lines. A private key is recognized by its first line, so the following lines are redacted too, up
 * to the key's end, or up to the length of the longest key if there is no end.
 */
export function createLineRedactor(): (line: string) => string {
  let keyLines = 0;
  return (line) => {
    if (keyLines > 0) {
      keyLines = END_OF_KEY.test(line) ? 0 : keyLines - 1;
      return KEY_MARK;
    }
    const begin = BEGIN_OF_KEY.exec(line);
    if (begin === null || END_OF_KEY.test(line.slice(begin.index))) return ownRedactor().text(line);
    keyLines = MOST_KEY_LINES;
    return `${ownRedactor().text(line.slice(0, begin.index))}${KEY_MARK}`;
  };
}

const BEGIN_OF_KEY = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/;
const END_OF_KEY = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/;
const KEY_MARK = "[redacted:private-key]";
/** An RSA key of 16,384 bits has about 200 lines. */
const MOST_KEY_LINES = 400;
