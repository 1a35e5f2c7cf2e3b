import type { Severity } from "../gates/severity.ts";
import type { IncompleteCategory, ReadingResult, Signal } from "./signal.ts";

/** What was read out of an agent's text. Nothing in it is believed: it is what the text says. */
export interface Reading {
  readonly kind: "signal" | "verdict" | "unknown";
  readonly signal: Signal | null;
  readonly id: string | null;
  /** `null` when no id was expected. */
  readonly idMatches: boolean | null;
  readonly result: ReadingResult;
  readonly findings: readonly ReadFinding[];
  readonly requiredFixes: readonly string[];
  readonly passing: readonly string[];
  /** The critic's assessment, by aspect: `Code style` → `COMPLIANT`. */
  readonly quality: Readonly<Record<string, string>>;
  readonly verification: readonly ReadVerification[];
  readonly commands: readonly ReadCommand[];
  readonly environments: readonly string[];
  readonly preExisting: readonly string[];
  readonly filesReviewed: readonly string[];
  readonly filesModified: readonly string[];
  /** What the reviewer learned that the author needs. */
  readonly context: readonly string[];
  readonly incomplete: ReadIncomplete | null;
  readonly priority: "HIGH" | "MEDIUM" | "LOW" | null;
  readonly summary: string | null;
  /** What was odd about the text, each in a sentence. An unknown reading always has at least one. */
  readonly problems: readonly string[];
}

export interface ReadFinding {
  readonly severity: Severity | null;
  readonly category: string | null;
  readonly file: string | null;
  readonly line: number | null;
  readonly message: string;
  readonly suggestedFix: string | null;
  readonly criterion: string | null;
  /** In a re-review: was the earlier finding ADDRESSED, or NOT. */
  readonly status: string | null;
}

export interface ReadVerification {
  readonly criterion: string;
  readonly status: "verified" | "failed" | "unknown";
  readonly evidence: string;
}

export interface ReadCommand {
  readonly command: string;
  readonly environment: string | null;
  readonly result: string;
}

export interface ReadIncomplete {
  readonly category: IncompleteCategory | null;
  readonly blocker: string;
  readonly attempted: readonly string[];
  readonly needed: string;
}

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
