import type { GateName } from "../core/gates/gate.ts";
import type { NotificationKind } from "../core/events/notification.ts";
import type { Phase } from "../core/stories/story.ts";
import type { Autonomy, Policy, PresetName } from "../core/events/policy.ts";
import type { Prices } from "../core/events/event-cost.ts";
import type { FailOn, Severity } from "../core/gates/finding.ts";
import type { AgentClientName } from "../core/stories/agent-client.ts";

/**
 * `remand.yaml` with every value filled in, under the names people write. It is what `remand config` prints;
 * the rules in it become a Policy (`policy-of.ts`), the rest configures agents and gates.
 */
export interface Config {
  readonly version: 1;
  readonly preset: PresetName;
  readonly autonomy: Autonomy;
  /** Folder of the story files. */
  readonly stories: string;
  /** Folder of the trail. */
  readonly trail: string;
  readonly agents: Readonly<Record<string, AgentConfig>>;
  readonly roles: RolesConfig;
  readonly environments: Readonly<Record<string, EnvironmentConfig>>;
  /** The gates that judge each phase, in order; `false` leaves the phase out. */
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
  /** Tests that fail before any work, and why that is so: names, files or patterns. */
  readonly knownFailures: readonly { readonly test: string; readonly reason: string }[];
  /** More files that only tests use, by pattern: the base's version of them counts. */
  readonly oracle: readonly string[];
  /** Files that look like tests, by pattern, and belong to the product. */
  readonly product: readonly string[];
  /** Work that no test shows is refused. */
  readonly requireTest: boolean;
  readonly onExhausted: Policy["onExhausted"];
  readonly enableCircuitBreaker: boolean;
  readonly deliver: Policy["deliver"];
  readonly merge: Policy["merge"];
  /** Who is told when a person is needed: `desktop`, an address, a command, or a map that says more. */
  readonly notify: readonly (string | NotifyConfig)[];
  /** What models cost, by their names, where an agent says its tokens and not their cost. */
  readonly prices: Prices;
  /** People by name, and their accounts on the forge. Only the user's own file has it. */
  readonly people: Readonly<Record<string, { readonly github: string }>>;
  /** Names of environment variables that agents, checks and `setup` see in any case. */
  readonly env: readonly string[];
  /** Patterns of secrets, taken out before anything is stored. */
  readonly redact: readonly string[];
  /** Where agents and checks run: the user's choice, which a project may only tighten. */
  readonly sandbox: SandboxConfig;
}

/** Length of time as people write it: `90s`, `5m`, `2h`. */
export type Duration = string;

/** `200000`, `200k`, `2M`. */
export type Size = number | string;

export interface AgentConfig {
  readonly use?: AgentClientName;
  readonly model?: string;
  readonly command?: string;
  /** Claude and Codex: further arguments for the client. */
  readonly args?: readonly string[];
  /** Claude and Codex: `full` lets it run every command, outside of every sandbox. */
  readonly access?: "edit" | "full";
  /** The role file, where it is not `.claude/agents/<role>.md`. */
  readonly file?: string;
  /** Another model for work that keeps failing: from the attempt after that many failures (2) on. */
  readonly stronger?: { readonly model: string; readonly after?: number };
  /** After that many failures in one conversation the next attempt begins a new one. */
  readonly freshAfter?: number;
  /** The role that takes over when this one cannot be used. */
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
  /** Put in front of a check's command. */
  readonly run?: string;
  /** Run in it once, before its first check. */
  readonly setup?: string;
  /** Shows that the environment is there. */
  readonly probe?: string;
}

export interface CommandConfig {
  readonly name?: string;
  readonly run: string;
  readonly environments?: readonly string[];
  readonly timeout?: Duration;
}

