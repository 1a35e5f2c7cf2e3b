import { assert } from "../stdx/assert.ts";

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const PART = /^(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h|d)/;

/**
 * `90s`, `5m`, `1h30m` in milliseconds; `null` for anything else. A bare number is refused, because its unit is
 * unknown.
 */
export function durationMs(text: string): number | null {
  let rest = text.trim();
  let total = 0;
  if (rest === "") return null;
  while (rest !== "") {
    const part = PART.exec(rest);
    if (part === null) return null;
    total += Number(part[1]) * UNITS_MS[part[2]!]!;
    rest = rest.slice(part[0].length).trimStart();
  }
  return Number.isSafeInteger(Math.round(total)) ? Math.round(total) : null;
}

/** Converts a duration that was validated before. */
export function knownDurationMs(text: string): number {
  const ms = durationMs(text);
  assert(ms !== null, `a checked duration: ${text}`);
  return ms;
}

/** Converts a size that was validated before: `200k`, `2M`. */
export function sizeOf(size: number | string): number {
  if (typeof size === "number") return size;
  const unit = /m$/i.test(size) ? 1_000_000 : 1000;
  return Math.round(Number.parseFloat(size) * unit);
}
