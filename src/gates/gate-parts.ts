import type { GateName, CombineVerdicts } from "../core/gates/gate.ts";
import type { Severity } from "../core/gates/finding.ts";
import type { EnvironmentIn } from "../adapters/process/environment.ts";
import type { Clock } from "../ports/clock.ts";
import type { Evidence } from "../ports/evidence.ts";
import type { ExperimentRunner } from "../ports/experiment-runner.ts";
import type { Forge } from "../ports/forge.ts";
import type { Gate, GateRequest } from "../ports/gate.ts";
import type { RoleRegistry } from "../ports/agent.ts";
import type { Workspace, Integration } from "../ports/workspace.ts";
import type { CheckEnvironment } from "./checks/environments.ts";
import type { KnownFlake } from "./checks/flakes.ts";
import type { CoverageRules } from "./checks/measures.ts";
import type { HiddenParts } from "./checks/hidden-checks.ts";
import type { CheckCommand } from "./checks/run-check.ts";
import type { Sandbox } from "../ports/sandbox.ts";
import type { BaseFaultStore } from "./pinned/pinned-run.ts";

/** Makes a gate for a project; `null` if a part that it needs is missing. */
export type CreateGate = (settings: GateSettings, parts: GateParts) => Gate | null;

/** The project's settings for gates. */
export interface GateSettings {
  readonly gates: { readonly [G in GateName]: OwnSettings };
  readonly environments: Readonly<Record<string, CheckEnvironment>>;
  readonly scope: { readonly testPaths: readonly string[] };
  readonly oracle: readonly string[];
  readonly product: readonly string[];
  /** The folder of the story files. */
  readonly stories: string;
  readonly roles: {
    readonly critic: string;
    readonly auditor: string;
    readonly oracle: string;
    readonly stage: Readonly<Record<string, string>>;
  };
  /** How long a CI run may take. */
  readonly ciPatienceMs: number;
}

/** A mutant that a person marked as equivalent: it changes no behavior, so no test can detect it. */
export interface EquivalentMutant {
  readonly file: string;
  /** `replaced > with >=` */
  readonly mutation: string;
  readonly by: string;
  readonly reason: string;
}

/** The settings of one gate. Each gate reads those that it uses. */
interface OwnSettings {
  readonly commands: readonly CheckCommand[];
  readonly stages: readonly string[];
  readonly perspectives: readonly string[];
  readonly reports: readonly string[];
  readonly reruns: number;
  readonly parallel: number;
  readonly reset?: string;
  readonly faults?: "auto" | "off";
  /** Commands that run with hidden files; default: the gate's own. */
  readonly hidden?: readonly CheckCommand[];
  readonly coverage?: CoverageRules;
  readonly rules: Readonly<Record<string, Severity | "off">>;
  readonly report?: string;
  readonly threshold?: number;
  readonly equivalent?: readonly EquivalentMutant[];
}

/** The parts that gates are made of. */
export interface GateParts {
  readonly evidence: Evidence;
  readonly clock: Clock;
  readonly workspace: Workspace;
  /** The environment of commands. */
  readonly env: EnvironmentIn;
  /** The sandbox of commands. */
  readonly sandbox: Sandbox;
  /** Returns the tests that were flaky before. */
  readonly flakes?: (() => Promise<readonly KnownFlake[]>) | undefined;
  /** Stored results of faults planted in a base; default: kept while the process runs. */
  readonly baseFaults?: BaseFaultStore | undefined;
  /** Files that no agent sees; default: none. */
  readonly hidden?: HiddenParts | null;
  /** Runs the base's tests on the work; `null`: no experiments. */
  readonly experimentRunner: ExperimentRunner | null;
  /** Provides clean checkouts for gates that run code and for reviewers; `null`: they use the author's folder. */
  readonly checkouts: ExperimentRunner | null;
  /** `null`: no reviewers, only programs judge. */
  readonly reviewers: ReviewerParts | null;
  /** `null`: no delivery. */
  readonly delivery: DeliveryParts | null;
  /** Returns a gate that comes earlier in the registry. */
  gate(name: GateName): Gate | undefined;
  /** Wraps a gate so that its run on the base decides which HOME and variables the commands get. */
  decideEnvironment(gateIn: (env: EnvironmentIn, sandbox: Sandbox) => Gate): Gate;
}

/** The parts for gates that ask reviewers. */
export interface ReviewerParts {
  readonly roleRegistry: RoleRegistry;
  /** The project's rules for reviewers, by gate. */
  readonly practices: readonly string[];
  /** The rule that makes one result of several verdicts: see ADR 9. */
  readonly judge: CombineVerdicts;
  nonce(): string;
  /** Returns a phase's product, if that is not the diff. */
  productOf?(request: GateRequest): Promise<string>;
}

export interface DeliveryParts {
  /** `null`: work stays in the user's own checkout. */
  readonly integration: Integration | null;
  readonly forge: Forge | null;
}
