import { counted } from "./counted.ts";
import { identified, type Finding } from "./finding.ts";

/**
 * Why a test of the base speaks against the work: its base version `fails` with it, does not load with it
 * (`not-loaded`), or the work no longer runs it (`removed`).
 */
export const CONTESTED_WHY = ["fails", "not-loaded", "removed"] as const;
export type ContestedWhy = (typeof CONTESTED_WHY)[number];

/** A test that passed at the base and that the work changed or removed. A reviewer or a person decides about it. */
export interface ContestedTest {
  readonly test: string;
  readonly why: ContestedWhy;
  /** The test file at the base, where it is known. */
  readonly file?: string;
}

/** A test, or a pattern of tests, that a person allowed the work to change. */
export interface LicensedTest {
  readonly test: string;
  readonly by: string;
  readonly reason: string;
}

/** What speaks against the work, in words that follow the test's name. */
export const CONTESTED_WORDS: Readonly<Record<ContestedWhy, string>> = {
  fails: "fails in its base version",
  "not-loaded": "does not load in its base version",
  removed: "passed at the base and no longer runs",
};

const RESTORE: Readonly<Record<ContestedWhy, string>> = {
  fails: "Restore the test as it is at the base, and change the code so that the test passes.",
  "not-loaded": "Restore the test as it is at the base, and the names and paths that it imports.",
  removed: "Put the test back as it is at the base, so that the check runs it.",
};

/** "2 contested tests: …" */
export function contestedText(tests: readonly Pick<ContestedTest, "test">[]): string {
  return `${counted(tests.length, "contested test")}: ${tests.map(({ test }) => test).join(", ")}`;
}

const CONTESTED_CATEGORY = "contested-test";

/** As a finding: what is wrong with it where nothing allows the change, and what to restore. */
export function contestedFinding(
  { test, why, file }: ContestedTest,
  source: string,
  severity: Finding["severity"],
): Finding {
  return identified({
    severity,
    category: CONTESTED_CATEGORY,
    source,
    message: `${test} ${CONTESTED_WORDS[why]}`,
    ...(file === undefined ? {} : { file }),
    suggestedFix: RESTORE[why],
  });
}
