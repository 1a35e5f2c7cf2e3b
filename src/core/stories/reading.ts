import type { readingSchema } from "../schemas/reading.ts";
import type { Stored } from "../schemas/stored.ts";

/** What was read out of an agent's text. None of it is believed: it is what the text says. */
export type Reading = Omit<Stored<typeof readingSchema>, "schema">;

export type ReadFinding = Reading["findings"][number];
export type ReadVerification = Reading["verification"][number];
export type ReadCommand = Reading["commands"][number];
export type ReadIncomplete = NonNullable<Reading["incomplete"]>;

/** A reading that says nothing, for the given reason; readers fill in what they found. */
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
