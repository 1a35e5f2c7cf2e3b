import type { Config } from "../config/config.ts";
import type { GateName } from "../core/gates/gate.ts";
import type { Policy } from "../core/events/policy.ts";

/** An agent's client asks, before its agent stops, whether the work is good enough. */
export interface StopPlan {
  readonly config: Config;
  readonly policy: Policy;
  /** The gates, in the order in which they judge. Empty: the conversation begins, and nothing is judged. */
  readonly gates: readonly GateName[];
  /** Were they named? Then one that cannot judge here is an error. */
  readonly isNamed: boolean;
  /** The conversation, as its client names it. */
  readonly session: string;
  /** Does the agent go on because it was held back before? */
  readonly isContinuing: boolean;
  /** What the agent said last. */
  readonly said: string;
  readonly signal: AbortSignal;
  onNotice(text: string): void;
}

/** May it stop? It may, too, where holding it back is of no use any more: that is no pass, and is said. */
export type StopAnswer =
  | { readonly type: "begun"; readonly why: string }
  | { readonly type: "passed"; readonly why: string }
  | { readonly type: "held"; readonly why: string; readonly brief: string }
  | { readonly type: "released"; readonly why: string };

/** What the record of a conversation says, below `.remand/hooks`. */
export interface SessionRecord {
  readonly schema: "remand.hook/1";
  readonly session: string;
  readonly at: number;
  /** `held`: it was sent back, and has not asked again since. Its client may have let it stop all the same. */
  readonly standing: StopAnswer["type"];
  readonly why: string;
  /** The files as they were then. */
  readonly tree: string;
  /** How often the agent was held back since a person spoke last. */
  readonly blocks: number;
}
