import { normalisedMessage } from "../gates/finding.ts";
import type { NamedTest } from "../gates/test-names.ts";

/** A place in the code that a failure went through, as its output says; the innermost one comes first. */
export interface Frame {
  readonly file: string;
  readonly line: number;
  readonly symbol?: string;
}

/** One thing that failed, with everything its part of the output says about it. */
export interface Failure {
  /** The full name of the failing test; `null` for anything that is no test. */
  readonly test: string | null;
  readonly category: "test" | "build" | "type" | "lint" | "crash";
  /** The kind of error where it has a name: `TypeError`, `AssertionError`. */
  readonly errorType: string | null;
  readonly message: string;
  readonly expected: string | null;
  readonly actual: string | null;
  /** The file of the test, or the place of the complaint. */
  readonly file: string | null;
  readonly line: number | null;
  readonly frames: readonly Frame[];
  /** Codes of compilers, linters and systems: `TS2345`, `E0308`, `ECONNREFUSED`. */
  readonly codes: readonly string[];
  /** Names of things in the code that it mentions, in the order of their first mention. */
  readonly identifiers: readonly string[];
  /** Numbers and quoted texts that it mentions. */
  readonly literals: readonly string[];
}

/** What the output of a check that failed says. */
export interface FailureReading {
  readonly runners: readonly string[];
  readonly failures: readonly Failure[];
  /** Did a test run? `null`: unknown. */
  readonly ranTests: boolean | null;
  /** Every test of the run by name, where the runners reported them; absent: only what was printed is known. */
  readonly tests?: readonly NamedTest[];
  /** A part of the output is missing or was not read, so that what is not there proves nothing. */
  readonly isTruncated: boolean;
}

/**
 * Two runs with the same signature failed in the same way. The test's name alone is not enough: a half-reverted change
 * can make the same test fail for another reason.
 */
export function signatureOf(failure: Failure): string {
  const values = [failure.expected, failure.actual].map((value) => (value === null ? "" : normalisedMessage(value)));
  return [
    failure.test ?? failure.file ?? "",
    failure.errorType ?? "",
    normalisedMessage(failure.message),
    ...values,
  ].join("\n");
}

/** Words that say that something failed but not how: two such failures cannot be compared. */
export function saysNothing(message: string): boolean {
  return /^['"]?(?:tests? |suite |subtests? |\d+ subtests? )?(?:failed|error|failure)?\.?['"]?$/i.test(message.trim());
}
