import { isRecord } from "../stdx/is-record.ts";
import { plainText } from "../stdx/plain-text.ts";

/** Looks into values that somebody else made: own keys only, nothing is assumed, nothing throws. */
export type Fields = Readonly<Record<string, unknown>>;

/** The first of these keys that is there with a value. */
export function pick(fields: Fields, ...keys: readonly string[]): unknown {
  for (const key of keys) if (Object.hasOwn(fields, key) && fields[key] != null) return fields[key];
  return undefined;
}

/** Text that says something, as a person sees it; numbers and truth values count as text. */
export function textOf(value: unknown): string | null {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value !== "string") return null;
  const text = plainText(value).trim();
  return text === "" ? null : text;
}

/** One text or several; of an object in the list, its first text. */
export function textsOf(value: unknown): readonly string[] {
  const items = Array.isArray(value) ? value : [value];
  return items.flatMap(
    (item) => textOf(isRecord(item) ? Object.values(item).find((v) => textOf(v) !== null) : item) ?? [],
  );
}

export function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
}

/** A line number: 12, "12", "L12", or the first of "12-14". */
export function lineOf(value: unknown): number | null {
  const digits = /^\s*L?(\d{1,9})\b/i.exec(textOf(value) ?? "")?.[1];
  const line = Number(digits ?? 0);
  return line > 0 ? line : null;
}

/** Keys that mean something to the language are left out, so that nobody who copies the record is harmed by it. */
export function recordOf(entries: Iterable<readonly [string, string]>): Readonly<Record<string, string>> {
  return Object.fromEntries([...entries].filter(([key]) => !["__proto__", "constructor", "prototype"].includes(key)));
}
