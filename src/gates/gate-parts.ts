import type { GateName, Judge } from "../core/gates/gate.ts";
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

/** Makes a gate for a project; `null` where what it needs is not there. */
export type CreateGate = (settings: GateSettings, parts: GateParts) => Gate | null;

/** What the project's config says that gates go by. */
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

/** A mutant that a person called equivalent: it changes no behavior, so no test can notice it. */
export interface EquivalentMutant {
  readonly file: string;
  /** `replaced > with >=` */
  readonly mutation: string;
  readonly by: string;
  readonly reason: string;
}

/** The settings of one gate. Each reads what concerns it. */
interface OwnSettings {
  readonly commands: readonly CheckCommand[];
  readonly stages: readonly string[];
  readonly perspectives: readonly string[];
  readonly reports: readonly string[];
  readonly reruns: number;
  readonly parallel: number;
  readonly reset?: string;
  readonly faults?: "auto" | "off";
  /** Commands that run with hidden files; none: the gate's own. */
  readonly hidden?: readonly CheckCommand[];
  readonly coverage?: CoverageRules;
  readonly rules: Readonly<Record<string, Severity | "off">>;
  readonly report?: string;
  readonly threshold?: number;
  readonly equivalent?: readonly EquivalentMutant[];
}

/** What gates are made from. */
export interface GateParts {
  readonly evidence: Evidence;
  readonly clock: Clock;
  readonly workspace: Workspace;
  /** The variables that commands see. */
  readonly env: EnvironmentIn;
  /** Around the commands. */
  readonly sandbox: Sandbox;
  /** The tests that were seen to be flaky before. */
  readonly flakes?: (() => Promise<readonly KnownFlake[]>) | undefined;
  /** What is known of faults planted in a base; absent: it is known as long as the process runs. */
  readonly baseFaults?: BaseFaultStore | undefined;
  /** Files that no agent sees; absent: none. */
  readonly hidden?: HiddenParts | null;
  /** Where the base's tests are tried with the work; `null`: nothing is proven by trying. */
  readonly experimentRunner: ExperimentRunner | null;
  /** Where gates that run code, and reviewers, get a clean checkout; `null`: they use the author's folder. */
  readonly checkouts: ExperimentRunner | null;
  /** `null`: only programs judge. */
  readonly reviewers: ReviewerParts | null;
  /** `null`: nothing is delivered from here. */
  readonly delivery: DeliveryParts | null;
  /** A gate of an earlier row of the registry. */
  gate(name: GateName): Gate | undefined;
  /** Lets the run on the base decide which HOME and which variables the commands get. */
  decideEnvironment(gateIn: (env: EnvironmentIn, sandbox: Sandbox) => Gate): Gate;
}

/** What gates need that ask reviewers. */
export interface ReviewerParts {
  readonly roleRegistry: RoleRegistry;
  /** The project's rules for reviewers, by gate. */
  readonly practices: readonly string[];
  /** The rule that makes one result of what reviewers said: see ADR 9. */
  readonly judge: Judge;
  nonce(): string;
  /** What a phase made, where that is not the diff. */
  productOf?(request: GateRequest): Promise<string>;
}

export interface DeliveryParts {
  /** `null`: work stays in the user's own checkout. */
  readonly integration: Integration | null;
  readonly forge: Forge | null;
}
