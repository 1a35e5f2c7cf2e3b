/** The one scale. Every other scale a source uses is translated on the way in and, where asked, on the way out. */
export const SEVERITIES = ["blocker", "critical", "major", "minor", "info"] as const;
export type Severity = (typeof SEVERITIES)[number];

/** How many findings of a severity, or of a worse one, fail a gate. A severity that is not named never does. */
export type FailOn = { readonly [S in Severity]?: number };

export const rank = (severity: Severity): number => SEVERITIES.indexOf(severity);
export const atLeast = (severity: Severity, floor: Severity): boolean => rank(severity) <= rank(floor);

/** Worst first. */
export const worse = (a: Severity, b: Severity): number => rank(a) - rank(b);

const FROM_WORD: Readonly<Record<string, Severity>> = {
  blocker: "blocker",
  blocking: "blocker",
  fatal: "blocker",
  critical: "critical",
  severe: "critical",
  high: "critical",
  error: "critical",
  major: "major",
  important: "major",
  medium: "major",
  moderate: "major",
  warning: "major",
  warn: "major",
  minor: "minor",
  low: "minor",
  suggestion: "minor",
  nit: "minor",
  note: "info",
  info: "info",
  information: "info",
  informational: "info",
  none: "info",
};

/** Any known scale's word to ours; `undefined` for a word of no known scale. */
export function severityFromWord(word: string): Severity | undefined {
  const key = word.trim().toLowerCase();
  return Object.hasOwn(FROM_WORD, key) ? FROM_WORD[key] : undefined;
}

/** The scale of S1.11 and S1.12: SUGGESTION findings are informational, the other two require action. */
export function toReviewScale(severity: Severity): "CRITICAL" | "IMPORTANT" | "SUGGESTION" {
  if (severity === "blocker" || severity === "critical") return "CRITICAL";
  return severity === "major" ? "IMPORTANT" : "SUGGESTION";
}

/** The scale of S2.16, which is for the priority of a whole verdict. */
export function toPriorityScale(severity: Severity): "HIGH" | "MEDIUM" | "LOW" {
  if (severity === "blocker" || severity === "critical") return "HIGH";
  return severity === "major" ? "MEDIUM" : "LOW";
}

export function toSarifLevel(severity: Severity): "error" | "warning" | "note" {
  if (severity === "blocker" || severity === "critical") return "error";
  return severity === "major" ? "warning" : "note";
}
