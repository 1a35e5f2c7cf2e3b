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
 * The secrets that this process holds. They are the process's own and not a project's: whatever leaves it, to a disk,
 * a terminal or a network, passes the same redactor, so no border has to be handed one.
 */

/** Takes out what is certainly a secret: values that this process holds, and what has the shape of a token or a key. */
export interface OwnRedactor {
  text(text: string): string;
  /** A value that agents or tools wrote: every text in it. */
  texts<T>(value: T): T;
  /** An event, or what was made of events: without its ids, paths and words of a list. */
  fields<T>(value: T): T;
  /** A JSON text, by its values; one that is no JSON, as text. */
  json(text: string): string;
  mayHold(text: string): boolean;
  /** Everything that is redacted beside known shapes. */
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

/** From now on these are redacted too: values that a project lists, and patterns of its config. */
export function learnSecrets(values: readonly string[], listed: readonly RegExp[] = []): void {
  const known = literals.size + patterns.size;
  for (const value of values) literals.add(value);
  for (const pattern of listed) patterns.set(String(pattern), pattern);
  if (literals.size + patterns.size > known) redactor = null;
}

/** The values of variables whose names say that they are secrets. */
export function learnVariables(env: Variables): void {
  // The path of a key file is no secret, and is in many messages.
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
 * Redacts what is streamed by lines. A private key is recognized by its first line, so the lines after it go too, up
 * to its end; a stream that begins one and does not end it is shown again after the longest key.
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
/** An RSA key of 16,384 bits has about 200. */
const MOST_KEY_LINES = 400;
