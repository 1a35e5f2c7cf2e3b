import type { Fingerprint, RoleName, TreeId } from "../events/ids.ts";
import type {
  baseRunSchema,
  baseRunsSchema,
  checkRunSchema,
  criterionResultSchema,
  judgementSchema,
  reviewConflictSchema,
  stageResultSchema,
} from "../schemas/gate-result.ts";
import type { Stored } from "../schemas/scalars.ts";
import { matchesAnyGlob } from "../../stdx/glob.ts";
import { GATE_REGISTRY, type GateDescriptor } from "./registry.ts";
import type { Finding } from "./finding.ts";
import type { GateRules, Policy } from "../events/policy.ts";
import type { Result } from "../events/error.ts";

/** A check of the work that returns a result and evidence. */
export type GateName = keyof typeof GATE_REGISTRY;
export const GATES = Object.keys(GATE_REGISTRY) as readonly GateName[];

/** Returns the gates whose descriptor satisfies a condition, in the order of the registry. */
export const gatesThat = (is: (gate: GateDescriptor) => boolean): readonly GateName[] =>
  GATES.filter((name) => is(GATE_REGISTRY[name]));

/** Makes one value for each gate. */
export function byGate<T>(make: (gate: GateName) => T): { readonly [G in GateName]: T } {
  return Object.fromEntries(GATES.map((gate) => [gate, make(gate)])) as { [G in GateName]: T };
}

/** Whether a reviewer decides the gate. A program's result is not an opinion. */
export const isReviewed = (gate: GateName): boolean => GATE_REGISTRY[gate].reviewer !== null;

/** Whether a reviewer decides the gate and sees contested tests, so that its pass accepts them. */
export const rulesOnTests = (gate: GateName): boolean => isReviewed(gate) && GATE_REGISTRY[gate].pinsTests;

/** Returns the role that limits the gate's time and counts as the author of its findings by default. */
export const roleOfGate = (gate: GateName): "critic" | "auditor" | "oracle" => GATE_REGISTRY[gate].reviewer ?? "critic";

/** Returns the role whose time limits apply to the gate's run: an oracle has those of an auditor. */
export function timeLimitRole(gate: GateName): "critic" | "auditor" {
  const role = roleOfGate(gate);
  return role === "oracle" ? "auditor" : role;
}

/** The configured commands of each gate. */
type CommandSettings = { readonly [G in GateName]: { readonly commands: readonly unknown[] } };

/** Returns the gate's commands. A gate of `test-commands` without any uses those of the gate that must have them. */
export function commandsFor<S extends CommandSettings>(gate: GateName, settings: S): S[GateName]["commands"] {
  const { commands } = settings[gate];
  if (commands.length > 0 || GATE_REGISTRY[gate].needs?.what !== "test-commands") return commands;
  const [lender] = gatesThat(({ needs, runsTests }) => runsTests && needs?.what === "commands");
  return lender === undefined ? commands : settings[lender].commands;
}

/** Whether the gate lacks the commands that it needs. */
export function isWithoutCommands(gate: GateName, settings: CommandSettings, hasForge: boolean): boolean {
  const { needs } = GATE_REGISTRY[gate];
  if (needs === null || (hasForge && needs.what === "commands-or-forge")) return false;
  return commandsFor(gate, settings).length === 0;
}

/** Why an outside CI run failed. The class decides how it is handled. */
export const CI_CLASSES = ["test", "lint", "build", "configuration", "infrastructure", "flaky"] as const;
export type CiClass = (typeof CI_CLASSES)[number];

/** The result of one gate on one tree. */
export type Judgement = Stored<typeof judgementSchema>;

export type StageResult = Stored<typeof stageResultSchema>;
export type TestCounts = NonNullable<Judgement["tests"]>;
export type TestIdentities = NonNullable<Judgement["identities"]>;
export type CheckRun = Stored<typeof checkRunSchema>;
export type Coverage = NonNullable<Judgement["coverage"]>;
export type Measures = NonNullable<Judgement["most"]>;
export type CriterionResult = Stored<typeof criterionResultSchema>;
export type ReviewConflict = Stored<typeof reviewConflictSchema>;

/** How the checks of one gate ended at the base. */
export type BaseRun = Stored<typeof baseRunSchema>;
/** By gate; gates without checks have no entry. */
export type BaseRuns = Stored<typeof baseRunsSchema>;

/** Builds the judgement of a gate that broke: its result is `error`, never a failure of the work. */
export function errorJudgement(gate: GateName, tree: TreeId, summary: string): Judgement {
  return { gate, tree, result: "error", findings: [], blocking: [], summary, evidence: [], durationMs: 0 };
}

/** What one reviewer, or one tool, reported about the work. */
export interface Verdict {
  readonly stage: string;
  readonly reviewer: RoleName;
  readonly result: Result;
  readonly findings: readonly Finding[];
  readonly summary: string;
}

export interface ReviewInput {
  readonly gate: GateName;
  readonly tree: TreeId;
  readonly rules: GateRules;
  readonly verdicts: readonly Verdict[];
  /** Stages that did not run again, because they passed before the stage that failed. */
  readonly kept: readonly StageResult[];
  /** Findings that an independent reviewer overturned. */
  readonly overturned: readonly Fingerprint[];
}

export type ReviewOutcome = Pick<
  Judgement,
  "gate" | "tree" | "result" | "findings" | "blocking" | "stages" | "conflicts" | "summary"
> & {
  readonly failure?: Fingerprint;
};

/** Combines verdicts into one result. Gates receive this function: they bring evidence and do not decide. */
export type CombineVerdicts = (input: ReviewInput) => ReviewOutcome;

/** Returns the changed paths that could change what the gate saw. If there are none, its evidence still holds. */
export function affectingPaths(
  policy: Pick<Policy, "gates">,
  gate: GateName,
  changed: readonly string[],
): readonly string[] {
  if (GATE_REGISTRY[gate].seesEveryPath) return changed;
  const { affectedBy, unaffectedBy } = policy.gates[gate];
  return changed.filter(
    (path) => (affectedBy.length === 0 || matchesAnyGlob(path, affectedBy)) && !matchesAnyGlob(path, unaffectedBy),
  );
}

/**
 * Whether a rework was for tests and changed nothing else. Such a rework keeps the passes of reviewers: the code that
 * they reviewed is unchanged, and the gates that run tests judge the tests (S1.49).
 */
export function isTestRework(
  policy: Pick<Policy, "scope">,
  sentBackBy: GateName | "person" | null,
  changed: readonly string[],
): boolean {
  if (sentBackBy === null || sentBackBy === "person" || GATE_REGISTRY[sentBackBy].reworkScope !== "tests") return false;
  return changed.every((path) => matchesAnyGlob(path, policy.scope.testPaths));
}
