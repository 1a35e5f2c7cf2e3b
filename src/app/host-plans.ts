import type { Config } from "../config/config.ts";
import type { Policy } from "../core/events/policy.ts";
import type { EvidenceId } from "../core/events/ids.ts";
import type { Story } from "../core/stories/story.ts";
import type { Head } from "../ports/journal.ts";
import type { RehearsalPart } from "../core/schemas/agent-script.ts";
import type { GateName } from "../core/gates/gate.ts";
import type { AgentSpec } from "./agent-spec.ts";
import { isRecord } from "../stdx/assert.ts";

/** The result of one environment check, with a fix if it failed. */
export interface Probe {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  /** What the person should do; empty where nothing is wrong. */
  readonly fix: string;
  /** The program that was looked for, in the form in which it was requested. */
  readonly program?: string | AgentSpec;
}

export interface PreflightPlan {
  readonly config: Config;
  readonly policy: Policy;
  /** Reports something about the checkout that a person should know and that stops nothing. */
  onNotice?(text: string): void;
  /** Reports what takes long while a person waits. */
  onProgress?(text: string): void;
  readonly stories?: readonly Story[];
  /** `files`: the checkout as it is. `commit`: what git has of it, in a checkout that is removed again. */
  readonly at: "files" | "commit";
  /** Also runs the checks once; otherwise looks only at what is visible without running them. */
  readonly isRun: boolean;
  /** Without a run: also tests whether the test files load, if their runner can report that. */
  readonly isLoaded?: boolean;
  /** Runs the checks even if an earlier process already ran them on the same files. */
  readonly isFresh?: boolean;
  /** Ends the checks early. */
  readonly signal?: AbortSignal;
}

export interface Preflight {
  /** Problems that keep the checks from running, each with its fix; empty: they can run. */
  readonly problems: readonly Probe[];
  /** Whether the checks were run and passed. */
  readonly isGreen: boolean;
  readonly summary: string;
  /** Variables that are withheld from the checks and without which the checks fail. */
  readonly variables: readonly string[];
}

export interface BlamePlan {
  readonly config: Config;
  /** The output of the failed check; `null`: the check is run first. */
  readonly output: string | null;
  /** The command of the check; `null`: only its output is known. */
  readonly command: string | null;
  readonly prove: boolean;
  /** The commit to look at; `null`: the files as they are. */
  readonly at: string | null;
  readonly base: string | null;
  readonly limits: { readonly runs: number; readonly timeMs: number };
  readonly signal: AbortSignal;
  onRun(what: string): void;
  onNotice(text: string): void;
}

export interface HidePlan {
  /** Files or folders, relative to the project's folder; empty: only lists what is hidden. */
  readonly paths: readonly string[];
  /** Whether to commit their removal from the project. */
  readonly commit: boolean;
  /** Whether to delete the copies of these paths and hide nothing. */
  readonly forget: boolean;
}

export interface HideReport {
  /** Where the copies are. */
  readonly folder: string;
  readonly copied: readonly string[];
  /** All files that are hidden now. */
  readonly hidden: readonly string[];
  /** The copied files that are still in the project. */
  readonly left: readonly string[];
  readonly dropped: readonly string[];
  /** The commit that removed them; `null`: there is none. */
  readonly commit: string | null;
  /** The subject line of such a commit. */
  readonly subject: string;
}

export interface MigratePlan {
  readonly to: string;
  readonly dryRun: boolean;
  /** Sets up only the tables and roles: the checkout's journal stays where it is. */
  readonly noMove?: boolean;
  /** The prefix of the roles' names. */
  readonly roles?: string;
  onProgress(what: "lines" | "evidence", copied: number, of: number): void;
}

export interface MigrationResult {
  /** The address of the database, without user and password. */
  readonly to: string;
  readonly lines: number;
  readonly evidence: number;
  readonly outbox: number;
  /** The head of the moved journal; `null`: no journal was to be moved. */
  readonly head: Head | null;
  /** Evidence whose content does not match its name; it was not copied. */
  readonly damaged: readonly EvidenceId[];
  readonly roles: MigratedRoles;
}

/** Who owns the tables, who may append, and who may read. */
export type MigratedRoles =
  | { readonly state: "planned"; readonly roles: FleetRoles }
  | {
      readonly state: "made";
      readonly roles: FleetRoles;
      readonly created: readonly string[];
      /** The role that owned the tables until now and is a worker from now on. */
      readonly formerOwner: string | null;
      /** Whether the queue's tables exist; the queue's library may not be installed here. */
      readonly hasQueue: boolean;
      /**
       * Whether workers and readers are kept from statements that could stall appends. Only a superuser can set that
       * up.
       */
      readonly hasGuard: boolean;
    }
  | {
      readonly state: "refused";
      readonly user: string;
      readonly why: string;
      readonly statements: readonly string[];
    };

