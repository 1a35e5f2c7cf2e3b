import type { readingSchema } from "../schemas/reading.ts";
import type { Stored } from "../schemas/scalars.ts";

/** The values parsed from an agent's text. They are claims, not facts. */
export type Reading = Omit<Stored<typeof readingSchema>, "schema">;

export type ReadFinding = Reading["findings"][number];
export type ReadVerification = Reading["verification"][number];
export type ReadCommand = Reading["commands"][number];
export type ReadIncomplete = NonNullable<Reading["incomplete"]>;

/** Makes a reading without values, for the given problems; readers fill in what they found. */
export function unknownReading(...problems: readonly string[]): Reading {
  return {
    kind: "unknown",
    signal: null,
    id: null,
    idMatches: null,
    result: "unknown",
    findings: [],
    requiredFixes: [],
    passing: [],
    quality: {},
    verification: [],
    commands: [],
    environments: [],
    preExisting: [],
    filesReviewed: [],
    filesModified: [],
    context: [],
    incomplete: null,
    priority: null,
    summary: null,
    problems,
  };
}

/** The lines with which agents end their work, and the role that writes each (S2.11, S2.28). */
export const SIGNALS = [
  "READY_FOR_REVIEW",
  "TASK_INCOMPLETE",
  "INFRA_BLOCKED",
  "REVIEW_PASSED",
  "REVIEW_FAILED",
  "AUDIT_PASSED",
  "AUDIT_FAILED",
  "AUDIT_BLOCKED",
] as const;
export type Signal = (typeof SIGNALS)[number];

export const SIGNAL_ROLES = ["developer", "critic", "auditor"] as const;
export type SignalRole = (typeof SIGNAL_ROLES)[number];

export const ROLE_OF_SIGNAL: Readonly<Record<Signal, SignalRole>> = {
  READY_FOR_REVIEW: "developer",
  TASK_INCOMPLETE: "developer",
  INFRA_BLOCKED: "developer",
  REVIEW_PASSED: "critic",
  REVIEW_FAILED: "critic",
  AUDIT_PASSED: "auditor",
  AUDIT_FAILED: "auditor",
  AUDIT_BLOCKED: "auditor",
};

export const READING_RESULTS = ["pass", "fail", "blocked", "incomplete", "ready", "unknown"] as const;
export type ReadingResult = (typeof READING_RESULTS)[number];

export const RESULT_OF_SIGNAL: Readonly<Record<Signal, ReadingResult>> = {
  READY_FOR_REVIEW: "ready",
  TASK_INCOMPLETE: "incomplete",
  INFRA_BLOCKED: "blocked",
  REVIEW_PASSED: "pass",
  REVIEW_FAILED: "fail",
  AUDIT_PASSED: "pass",
  AUDIT_FAILED: "fail",
  AUDIT_BLOCKED: "blocked",
};

/**
 * Why an agent could not finish. Each category has its own consequence: `missing_info` and `out_of_scope` ask a person.
 */
export const INCOMPLETE_CATEGORIES = [
  "missing_info",
  "out_of_scope",
  "blocked_by_dependency",
  "infrastructure",
] as const;
export type IncompleteCategory = (typeof INCOMPLETE_CATEGORIES)[number];
