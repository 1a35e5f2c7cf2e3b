import type { Config } from "../config/config.ts";
import type { GateName } from "../core/gates/gate.ts";
import type { Policy } from "../core/events/policy.ts";
import { isRecord } from "../stdx/assert.ts";

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
  /** How often the agent was sent back since a person spoke last. */
  readonly blocks: number;
}

/** Reads a stored record; `null` where the value is none. */
export function readSessionRecord(value: unknown): SessionRecord | null {
  if (!isRecord(value) || value["schema"] !== "remand.hook/1") return null;
  const { session, at, standing, why, blocks, tree, start } = value;
  if (!isStanding(standing) || typeof blocks !== "number") return null;
  if (typeof session !== "string" || typeof why !== "string") return null;
  const begun = typeof start === "string" ? { start } : {};
  return { schema: "remand.hook/1", session, at: Number(at), standing, why, tree: String(tree), ...begun, blocks };
}

const isStanding = (value: unknown): value is SessionRecord["standing"] =>
  value === "begun" || value === "passed" || value === "held" || value === "released";
