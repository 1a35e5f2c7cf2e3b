import { unknownReading, type Reading } from "../domain/reading.ts";

/** What stands beside a verdict: findings, fixes, evidence. */
export type ReadingParts = Omit<Reading, "kind" | "signal" | "id" | "idMatches" | "result" | "problems">;

export function noParts(): ReadingParts {
  const { kind: _k, signal: _s, id: _i, idMatches: _m, result: _r, problems: _p, ...parts } = unknownReading();
  return parts;
}

/** Where the first says nothing about something, the second is asked. */
export function mergeParts(first: ReadingParts, second: ReadingParts): ReadingParts {
  const merged = { ...first } as Record<string, unknown>;
  for (const [key, value] of Object.entries(second)) if (isEmpty(merged[key])) merged[key] = value;
  return merged as unknown as ReadingParts;
}

export const areEmpty = (parts: ReadingParts): boolean => Object.values(parts).every(isEmpty);

function isEmpty(value: unknown): boolean {
  return value === null || (typeof value === "object" && Object.keys(value).length === 0);
}
