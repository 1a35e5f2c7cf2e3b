import type { Severity } from "./finding.ts";

/** What the integrity gate looks for, and how grave it is: in new work, and in rework, which may touch less. */
export interface IntegrityRule {
  readonly newWork: Severity;
  readonly rework: Severity;
  /** Why it matters, for the reader of the finding. */
  readonly why: string;
  /** Does a reason that the agent gives for the file turn it into information, where the scope lets reasons count? */
  readonly excusable: boolean;
}

const rule = (newWork: Severity, rework: Severity, why: string, excusable = false): IntegrityRule => ({
  newWork,
  rework,
  why,
  excusable,
});

/** Every rule by its name. In a config `gates.integrity.rules` changes the severity of one, or switches it off. */
export const INTEGRITY_RULES = {
  "nothing-changed": rule("blocker", "blocker", "Work that leaves the files as they were is no work."),
  "scope-outside": rule("blocker", "blocker", "A rework may touch what its brief names, and nothing else.", true),
  "scope-denied": rule("blocker", "blocker", "The brief says that this file must stay as it is.", true),
  "tests-frozen": rule("blocker", "blocker", "In this rework no test file may change, and none may be added.", true),
  "test-changed": rule("info", "blocker", "Existing tests say what is right; a rework makes the code fit them.", true),
  "test-deleted": rule("critical", "blocker", "A test that is gone cannot fail."),
  "test-out-of-run": rule(
    "critical",
    "blocker",
    "A test file under a name that the runner does not look for never runs.",
  ),
  "test-skipped": rule("critical", "blocker", "A test that is skipped, or expected to fail, proves nothing."),
  "test-focused": rule("critical", "blocker", "Where some tests are focused, all others are left out."),
  "test-retried": rule("major", "blocker", "A test that may try again hides a fault that comes and goes."),
  "assertion-removed": rule("critical", "blocker", "A test that asserts less proves less."),
  "assertion-loosened": rule("critical", "blocker", "An assertion that lets more pass proves less."),
  "assertion-trivial": rule("critical", "blocker", "An assertion that is always true proves nothing."),
  "assertion-unreached": rule(
    "critical",
    "blocker",
    "An assertion that is not reached, or whose failure is caught, proves nothing.",
  ),
  "subject-mocked": rule("critical", "blocker", "A test that replaces what it is about tests the replacement."),
  "snapshot-changed": rule(
    "minor",
    "blocker",
    "A snapshot records the expected output; rewriting it makes any output pass.",
    true,
  ),
  "snapshot-rewritten": rule("critical", "blocker", "Snapshots that are rewritten by the dozen were not reviewed."),
  "threshold-lowered": rule("critical", "blocker", "A lower threshold makes the same work pass."),
  "strictness-lowered": rule("critical", "blocker", "A compiler or linter that looks at less finds less."),
  "suppression-added": rule(
    "critical",
    "critical",
    "A complaint that is silenced is still true. With a reason on the line it is a decision.",
  ),
  "suppression-explained": rule("minor", "minor", "A silenced complaint is worth a look, even with a reason."),
  "runner-changed": rule("critical", "blocker", "What judges the work must stay what it was when the work began."),
  "runner-adjusted": rule("major", "blocker", "What judges the work was changed, and still runs what it ran."),
  "tests-left-out": rule("critical", "blocker", "Tests that are left out, or whose failure is ignored, cannot fail."),
  "exit-forced": rule("critical", "blocker", "A test run that ends by its own will says nothing of the tests."),
  "environment-detected": rule(
    "critical",
    "critical",
    "Code that behaves otherwise under test is not the code that was tested.",
  ),
  secret: rule("critical", "critical", "A secret in the history is known to all who have the repository."),
  "secret-likely": rule("minor", "minor", "This looks like a secret."),
  "conflict-marker": rule("blocker", "blocker", "A file with both halves of a merge in it is neither."),
  "debug-stop": rule("major", "major", "A program that stops for a debugger stops for its users too."),
  "debug-output": rule("minor", "minor", "This looks like a line that was written to look for a fault."),
  "remove-marker": rule("major", "major", "The line itself says that it must not stay."),
  "large-file": rule("major", "major", "A large file stays in the history for good."),
  "binary-file": rule("minor", "minor", "A reviewer cannot read what changed in it."),
  "not-looked-at": rule("critical", "critical", "What the gate could not read it cannot vouch for."),
} as const satisfies Readonly<Record<string, IntegrityRule>>;

export type IntegrityRuleName = keyof typeof INTEGRITY_RULES;

/**
 * What the base's tests, run with the work, decide: these rules read what changed in tests and in what runs them, and
 * only explain it where that run is made.
 */
export const DECIDED_BY_RUNS: ReadonlySet<IntegrityRuleName> = new Set([
  "test-deleted",
  "test-out-of-run",
  "test-skipped",
  "test-focused",
  "assertion-removed",
  "assertion-loosened",
  "snapshot-changed",
  "snapshot-rewritten",
  "threshold-lowered",
  "runner-changed",
  "runner-adjusted",
  "tests-left-out",
  "exit-forced",
]);

export const INTEGRITY_RULE_NAMES = Object.keys(INTEGRITY_RULES) as readonly IntegrityRuleName[];
