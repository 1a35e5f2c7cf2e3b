import { redactSecrets, type SecretRules } from "./secrets.ts";
import { plainText } from "../stdx/plain-text.ts";

/**
 * The same value without secrets and without what could move a terminal's cursor or turn text around. What is kept was
 * cleaned when it was kept; code that an agent wrote, and a story's own text, were not.
 */
export function withoutSecrets<T>(value: T, rules: SecretRules): T {
  // A story's document says the same of many attempts: each text is looked through once.
  const known = new Map<string, string>();
  return cleaned(value, (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const clean = cleanText(text, rules);
    known.set(text, clean);
    return clean;
  }) as T;
}

function cleaned(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === "string") return clean(value);
  if (Array.isArray(value)) return value.map((each) => cleaned(each, clean));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, cleaned(each, clean)]));
}

/** A short text holds no secret that is known by its looks, and most texts are short. */
const SHORTEST = 8;

export function cleanText(text: string, rules: SecretRules): string {
  return text.length < SHORTEST ? plainText(text) : redactSecrets(plainText(text), rules).text;
}
