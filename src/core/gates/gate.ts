import type { AgentSession, EvidenceId, Fingerprint, RoleName, TreeId } from "../events/ids.ts";
import type { TddPhase } from "../stories/story.ts";
import type { Result } from "../events/error.ts";
import type { ContestedTest } from "./contested-test.ts";
import type { Finding } from "./finding.ts";
import type { NameLevel } from "./test-names.ts";
import { GATE_REGISTRY, type GateDescriptor } from "./registry.ts";

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

/** The role whose time limit the gate has, and who is held to have raised its findings where no stage says so. */
export const roleOfGate = (gate: GateName): "critic" | "auditor" => GATE_REGISTRY[gate].reviewer ?? "critic";

/** Why an outside CI run failed; decided before anything is done about it. */
export const CI_CLASSES = ["test", "lint", "build", "configuration", "infrastructure", "flaky"] as const;
export type CiClass = (typeof CI_CLASSES)[number];

/** An ordered part of a gate, or one of several perspectives looked at side by side. */
export interface StageResult {
  readonly stage: string;
  readonly result: Result;
  readonly reviewer: RoleName;
  readonly summary?: string;
}

export interface TestCounts {
  readonly total: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/**
 * What a run says of single tests and faults, by identity. The names are those of `story.prepared.preExisting`:
 * `file > test`, `file: message` for a fault that is no test, the check's own name where its output names nothing. Only
 * names that other rounds are compared by are kept: a suite of 20,000 tests that pass adds none.
 */
export interface TestIdentities {
  /** Everything that failed, red at the base or not. */
  readonly failing: readonly string[];
  /** How many failures were counted and not named. Above 0, what is not in `failing` may have failed too. */
  readonly unlisted: number;
  /** Of what failed at the base or in this gate's last judgement: what the output or a report names as passed. */
  readonly passing: readonly string[];
  /** Of `failing`: what is known to have passed at the base. What cannot be known is left out. */
  readonly passedAtBase: readonly string[];
  /** Of `failing`: what is known to have passed when this gate judged last. */
  readonly passedLast: readonly string[];
  /** Checks in which a test ran: `check`, or `check in environment`. */
  readonly ranTests: readonly string[];
  /** Test files and checks that did not load (a syntax error, a failed build): what their tests say is unknown. */
  readonly notLoaded: readonly string[];
}

/** How the checks of one gate went over the base. They are called as in `TestIdentities.ranTests`. */
export interface BaseRun {
  /** Checks that ended by themselves within their time limit, whatever they said. */
  readonly ended: readonly string[];
  /** Checks in which a test ran. */
  readonly ranTests: readonly string[];
  /** Test files and checks that did not load. */
  readonly notLoaded: readonly string[];
  /** Where the outcome of every single test is kept, for checks that name them. */
  readonly tests?: EvidenceId;
  /** How much each check says of its tests by name; absent in older runs. */
  readonly names?: Readonly<Record<string, NameLevel>>;
  /** Checks that went differently while their tests were reported by name, and therefore run without that. */
  readonly unreported?: readonly string[];
  /** Test files, and files of runners, that the checks themselves write. */
  readonly written?: readonly string[];
}

/** By gate; a gate that runs no check has none. */
export type BaseRuns = { readonly [G in GateName]?: BaseRun };

/** One cell of S0's matrix: one check in one environment. */
export interface CheckRun {
  readonly check: string;
  readonly command: string;
  readonly environment: string;
  readonly result: Result;
  readonly exitCode: number | null;
  readonly details: string;
  /** How much it says of its tests by name; absent where it did not run, and in older judgements. */
  readonly names?: NameLevel;
}

/** In per cent. */
export interface Coverage {
  readonly lines: number;
  readonly branches: number | null;
}

/** The most that was measured so far, which later rounds are held against. Coverage is in per cent. */
export interface Measures {
  /** Tests that ran. */
  readonly tests?: number;
  readonly lines?: number;
  readonly branches?: number;
}

export interface CriterionResult {
  readonly criterion: string;
  readonly status: "verified" | "failed" | "unknown";
  readonly evidence: string;
}

/** One judgement of one gate over one tree: what the gate's adapter hands back, after `policy/judge`. */
export interface Judgement {
  readonly gate: GateName;
  readonly result: Result;
  readonly tree: TreeId;
  readonly findings: readonly Finding[];
  /** The findings, by identity, that stand between this tree and a pass. */
  readonly blocking: readonly Fingerprint[];
  /** What failed, normalised; equal fingerprints are the same failure. */
  readonly failure?: Fingerprint;
  readonly stages?: readonly StageResult[];
  readonly runs?: readonly CheckRun[];
  readonly criteria?: readonly CriterionResult[];
  readonly tests?: TestCounts;
  /** Absent in judgements of gates that run no check, and in older ones: then nothing is known of single tests. */
  readonly identities?: TestIdentities;
  readonly coverage?: Coverage;
  readonly most?: Measures;
  /** Tests, or whole checks, that gave two answers about one tree. */
  readonly flaky?: readonly string[];
  /** What a pass does not show, or was given in spite of: known failures, quarantined tests, no test of the change. */
  readonly notes?: readonly string[];
  /**
   * Of a gate that runs tests: those of the base that the work changed or removed, without a license to. Of a reviewer:
   * those that it was asked to rule on; its pass lets them through.
   */
  readonly contested?: readonly ContestedTest[];
  readonly ciClass?: CiClass;
  readonly tddPhase?: TddPhase;
  readonly conflicts?: readonly ReviewConflict[];
  /** What must be done, in the reviewer's words. */
  readonly requiredFixes?: readonly string[];
  readonly summary: string;
  /** What the reviewer learned that the author needs. */
  readonly context?: readonly string[];
  /** The critic's assessment, by aspect. */
  readonly quality?: Readonly<Record<string, string>>;
  /** Where the auditor contradicts the critic, or the engine's own runs: in a sentence. */
  readonly disagreement?: string;
  /** The reviewer failed the work and, even when asked, could not say for what. */
  readonly isBestEffort?: boolean;
  /** Of an error: there is no use in judging again before this moment. */
  readonly retryAt?: number;
  /** How often each role was asked for it, and the conversations that it may be asked in again. */
  readonly asked?: Readonly<Record<RoleName, number>>;
  readonly sessions?: Readonly<Record<RoleName, AgentSession>>;
  readonly evidence: readonly EvidenceId[];
  readonly costUsd?: number;
  readonly tokens?: number;
  readonly durationMs: number;
}

/** A gate that broke has not judged: that is its `error`, never the work's failure. */
export function errorJudgement(gate: GateName, tree: TreeId, summary: string): Judgement {
  return { gate, tree, result: "error", findings: [], blocking: [], summary, evidence: [], durationMs: 0 };
}

/** Two reviewers who ask for opposite things in one place. */
export interface ReviewConflict {
  readonly file: string;
  readonly line: number;
  readonly between: readonly [string, string];
  readonly says: readonly [string, string];
  /** Whose word counts; `null` is a tie, which a person breaks. */
  readonly winner: string | null;
}
