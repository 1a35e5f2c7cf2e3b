import { identified, type Finding } from "../../domain/finding.ts";
import type { Severity } from "../../domain/severity.ts";
import { readTestText, type TestText } from "./test-text.ts";

/** A file in two states; `null` where it is not there. */
export interface FilePair {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/**
 * How strictly tests are kept: in new work they may be rewritten, and only what takes a test out of the run is told.
 * In rework, which must not touch them, every loss is.
 */
export interface Keeping {
  readonly severity: Severity;
  readonly strict: boolean;
}

/** What was done to the tests that makes them prove less. A test that moved to another file is not lost. */
export function weakenedTests(files: readonly FilePair[], keeping: Keeping): Finding[] {
  const readings = files.map((file) => ({
    file,
    before: file.before === null ? EMPTY : readTestText(file.path, file.before),
    after: file.after === null ? EMPTY : readTestText(file.path, file.after),
  }));
  const titlesNow = new Set(readings.flatMap(({ after }) => after.titles));
  const textsNow = new Set(files.flatMap(({ after }) => after ?? []));
  return readings.flatMap(({ file, before, after }) => {
    const lost = before.titles.filter((title) => !titlesNow.has(title));
    if (file.after === null) {
      const hasMoved = textsNow.has(file.before ?? "") || (before.titles.length > 0 && lost.length === 0);
      return hasMoved ? [] : [deleted(file.path, before, keeping)];
    }
    return [
      ...(lost.length > 0 && (keeping.strict || after.tests < before.tests)
        ? [testsGone(file.path, lost, keeping)]
        : []),
      ...(after.skipped > before.skipped ? [skipsAdded(file.path, after.skipped - before.skipped, keeping)] : []),
      ...(after.focused > before.focused ? [focusAdded(file.path, keeping)] : []),
      ...(keeping.strict && file.before !== null && after.assertions < before.assertions
        ? [assertionsGone(file.path, before.assertions, after.assertions, keeping)]
        : []),
    ];
  });
}

const EMPTY: TestText = { titles: [], tests: 0, skipped: 0, focused: 0, assertions: 0 };

function deleted(file: string, { tests }: TestText, keeping: Keeping): Finding {
  const count = tests === 0 ? "" : `, and ${tests === 1 ? "the test" : `the ${tests} tests`} in it`;
  return finding(
    file,
    `the test file was deleted${count}`,
    "Restore the file. Make the code pass the tests, not the tests fit the code.",
    keeping,
  );
}

function testsGone(file: string, lost: readonly string[], keeping: Keeping): Finding {
  const shown = lost.slice(0, 5).map((title) => JSON.stringify(title.slice(0, 100)));
  const more = lost.length > shown.length ? ` and ${lost.length - shown.length} more` : "";
  const message = `${lost.length === 1 ? "a test is" : `${lost.length} tests are`} no longer there: ${shown.join(", ")}${more}`;
  return finding(
    file,
    message,
    "Put them back under their own names, unchanged. New tests may be added beside them.",
    keeping,
  );
}

function skipsAdded(file: string, count: number, keeping: Keeping): Finding {
  const message = `${count === 1 ? "a test or group is" : `${count} tests or groups are`} now skipped, or expected to fail`;
  return finding(file, message, "Take the skip away and make the test pass.", keeping);
}

function focusAdded(file: string, keeping: Keeping): Finding {
  return finding(
    file,
    "only some of the tests in this file run now (`only`, `fit`, `focus`)",
    "Take the focus away, so that every test runs again.",
    keeping,
  );
}

function assertionsGone(file: string, before: number, after: number, keeping: Keeping): Finding {
  const message = `the file asserts less than before: ${after} assertions, ${before} before`;
  return finding(file, message, "Restore the assertions that were taken out, and make the code satisfy them.", keeping);
}

function finding(file: string, message: string, suggestedFix: string, { severity }: Keeping): Finding {
  return identified({ severity, category: "integrity", source: "integrity", file, message, suggestedFix });
}
