import type { GateName } from "../core/gates/gate.ts";
import type { NotificationKind } from "../core/events/notification.ts";
import type { Phase } from "../core/stories/story.ts";
import type { Autonomy, Policy, PresetName } from "../core/events/policy.ts";
import type { Prices } from "../core/events/event-cost.ts";
import type { FailOn, Severity } from "../core/gates/finding.ts";
import type { AgentClientName } from "../core/stories/agent-client.ts";

/**
 * `remand.yaml` with all values filled in, under the names that people write. `remand config` prints it; its rules
 * become a Policy (`policy-of.ts`), the rest configures agents and gates.
 */
export interface Config {
  readonly version: 1;
  readonly preset: PresetName;
  readonly autonomy: Autonomy;
  /** The folder of the story files. */
  readonly stories: string;
  /** The folder of the trail. */
  readonly trail: string;
  readonly agents: Readonly<Record<string, AgentConfig>>;
  readonly roles: RolesConfig;
  readonly environments: Readonly<Record<string, EnvironmentConfig>>;
  /** The gates that judge each phase, in order; `false` skips the phase. */
  readonly phases: { readonly [P in Phase]: readonly GateName[] | false };
  readonly gates: { readonly [G in GateName]: GateConfig };
  readonly workspace: WorkspaceConfig;
  readonly forge: ForgeConfig;
  readonly blame: BlameConfig;
  readonly limits: LimitsConfig;
  readonly concurrency: Policy["concurrency"];
  readonly stall: Policy["stall"];
  readonly specialists: readonly SpecialistConfig[];
  readonly scope: Policy["scope"];
  /** Tests that fail before any work, with the reasons: names, files or patterns. */
  readonly knownFailures: readonly { readonly test: string; readonly reason: string }[];
  /** More files that only tests use, by pattern: checks use the base's version of them. */
  readonly oracle: readonly string[];
  /** Files that look like tests, by pattern, but belong to the product. */
  readonly product: readonly string[];
  /** Whether work that no test covers is rejected. */
  readonly requireTest: boolean;
  readonly onExhausted: Policy["onExhausted"];
  readonly enableCircuitBreaker: boolean;
  readonly deliver: Policy["deliver"];
  readonly merge: Policy["merge"];
  /** Where notifications go when a person is needed: `desktop`, an address, a command, or a map with details. */
  readonly notify: readonly (string | NotifyConfig)[];
  /** Prices of models by name, for agents that report tokens but no cost. */
  readonly prices: Prices;
  /** People by name, with their accounts on the forge. Read only from the user's own file. */
  readonly people: Readonly<Record<string, { readonly github: string }>>;
  /** Names of environment variables that agents, checks and `setup` always see. */
  readonly env: readonly string[];
  /** Patterns of secrets, which are removed before anything is stored. */
  readonly redact: readonly string[];
  /** Where agents and checks run: the user's choice, which a project may only make stricter. */
  readonly sandbox: SandboxConfig;
}

/** A duration as people write it: `90s`, `5m`, `2h`. */
export type Duration = string;

/** `200000`, `200k`, `2M`. */
export type Size = number | string;

export interface AgentConfig {
  readonly use?: AgentClientName;
  readonly model?: string;
  readonly command?: string;
  /** Claude and Codex: further arguments for the client. */
  readonly args?: readonly string[];
  /** Claude and Codex: with `full` the agent may run every command, outside of every sandbox. */
  readonly access?: "edit" | "full";
  /** The role file, if not `.claude/agents/<role>.md`. */
  readonly file?: string;
  /** A stronger model for work that keeps failing: for attempts after this many failures (default 2). */
  readonly stronger?: { readonly model: string; readonly after?: number };
  /** After this many failures in one conversation, the next attempt starts a new one. */
  readonly freshAfter?: number;
  /** The role that takes over when this agent cannot be used. */
  readonly fallback?: string;
  readonly env?: readonly string[];
}

export interface RolesConfig {
  readonly phase: { readonly [P in Phase]: string };
  readonly stage: Readonly<Record<string, string>>;
  readonly critic: string;
  readonly auditor: string;
  readonly oracle: string;
  readonly remediation: string;
  readonly healthCheck: string;
  readonly adjudicator: string;
  readonly ciIntegration: string;
}

export interface EnvironmentConfig {
  /** The prefix of a check's command. */
  readonly run?: string;
  /** Run once in the environment, before its first check. */
  readonly setup?: string;
  /** A command that shows whether the environment is available. */
  readonly probe?: string;
}

export interface CommandConfig {
  readonly name?: string;
  readonly run: string;
  readonly environments?: readonly string[];
  readonly timeout?: Duration;
}