export interface FleetRoles {
  readonly owner: string;
  readonly worker: string;
  readonly reader: string;
}

/** A command that is run with a scripted model instead of a provider. */
export interface RehearsePlan {
  readonly parts: readonly RehearsalPart[];
  /**
   * Where the first word is `remand`, this program runs; `{codexArgs}` in a word becomes the arguments that Codex
   * needs.
   */
  readonly command: readonly string[];
  readonly signal: AbortSignal;
  onLine(line: string, stream: "stdout" | "stderr"): void;
}

export interface RehearsalReport {
  /** The exit code of the command; `null`: it was ended early. */
  readonly exitCode: number | null;
  readonly requests: number;
  /** Requests that the script has no reply for, or that match no known protocol. */
  readonly unexpected: readonly string[];
  /** The number of scripted replies that were never requested. */
  readonly left: number;
}

/** Which commits are compared with receipts, and with which keys. */
export interface VerifyPlan {
  /** A commit, a branch, or a range. */
  readonly commits: string;
  /** Which of the commits must have a receipt: none, those with a trailer of Remand's, or all. */
  readonly require: "none" | "trailers" | "all";
  /** The file of the public keys; `null`: `remand.keys` on the base branch. */
  readonly keys: string | null;
  /** The branch that work is merged into; `null`: detected. */
  readonly base: string | null;
}

/** `chain`: the hashes are checked; `state`: the lines are folded again. */
export type VerifyProgress = (what: "chain" | "state" | "evidence", checked: number, of: number) => void;

/** A question of an agent's client, before the agent stops: does the work pass? */
export interface StopPlan {
  readonly config: Config;
  readonly policy: Policy;
  /** The gates, in the order in which they run. Empty: the conversation starts, and no gate runs. */
  readonly gates: readonly GateName[];
  /** Whether the gates were named. Then a gate that cannot run here is an error. */
  readonly isNamed: boolean;
  /** The conversation, as its client names it. */
  readonly session: string;
  /** Whether the agent continues because it was sent back before. */
  readonly isContinuing: boolean;
  /** Whether tests that failed before the conversation started keep the agent from stopping. */
  readonly blocksRedBefore: boolean;
  /** The last message of the agent. */
  readonly said: string;
  readonly signal: AbortSignal;
  onNotice(text: string): void;
}

/** `released`: the agent may stop although the work has not passed, because sending it back would not help. */
export type StopAnswer =
  | { readonly type: "begun"; readonly why: string }
  | { readonly type: "passed"; readonly why: string }
  | { readonly type: "held"; readonly why: string; readonly brief: string }
  | { readonly type: "released"; readonly why: string };

/** The record of a conversation, below `.remand/hooks`. */
export interface SessionRecord {
  readonly schema: "remand.hook/1";
  readonly session: string;
  readonly at: number;
  /** `held`: the agent was sent back and has not asked again since. Its client may still have let it stop. */
  readonly standing: StopAnswer["type"];
  readonly why: string;
  /** The tree at that time. */
  readonly tree: string;
  /**
   * A commit of the files as they were when the conversation started; differences from it are the conversation's work.
   */
  readonly start?: string;
  /** The names of what failed at the start; absent while no check has failed. */
  readonly before?: readonly string[];
  /** How often the agent was sent back since the last message of a person. */
  readonly blocks: number;
}

/** Reads a stored record; `null` where the value is not a record. */
export function readSessionRecord(value: unknown): SessionRecord | null {
  if (!isRecord(value) || value["schema"] !== "remand.hook/1") return null;
  const { session, at, standing, why, blocks, tree, start, before } = value;
  if (!isStanding(standing) || typeof blocks !== "number") return null;
  if (typeof session !== "string" || typeof why !== "string") return null;
  const begun = {
    ...(typeof start === "string" ? { start } : {}),
    ...(Array.isArray(before) ? { before: before.map(String) } : {}),
  };
  return { schema: "remand.hook/1", session, at: Number(at), standing, why, tree: String(tree), ...begun, blocks };
}

const isStanding = (value: unknown): value is SessionRecord["standing"] =>
  value === "begun" || value === "passed" || value === "held" || value === "released";

export interface JournalTrouble {
  /** `missing`: there is no file. `changed`: the file is not what Remand wrote. */
  readonly kind: "missing" | "changed";
  readonly text: string;
}