export interface GateConfig {
  /** This gate's own limit; without it `limits.failures` holds. */
  readonly failures?: number;
  readonly failOn: FailOn;
  readonly everyFinding: boolean;
  readonly affectedBy: readonly string[];
  readonly unaffectedBy: readonly string[];
  /** Looked at one after the other. */
  readonly stages: readonly string[];
  /** Looked at side by side. A gate has stages or perspectives, not both. */
  readonly perspectives: readonly string[];
  readonly blame: boolean;
  readonly onUnexplained: "escalate" | "send-back";
  readonly commands: readonly (string | CommandConfig)[];
  /** A project's own rules for reviewers: text, or files that hold it. */
  readonly practices: readonly (string | { readonly file: string })[];
  /** Checks: files that the commands leave behind, beside what they print. Patterns of paths. */
  readonly reports: readonly string[];
  /** Checks: how often a red test run is run again on the same tree, to see whether it means it. */
  readonly reruns: number;
  /** Checks: how many run at once. */
  readonly parallel: number;
  /** Checks: how long the first attempt waits for their run on the base. */
  readonly baseWait?: Duration;
  /** Checks: run before each run of a check, to reset what they share. */
  readonly reset?: string;
  /** Checks: are faults planted in the work, to see that its tests can fail? Without it, `auto`. */
  readonly faults?: "auto" | "off";
  /** Checks: commands that run with files which agents never see; none: the gate's own commands. */
  readonly hidden?: readonly (string | CommandConfig)[];
  readonly coverage?: CoverageConfig;
  /** CI: the command that puts formatting and lint right. */
  readonly fix?: string;
  /** Integrity: how grave each rule is; `off` leaves it out. */
  readonly rules: Readonly<Record<string, Severity | "off">>;
  /** Where the commands leave their report. */
  readonly report?: string;
  /** Mutation: the kill rate that passes, in per cent. */
  readonly threshold?: number;
  readonly equivalent?: readonly { file: string; mutation: string; by: string; reason: string }[];
}

/** What is asked of the coverage that a check reports, in per cent. */
export interface CoverageConfig {
  /** lcov or Cobertura, by its path. */
  readonly report: string;
  readonly lines?: number;
  readonly branches?: number;
  /** How many points less than before are let pass. */
  readonly mayFall?: number;
}

/** One way to reach a person who is not looking. */
export interface NotifyConfig {
  readonly use: "desktop" | "webhook" | "slack" | "command";
  readonly url?: string;
  /** The name of the environment variable that holds the address: often it is a secret itself. */
  readonly urlFrom?: string;
  /** Webhook: the name of the environment variable that holds the secret the body is signed with. */
  readonly secretFrom?: string;
  readonly run?: string;
  /** What they are told; without it, everything. */
  readonly on?: readonly NotificationKind[];
}

/** Where pull requests and CI runs are. */
export interface ForgeConfig {
  readonly use: "github" | "none";
  /** `owner/name`; `null`: read from the remote's address. */
  readonly repository: string | null;
  readonly api: string;
  /** The git remote that branches are sent to. */
  readonly remote: string;
  /** The name of the environment variable that holds the login. */
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
  /** Of checks. */
  readonly network: "shared" | "none";
  readonly docker: boolean;
  readonly read: readonly string[];
  readonly write: readonly string[];
}

/** How the change that caused a failure is looked for. */
export interface BlameConfig {
  /** Prove it by running the failing tests without parts of the change. */
  readonly prove: boolean;
  /** The most runs, and the most time, for one proof. */
  readonly runs: number;
  readonly time: Duration;
  /** While an agent waits: the most time in lengths of the failed check. */
  readonly suites: number;
}

export interface WorkspaceConfig {
  /** `null`: found by the lockfile. */
  readonly setup: string | null;
  readonly share: readonly string[] | null;
  /** Names of environment variables that `setup` alone may see, such as the login of a registry. */
  readonly env?: readonly string[];
  /** Patterns of files, besides lockfiles and manifests, that decide what the set-up makes. */
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
  /** `null`, in preset `goal` alone: `iterations` is the only bound. */
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

/** A config with any part left out: a preset, a file, the flags of one run. */
export type ConfigPart = Part<Omit<Config, "sandbox">> & {
  /** Its mode alone, or more. */
  readonly sandbox?: SandboxConfig["mode"] | Part<SandboxConfig> | undefined;
};

type Part<T> = T extends readonly (infer Item)[]
  ? readonly Loose<Item>[]
  : T extends object
    ? { readonly [K in keyof T]?: Part<T[K]> | undefined }
    : T;

/** What may be left out may also be `undefined`: schemas say it so. */
type Loose<T> = T extends object ? { readonly [K in keyof T]: T[K] | (undefined extends T[K] ? undefined : never) } : T;