export interface GateConfig {
  /** The gate's own limit of failures; absent: `limits.failures` applies. */
  readonly failures?: number;
  readonly failOn: FailOn;
  readonly everyFinding: boolean;
  readonly affectedBy: readonly string[];
  readonly unaffectedBy: readonly string[];
  /** Reviewed one after the other. */
  readonly stages: readonly string[];
  /** Reviewed side by side. A gate has stages or perspectives, not both. */
  readonly perspectives: readonly string[];
  readonly blame: boolean;
  readonly onUnexplained: "escalate" | "send-back";
  readonly commands: readonly (string | CommandConfig)[];
  /** The project's own rules for reviewers: texts, or files that contain them. */
  readonly practices: readonly (string | { readonly file: string })[];
  /** Checks: report files that the commands write, besides their output. Patterns of paths. */
  readonly reports: readonly string[];
  /** Checks: how often a red test run is repeated on the same tree, to find flaky tests. */
  readonly reruns: number;
  /** Checks: how many run at once. */
  readonly parallel: number;
  /** Checks: how long the first attempt waits for their run on the base. */
  readonly baseWait?: Duration;
  /** Checks: runs before each run of a check, to reset state that checks share. */
  readonly reset?: string;
  /** Checks: whether faults are planted in the work, to see that its tests can fail. Absent: `auto`. */
  readonly faults?: "auto" | "off";
  /** Checks: commands that run with files that agents never see; absent: the gate's own commands. */
  readonly hidden?: readonly (string | CommandConfig)[];
  readonly coverage?: CoverageConfig;
  /** CI: the command that fixes formatting and lint. */
  readonly fix?: string;
  /** Integrity: the severity of each rule; `off` disables it. */
  readonly rules: Readonly<Record<string, Severity | "off">>;
  /** The path where the commands write their report. */
  readonly report?: string;
  /** Mutation: the kill rate that passes, in percent. */
  readonly threshold?: number;
  readonly equivalent?: readonly { file: string; mutation: string; by: string; reason: string }[];
}

/** Requirements for the coverage that a check reports, in percent. */
export interface CoverageConfig {
  /** The path of the report, in lcov or Cobertura format. */
  readonly report: string;
  readonly lines?: number;
  readonly branches?: number;
  /** How many percentage points coverage may drop. */
  readonly mayFall?: number;
}

/** A way to notify a person. */
export interface NotifyConfig {
  readonly use: "desktop" | "webhook" | "slack" | "command";
  readonly url?: string;
  /** The name of the environment variable that contains the address, which is often a secret. */
  readonly urlFrom?: string;
  /** Webhook: the name of the environment variable that contains the secret for signing the body. */
  readonly secretFrom?: string;
  readonly run?: string;
  /** The kinds of notification to send; absent: all. */
  readonly on?: readonly NotificationKind[];
}

/** Where pull requests and CI runs are. */
export interface ForgeConfig {
  readonly use: "github" | "none";
  /** `owner/name`; `null`: read from the remote's address. */
  readonly repository: string | null;
  readonly api: string;
  /** The git remote that branches are pushed to. */
  readonly remote: string;
  /** The name of the environment variable that contains the access token. */
  readonly tokenFrom: string;
  /** How long a CI run may take. */
  readonly patience: Duration;
}

export interface SandboxConfig {
  /** `auto`: the best that works on this machine. `required`: nothing runs without one. */
  readonly mode: "auto" | "required" | "off";
  /** Absent: the one that fits this machine. */
  readonly use?: "bubblewrap" | "container" | "sandbox-exec";
  readonly image?: string;
  /** The network of checks. */
  readonly network: "shared" | "none";
  readonly docker: boolean;
  readonly read: readonly string[];
  readonly write: readonly string[];
}

/** How blame searches for the change that caused a failure. */
export interface BlameConfig {
  /** Whether to prove the cause by running the failing tests without parts of the change. */
  readonly prove: boolean;
  /** The maximum runs and time for one proof. */
  readonly runs: number;
  readonly time: Duration;
  /** While an agent waits: the maximum time, as a multiple of the failed check's duration. */
  readonly suites: number;
}

export interface WorkspaceConfig {
  /** `null`: derived from the lockfile. */
  readonly setup: string | null;
  readonly share: readonly string[] | null;
  /** Names of environment variables that only `setup` may see, such as the login of a package registry. */
  readonly env?: readonly string[];
  /** Patterns of files, besides lockfiles and manifests, on which the result of `setup` depends. */
  readonly inputs?: readonly string[];
  /** Ignored files that checks need, copied from the user's checkout into each clean checkout. */
  readonly carry: readonly string[];
}

type Counts = Omit<Required<Policy["limits"]>, "failures" | "backoffMs" | "timeoutMs" | "story" | "run">;

export interface SpendConfig {
  readonly costUsd: number | null;
  readonly tokens: Size | null;
  readonly time: Duration | null;
}

export interface LimitsConfig extends Counts, SpendConfig {
  /** `null`, only in the preset `goal`: `iterations` is the only limit. */
  readonly failures: number | null;
  readonly backoff: Duration;
  readonly timeout: {
    readonly developer: Duration;
    readonly critic: Duration;
    readonly auditor: Duration;
    readonly remediation: Duration;
  };
  readonly run: SpendConfig & { readonly actions: number | null };
}

export interface SpecialistConfig {
  readonly role: string;
  readonly languages?: readonly string[];
  readonly paths?: readonly string[];
  readonly categories?: readonly string[];
}

/** A config with any part missing: a preset, a file, the flags of one run. */
export type ConfigPart = Part<Omit<Config, "sandbox">> & {
  /** The mode alone, or a map. */
  readonly sandbox?: SandboxConfig["mode"] | Part<SandboxConfig> | undefined;
};

type Part<T> = T extends readonly (infer Item)[]
  ? readonly Loose<Item>[]
  : T extends object
    ? { readonly [K in keyof T]?: Part<T[K]> | undefined }
    : T;

/** Optional fields may also be `undefined`, because that is how schemas type them. */
type Loose<T> = T extends object ? { readonly [K in keyof T]: T[K] | (undefined extends T[K] ? undefined : never) } : T;
