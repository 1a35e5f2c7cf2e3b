import type { Config } from "../config/config.ts";
import type { Policy } from "../core/events/policy.ts";
import type { EvidenceId } from "../core/events/ids.ts";
import type { Story } from "../core/stories/story.ts";
import type { Head } from "../ports/journal.ts";
import type { RehearsalPart } from "../core/schemas/agent-script.ts";
import type { GateName } from "../core/gates/gate.ts";
import type { AgentSpec } from "./agent-spec.ts";
import { isRecord } from "../stdx/assert.ts";

/** One thing that was looked at, and how to fix it where it is not well. */
export interface Probe {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  /** What to do about it; empty where nothing is wrong. */
  readonly fix: string;
  /** The program that was looked for, as it was asked about. */
  readonly program?: string | AgentSpec;
}

export interface PreflightPlan {
  readonly config: Config;
  readonly policy: Policy;
  /** Something about the checkout that a person should know, and that stops nothing. */
  onNotice?(text: string): void;
  /** What takes long: a person waits for it. */
  onProgress?(text: string): void;
  readonly stories?: readonly Story[];
  /** `files`: the checkout as it is. `commit`: what git has of it, in a checkout that is removed again. */
  readonly at: "files" | "commit";
  /** Also runs the checks once; without it only what can be seen without running them is looked at. */
  readonly isRun: boolean;
  /** Without a run: also looks whether the tests load, where their runner can say so. */
  readonly isLoaded?: boolean;
  /** Runs them although a run of the same files by an earlier process is known. */
  readonly isFresh?: boolean;
  /** Ends the checks early. */
  readonly signal?: AbortSignal;
}

export interface Preflight {
  /** Each with its fix; none: the checks can run. */
  readonly problems: readonly Probe[];
  /** The checks were run, and passed. */
  readonly isGreen: boolean;
  readonly summary: string;
  /** Variables that are withheld from the checks, and without which they fail. */
  readonly variables: readonly string[];
}

export interface BlamePlan {
  readonly config: Config;
  /** What the failed check printed; `null`: the check is run first. */
  readonly output: string | null;
  /** The check; `null`: only what it printed is known. */
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
  /** Files or folders, from the project's folder; none: only says what is hidden. */
  readonly paths: readonly string[];
  /** Remove them from the project by a commit. */
  readonly commit: boolean;
  /** Drop the copies of these, and hide nothing. */
  readonly forget: boolean;
}

export interface HideReport {
  /** Where the copies are. */
  readonly folder: string;
  readonly copied: readonly string[];
  /** Everything that is hidden now. */
  readonly hidden: readonly string[];
  /** Of the copied: what is still in the project. */
  readonly left: readonly string[];
  readonly dropped: readonly string[];
  /** The commit that removed them; `null`: none was made. */
  readonly commit: string | null;
  /** What such a commit says. */
  readonly subject: string;
}

export interface MigratePlan {
  readonly to: string;
  readonly dryRun: boolean;
  /** Only the tables and roles: the checkout's journal stays where it is. */
  readonly noMove?: boolean;
  /** The names of the roles begin with it. */
  readonly roles?: string;
  onProgress(what: "lines" | "evidence", copied: number, of: number): void;
}

export interface MigrationResult {
  /** The place, without user and password. */
  readonly to: string;
  readonly lines: number;
  readonly evidence: number;
  readonly outbox: number;
  /** `null`: nothing was to be moved. */
  readonly head: Head | null;
  /** Evidence that was not what its name says, and stayed behind. */
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
      /** Owned the tables until now, and is one of the workers from now on. */
      readonly formerOwner: string | null;
      /** Whether the tables of the queue are there; their library may not be installed here. */
      readonly hasQueue: boolean;
      /** Whether workers and readers are kept from statements that could stall appends. Only a superuser can do that. */
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
  /** Its first word `remand` is this program; `{codexArgs}` in a word becomes the arguments that Codex needs. */
  readonly command: readonly string[];
  readonly signal: AbortSignal;
  onLine(line: string, stream: "stdout" | "stderr"): void;
}

export interface RehearsalReport {
  /** Of the command; `null`: it was ended. */
  readonly exitCode: number | null;
  readonly requests: number;
  /** Requests that the script has no reply for, or that no protocol knows. */
  readonly unexpected: readonly string[];
  /** Replies that were not asked for. */
  readonly left: number;
}

/** Which commits are compared with receipts, and by which keys. */
export interface VerifyPlan {
  /** A commit, a branch, or a range. */
  readonly commits: string;
  /** Which of them must have a receipt: none, those with a trailer of Remand's, or all. */
  readonly require: "none" | "trailers" | "all";
  /** The file of the public keys; `null`: `remand.keys` on the base branch. */
  readonly keys: string | null;
  /** The branch that work is merged into; `null`: found by itself. */
  readonly base: string | null;
}

/** `chain`: the hashes are checked; `state`: the lines are folded again. */
export type VerifyProgress = (what: "chain" | "state" | "evidence", checked: number, of: number) => void;

/** The client of an agent asks, before the agent stops, whether the work is good enough. */
export interface StopPlan {
  readonly config: Config;
  readonly policy: Policy;
  /** The gates, in the order in which they run. Empty: the conversation begins, and no gate runs. */
  readonly gates: readonly GateName[];
  /** Were they named? Then a gate that cannot run here is an error. */
  readonly isNamed: boolean;
  /** The conversation, as its client names it. */
  readonly session: string;
  /** Does the agent continue because it was sent back before? */
  readonly isContinuing: boolean;
  /** Do tests hold the agent back that failed before the conversation began? */
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
  /** `held`: it was sent back, and has not asked again since. Its client may have let it stop all the same. */
  readonly standing: StopAnswer["type"];
  readonly why: string;
  /** The files as they were then. */
  readonly tree: string;
  /** A commit of the files as they were when the conversation began: what differs from it is the conversation's work. */
  readonly start?: string;
  /** What failed then, by name; absent where no check has failed yet. */
  readonly before?: readonly string[];
  /** How often the agent was sent back since a person spoke last. */
  readonly blocks: number;
}

/** Reads a stored record; `null` where the value is none. */
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
  /** `missing`: there is no file. `changed`: there is one, and it is not what was written. */
  readonly kind: "missing" | "changed";
  readonly text: string;
}
