import type { TddPhase } from "../stories/story.ts";
import type { Severity } from "./finding.ts";

/**
 * What the rest of the code asks about a gate. A new gate is one row in `ROWS` below and one in
 * `src/gates/registry.ts`; nothing else compares names of gates.
 */
export interface GateDescriptor {
  /** What the gate checks, in one sentence: the description of `gates.<name>` in the config. */
  readonly purpose: string;
  /** The queue of the gate; each lane has its own limit (`concurrency`). */
  readonly lane: "checks" | "critics" | "auditors";
  /** The role that decides it; `null` if programs decide. Only a reviewer's findings are opinions. */
  readonly reviewer: "critic" | "auditor" | "oracle" | null;
  /** Whether each stage, or perspective, may have a reviewer of its own (`roles.stage`). */
  readonly hasStageReviewers: boolean;
  /** The stage of a review whose findings come from the engine's own runs and are not opinions. */
  readonly stageOfRuns: string | null;
  /** Whether the gate runs the project's tests, on the base too. */
  readonly runsTests: boolean;
  /** Whether a pass confirms the tests, so that later work must pass them. */
  readonly pinsTests: boolean;
  /** What the config must name before the gate can judge anything; `null` if it needs nothing. */
  readonly needs: GateNeeds | null;
  /** Whether the gate rejects a change by rule, before anything runs. The rework restores what was rejected. */
  readonly refusesByRule: boolean;
  /** The names of the gate's own rules, whose severity a config may change. */
  readonly ruleNames: readonly string[];
  /** Whether the gate is quick enough to run inside an agent's client while a person waits. */
  readonly runsInStopHook: boolean;
  /** Whether the gate judges the work merged with its target: a pass holds for one base, a failure cannot be waived. */
  readonly judgesWithTarget: boolean;
  /**
   * Whether the gate classifies outside failures (`ciClass`): some count for the gate that runs tests, some for none.
   */
  readonly classifiesRuns: boolean;
  /** Whether the gate judges the whole commit: every changed path makes its evidence stale. */
  readonly seesEveryPath: boolean;
  /** Whether the work of this gate goes through red, domain and green. */
  readonly hasTddPhases: boolean;
  /** The phase in which a TDD pair resumes after a failure, unless the judgement names one. */
  readonly resumesAt: TddPhase;
  /** What a rework may change: what the blame names, only tests, or only what must be restored. */
  readonly reworkScope: "cause" | "tests" | "restore";
  /** The form of the gate's brief. */
  readonly brief: BriefVariant;
  /** The form of the gate's brief if it has stages in order. */
  readonly stagedBrief: BriefVariant;
  /** Whether a failure in only some environments has its own form of brief. */
  readonly hasEnvironmentBrief: boolean;
  /** What the gate reports of a failure: the form of the trigger in `rework-log.json`. */
  readonly reports: "findings" | "criteria" | "checks" | "tdd" | "ci" | "survivors" | "reasons";
  /** Whether every stored policy has rules for the gate. Older policies have none for gates that were added later. */
  readonly isInEveryPolicy: boolean;
  /** Where the gate's settings differ from the common defaults. */
  readonly defaults: GateDefaults;
}

/**
 * `commands`: commands of its own. `test-commands`: its own, or those of the gate that needs commands and runs tests.
 * `commands-or-forge`: its own, or a forge that runs them.
 */
interface GateNeeds {
  readonly what: "commands" | "test-commands" | "commands-or-forge";
  /** A command that people would name, as an item of a YAML list. */
  readonly example: string;
}

interface GateDefaults {
  readonly unaffectedBy?: readonly string[];
  readonly blame?: boolean;
  /** In percent. */
  readonly threshold?: number;
}

/**
 * The forms of a brief: review, audit and environment (S0.9, S0.19, S0.25), one per gate (S1.4), rework (S3.10), phase (S4.60),
 * and our own for the integrity gate.
 */
export const BRIEF_VARIANTS = [
  "review",
  "audit",
  "environment",
  "tdd",
  "staged-review",
  "mutation",
  "ci",
  "goal",
  "phase",
  "integrity",
  "merge",
] as const;
export type BriefVariant = (typeof BRIEF_VARIANTS)[number];

/** The stage of an audit that consists of the engine's own runs. */
export const VERIFICATION = "verification";

/** Prose: a change of it cannot change what a test or a planted fault does. */
const DOCS = ["**/*.md", "**/*.mdx", "**/*.rst", "**/*.adoc", "**/LICENSE"];

