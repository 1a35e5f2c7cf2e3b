import { normalisedMessage } from "../gates/finding.ts";
import type { NamedTest } from "../gates/test-names.ts";

/** A stack frame of a failure, as its output shows it. Lists of frames begin with the innermost. */
export interface Frame {
  readonly file: string;
  readonly line: number;
  readonly symbol?: string;
}

/** One thing that failed, with everything that its part of the output says. */
export interface Failure {
  /** The full name of the failing test; `null` if what failed is not a test. */
  readonly test: string | null;
  readonly category: "test" | "build" | "type" | "lint" | "crash";
  /** The kind of error, if it has a name: `TypeError`, `AssertionError`. */
  readonly errorType: string | null;
  readonly message: string;
  readonly expected: string | null;
  readonly actual: string | null;
  /** The file of the test, or the file that a compiler or linter complains about. */
  readonly file: string | null;
  readonly line: number | null;
  readonly frames: readonly Frame[];
  /** Codes of compilers, linters and systems: `TS2345`, `E0308`, `ECONNREFUSED`. */
  readonly codes: readonly string[];
  /** Names from the code that the failure mentions, in the order of their first mention. */
  readonly identifiers: readonly string[];
  /** Numbers and quoted strings that the failure mentions. */
  readonly literals: readonly string[];
}

/** What the output of a failed check says. */
export interface FailureReading {
  readonly runners: readonly string[];
  readonly failures: readonly Failure[];
  /** Whether a test ran; `null`: unknown. */
  readonly ranTests: boolean | null;
  /** Every test of the run by name, if the runners reported them. Absent: only the printed output is known. */
  readonly tests?: readonly NamedTest[];
  /** Part of the output is missing or was not read, so a failure's absence proves nothing. */
  readonly isTruncated: boolean;
}

/**
 * Two runs with the same signature failed in the same way. The test's name alone is not enough: with part of a change
 * reverted, the same test can fail for another reason.
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

/** Whether a message only says that something failed and not how: two such failures cannot be compared. */
export function saysNothing(message: string): boolean {
  return /^['"]?(?:tests? |suite |subtests? |\d+ subtests? )?(?:failed|error|failure)?\.?['"]?$/i.test(message.trim());
}
