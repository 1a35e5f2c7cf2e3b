import { placeOfFailure } from "../../domain/base-failures.ts";
import { counted } from "../../domain/counted.ts";
import { identified, type Finding } from "../../domain/finding.ts";
import type { PinnedTree } from "./pinned-tree.ts";

export const NO_TEST = "no test shows this change";

const pathsOf = (pinned: PinnedTree | null): readonly string[] =>
  pinned === null ? [] : [...pinned.taken, ...pinned.texts.keys()];

export function unmetTarget(name: string, { detail, message }: Finding, pinned: PinnedTree | null): Finding {
  const place = placeOfFailure(name);
  const paths = pathsOf(pinned);
  const file = paths.find((path) => path === place || path.endsWith(`/${place}`));
  return identified({
    severity: "critical",
    category: "target",
    source: "checks",
    symbol: name,
    message: `the target ${name} fails with the base's version of its tests`,
    detail: [`Put back for this run: ${paths.join(", ")}`, message, ...(detail === undefined ? [] : [detail])].join(
      "\n",
    ),
    suggestedFix: `Restore ${file ?? paths.join(", ")} as it was, and change the code so that the test passes.`,
    ...(file === undefined ? {} : { file }),
  });
}

export function missingTarget(name: string): Finding {
  return identified({
    severity: "critical",
    category: "target",
    source: "checks",
    symbol: name,
    message: `the target ${name} does not run`,
    detail: "It failed at the base. With the work the check passes, and this test is not among those that ran.",
    suggestedFix: "Make the test run again, and change the code so that it passes.",
  });
}

/** So many are named one by one; a list of hundreds helps no reader. */
const MOST_NAMED = 20;

export function goneTests(names: readonly string[], changed: readonly string[]): Finding[] {
  const rest = names.length - MOST_NAMED;
  const findings = names.slice(0, MOST_NAMED).map((name) => goneTest(name, changed));
  if (rest <= 0) return findings;
  const message = `${counted(rest, "more test")} passed at the base and no longer run`;
  return [...findings, identified({ severity: "critical", category: "tests", source: "checks", message })];
}

function goneTest(name: string, changed: readonly string[]): Finding {
  const place = placeOfFailure(name);
  const file = changed.find((path) => path === place || path.endsWith(`/${place}`));
  return identified({
    severity: "critical",
    category: "tests",
    source: "checks",
    symbol: name,
    message: `${name} passed at the base and no longer runs`,
    suggestedFix:
      "Make it run again. If the work must remove it, the story's `tests:` or --tests-may-change has to allow that.",
    ...(file === undefined ? {} : { file }),
  });
}

export function fewerTests({ before, now }: { readonly before: number; readonly now: number }): Finding {
  return identified({
    severity: "critical",
    category: "tests",
    source: "checks",
    message: "fewer tests run than at the base",
    detail: `${counted(before, "test")} ran at the base, ${now} with the work and the base's tests.`,
    suggestedFix: "Make all tests of the base run again.",
  });
}

export function untested(): Finding {
  return identified({
    severity: "critical",
    category: "tests",
    source: "checks",
    message: NO_TEST,
    suggestedFix: "Add a test that fails without this change, or change one so that it does.",
  });
}
