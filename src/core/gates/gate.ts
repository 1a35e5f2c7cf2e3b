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

/** A check of the work that gives a result and evidence. */
export type GateName = keyof typeof GATE_REGISTRY;
export const GATES = Object.keys(GATE_REGISTRY) as readonly GateName[];

/** The gates of which this is true, in the order of the registry. */
export const gatesThat = (is: (gate: GateDescriptor) => boolean): readonly GateName[] =>
  GATES.filter((name) => is(GATE_REGISTRY[name]));

/** One value for each gate. */
export function byGate<T>(make: (gate: GateName) => T): { readonly [G in GateName]: T } {
  return Object.fromEntries(GATES.map((gate) => [gate, make(gate)])) as { [G in GateName]: T };
}

/** Does a reviewer decide it? What a program decides is no opinion. */
export const isReviewed = (gate: GateName): boolean => GATE_REGISTRY[gate].reviewer !== null;

/** Does a reviewer decide it who is shown contested tests, so that a pass lets them through? */
export const rulesOnTests = (gate: GateName): boolean => isReviewed(gate) && GATE_REGISTRY[gate].pinsTests;

/** The role whose time limit the gate has, and who is held to have raised its findings where no stage says so. */
export const roleOfGate = (gate: GateName): "critic" | "auditor" | "oracle" => GATE_REGISTRY[gate].reviewer ?? "critic";

/** Whose limits apply to the gate's run: an oracle has those of an auditor. */
export function timeLimitRole(gate: GateName): "critic" | "auditor" {
  const role = roleOfGate(gate);
  return role === "oracle" ? "auditor" : role;
}

/** The commands that each gate is given. */
type CommandSettings = { readonly [G in GateName]: { readonly commands: readonly unknown[] } };

/** The commands that a gate runs: its own, or for a gate that may borrow them, those of the gate that has to have them. */
export function commandsFor<S extends CommandSettings>(gate: GateName, settings: S): S[GateName]["commands"] {
  const { commands } = settings[gate];
  if (commands.length > 0 || GATE_REGISTRY[gate].needs?.what !== "test-commands") return commands;
  const [lender] = gatesThat(({ needs, runsTests }) => runsTests && needs?.what === "commands");
  return lender === undefined ? commands : settings[lender].commands;
}

/** Has the gate nothing to judge by? */
export function isWithoutCommands(gate: GateName, settings: CommandSettings, hasForge: boolean): boolean {
  const { needs } = GATE_REGISTRY[gate];
  if (needs === null || (hasForge && needs.what === "commands-or-forge")) return false;
  return commandsFor(gate, settings).length === 0;
}

/** Why an outside CI run failed; decided before anything is done about it. */
export const CI_CLASSES = ["test", "lint", "build", "configuration", "infrastructure", "flaky"] as const;
export type CiClass = (typeof CI_CLASSES)[number];

/** One judgement of one gate over one tree. */
export type Judgement = Stored<typeof judgementSchema>;

export type StageResult = Stored<typeof stageResultSchema>;
export type TestCounts = NonNullable<Judgement["tests"]>;
export type TestIdentities = NonNullable<Judgement["identities"]>;
export type CheckRun = Stored<typeof checkRunSchema>;
export type Coverage = NonNullable<Judgement["coverage"]>;
export type Measures = NonNullable<Judgement["most"]>;
export type CriterionResult = Stored<typeof criterionResultSchema>;
export type ReviewConflict = Stored<typeof reviewConflictSchema>;

/** How the checks of one gate went over the base. */
export type BaseRun = Stored<typeof baseRunSchema>;
/** By gate; a gate that runs no check has none. */
export type BaseRuns = Stored<typeof baseRunsSchema>;

/** A gate that broke has not judged: that is its `error`, never the work's failure. */
export function errorJudgement(gate: GateName, tree: TreeId, summary: string): Judgement {
  return { gate, tree, result: "error", findings: [], blocking: [], summary, evidence: [], durationMs: 0 };
}

/** What one reviewer, or one tool, said of the work. */
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
  /** Stages that were not heard again, because they passed before what failed. */
  readonly kept: readonly StageResult[];
  /** Findings that an independent reviewer has thrown out. */
  readonly overturned: readonly Fingerprint[];
}

export type ReviewOutcome = Pick<
  Judgement,
  "gate" | "tree" | "result" | "findings" | "blocking" | "stages" | "conflicts" | "summary"
> & {
  readonly failure?: Fingerprint;
};

/** The rule that makes one result of what was said. Gates are given it: they bring evidence, and do not decide. */
export type Judge = (hearing: ReviewInput) => ReviewOutcome;

/** Which of these changed paths could have changed what the gate saw. Where there is none, what it proved still holds. */
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
 * A rework that was for tests, and changed nothing else, leaves the passes of reviewers alone: what they looked at is as
 * it was, and the tests are judged by the gates that run them (S1.49).
 */
export function isTestRework(
  policy: Pick<Policy, "scope">,
  sentBackBy: GateName | "person" | null,
  changed: readonly string[],
): boolean {
  if (sentBackBy === null || sentBackBy === "person" || GATE_REGISTRY[sentBackBy].reworkScope !== "tests") return false;
  return changed.every((path) => matchesAnyGlob(path, policy.scope.testPaths));
}
