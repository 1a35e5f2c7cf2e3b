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
  "suppression-added": rule(
    "critical",
    "critical",
    "A complaint that is silenced is still true. With a reason on the line it is a decision.",
  ),
  "suppression-explained": rule("minor", "minor", "A silenced complaint is worth a look, even with a reason."),
  "runner-changed": rule("info", "info", "What runs the tests was changed; the base's version of it decides."),
  "rules-changed": rule("critical", "blocker", "What judges the work must stay what it was when the work began."),
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

export const INTEGRITY_RULE_NAMES = Object.keys(INTEGRITY_RULES) as readonly IntegrityRuleName[];