/** Defaults of a gate's row: a program decides it, and its failure goes back with a plain brief. */
const PLAIN: Omit<GateDescriptor, "purpose" | "stagedBrief"> = {
  lane: "checks",
  reviewer: null,
  hasStageReviewers: false,
  stageOfRuns: null,
  runsTests: false,
  pinsTests: false,
  needs: null,
  refusesByRule: false,
  ruleNames: [],
  runsInStopHook: false,
  judgesWithTarget: false,
  classifiesRuns: false,
  seesEveryPath: false,
  hasTddPhases: false,
  resumesAt: "green",
  reworkScope: "cause",
  brief: "goal",
  hasEnvironmentBrief: false,
  reports: "reasons",
  isInEveryPolicy: false,
  defaults: {},
};

/** Fills in what a row leaves out. */
function describeGate(row: Partial<GateDescriptor> & Pick<GateDescriptor, "purpose">): GateDescriptor {
  const described = { ...PLAIN, ...row };
  return { ...described, stagedBrief: row.stagedBrief ?? described.brief };
}

const rule = (newWork: Severity, rework: Severity, why: string, excusable = false): IntegrityRule => ({
  newWork,
  rework,
  why,
  excusable,
});

/** Every rule by its name. In a config, `gates.integrity.rules` changes the severity of a rule or switches it off. */
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

export const INTEGRITY_RULE_NAMES = Object.keys(INTEGRITY_RULES) as readonly IntegrityRuleName[];

/** In the order in which gates are listed to people. */
const ROWS = {
  integrity: describeGate({
    purpose: "Checks the diff for ways to fake a pass, such as edited tests and changed settings. No program runs.",
    isInEveryPolicy: true,
    refusesByRule: true,
    ruleNames: INTEGRITY_RULE_NAMES,
    runsInStopHook: true,
    seesEveryPath: true,
    reworkScope: "restore",
    brief: "integrity",
  }),
  checks: describeGate({
    purpose: "Runs the project's own commands (tests, lint, types) in a clean checkout.",
    isInEveryPolicy: true,
    runsTests: true,
    needs: { what: "commands", example: "npm test" },
    runsInStopHook: true,
    hasEnvironmentBrief: true,
    reports: "checks",
    defaults: { unaffectedBy: DOCS, blame: true },
  }),
  tdd: describeGate({
    purpose: "Checks that tests came first: they fail without the work and pass with it.",
    isInEveryPolicy: true,
    runsTests: true,
    needs: { what: "test-commands", example: "npm test" },
    pinsTests: true,
    hasTddPhases: true,
    brief: "tdd",
    reports: "tdd",
    defaults: { unaffectedBy: DOCS, blame: true },
  }),
  review: describeGate({
    purpose: "A critic reviews the diff, as a whole or by stages.",
    isInEveryPolicy: true,
    lane: "critics",
    reviewer: "critic",
    hasStageReviewers: true,
    pinsTests: true,
    brief: "review",
    stagedBrief: "staged-review",
    reports: "findings",
  }),
  audit: describeGate({
    purpose: "An auditor checks each acceptance criterion against evidence.",
    isInEveryPolicy: true,
    lane: "auditors",
    reviewer: "auditor",
    stageOfRuns: VERIFICATION,
    pinsTests: true,
    brief: "audit",
    hasEnvironmentBrief: true,
    reports: "criteria",
  }),
  oracle: describeGate({
    purpose: "An oracle, which did not do the work, says whether the goal is reached.",
    lane: "auditors",
    reviewer: "oracle",
    pinsTests: false,
    defaults: { blame: true },
  }),
  mutation: describeGate({
    purpose: "Runs a mutation testing tool on the changed files: tests must notice its faults.",
    isInEveryPolicy: true,
    needs: { what: "commands", example: '"npx stryker run --mutate {files} --reporters json"' },
    resumesAt: "red",
    reworkScope: "tests",
    brief: "mutation",
    reports: "survivors",
    defaults: { unaffectedBy: DOCS, threshold: 100 },
  }),
  ci: describeGate({
    purpose: "Waits for the CI run of the branch, or runs commands instead, and classifies its failure.",
    isInEveryPolicy: true,
    needs: { what: "commands-or-forge", example: "npm run lint" },
    classifiesRuns: true,
    seesEveryPath: true,
    brief: "ci",
    reports: "ci",
    defaults: { blame: true },
  }),
  merge: describeGate({
    purpose: "Merges the target branch into the work, and the gates run again on the result.",
    isInEveryPolicy: true,
    judgesWithTarget: true,
    seesEveryPath: true,
    brief: "merge",
  }),
};

export const GATE_REGISTRY: Readonly<Record<keyof typeof ROWS, GateDescriptor>> = ROWS;

/** A rule of the integrity gate, with its severity in new work and in rework, which may change less. */
export interface IntegrityRule {
  readonly newWork: Severity;
  readonly rework: Severity;
  /** Why it matters, for the reader of the finding. */
  readonly why: string;
  /**
   * Whether a reason that the agent gives for the file lowers the finding to information, if the scope accepts reasons.
   */
  readonly excusable: boolean;
}

export type IntegrityRuleName = keyof typeof INTEGRITY_RULES;
