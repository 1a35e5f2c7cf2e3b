import { countText } from "../../stdx/plain-text.ts";
import type { contestedTestSchema } from "../schemas/gate-result.ts";
import type { Stored } from "../schemas/scalars.ts";
import type { Finding, FindingDraft } from "./finding.ts";

/**
 * Why a test of the base counts against the work. `fails`: its base version fails with the work. `not-loaded`: its base
 * version does not load with the work. `removed`: the work no longer runs it. `cannot-fail`: it passes with faults
 * planted in the work. `rules-changed`: the entry is not a test but the file with the rules of the project, which the
 * work changed.
 */
export const CONTESTED_WHY = ["fails", "not-loaded", "removed", "cannot-fail", "rules-changed"] as const;

/** A test that passed at the base and that the work changed or removed. A reviewer or a person decides about it. */
export type ContestedTest = Stored<typeof contestedTestSchema>;

/** A test, or a pattern of tests, that a person allowed the work to change. */
export interface LicensedTest {
  readonly test: string;
  readonly by: string;
  readonly reason: string;
}

/** Says why a test is contested, in a phrase that follows the test's name. */
export function contestedWords({ why, isOfStory }: Pick<ContestedTest, "why" | "isOfStory">): string {
  const version = isOfStory === true ? "the version that was passed earlier" : "its base version";
  switch (why) {
    case "fails":
      return `fails in ${version}`;
    case "not-loaded":
      return `does not load in ${version}`;
    case "removed":
      return isOfStory === true ? "was passed earlier and no longer runs" : "passed at the base and no longer runs";
    case "cannot-fail":
      return "passes with faults planted in the code that it runs";
    case "rules-changed":
      return "says how the work is judged, and was changed";
  }
}

function restoreWords({ why, isOfStory }: ContestedTest): string {
  const version = isOfStory === true ? "as it was when it was passed" : "as it is at the base";
  switch (why) {
    case "fails":
      return `Restore the test ${version}, and change the code so that the test passes.`;
    case "not-loaded":
      return `Restore the test ${version}, and the names and paths that it imports.`;
    case "removed":
      return `Put the test back ${version}, so that the check runs it.`;
    case "cannot-fail":
      return "Take out what keeps the test from failing, and change the code so that the test passes by itself.";
    case "rules-changed":
      return "Restore the file: a person changes the rules, not the work that is judged by them.";
  }
}

/** Formats names only: "2 contested tests: …". */
export function contestedText(tests: readonly Pick<ContestedTest, "test">[]): string {
  return `${countText(tests.length, "contested test")}: ${tests.map(({ test }) => test).join(", ")}`;
}

/** Formats the tests, each with the reason why it is contested. */
export function contestedSummary(tests: readonly ContestedTest[]): string {
  const names = tests.map((each) => `${each.test} (${contestedWords(each)})`);
  return `${countText(tests.length, "contested test")}: ${names.join(", ")}`;
}

const CONTESTED_CATEGORY = "contested-test";

/** Turns a contested test that no license allows into a finding, with what to restore. */
export function contestedFinding(
  contested: ContestedTest,
  source: string,
  severity: Finding["severity"],
): FindingDraft {
  const { test, file } = contested;
  return {
    severity,
    category: CONTESTED_CATEGORY,
    source,
    message: `${test} ${contestedWords(contested)}`,
    ...(file === undefined ? {} : { file }),
    suggestedFix: restoreWords(contested),
  };
}
