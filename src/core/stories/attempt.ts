import type { SpentBudget } from "./budget.ts";
import type { GateName } from "../gates/gate.ts";
import type { Fingerprint, RoleName, TreeId } from "../events/ids.ts";
import type { Phase, TddPhase } from "./story.ts";
import type { IncompleteCategory } from "./signal.ts";

/** One dispatch of one agent for one phase. An attempt that carries a brief is a rework. */
export interface AttemptSummary {
  readonly attempt: number;
  readonly phase: Phase;
  readonly role: RoleName;
  readonly tddPhase?: TddPhase;
  /** The gate, or the person, that sent it back; `null` for new work. */
  readonly reworkOf: GateName | "person" | null;
  readonly outcome: AttemptOutcome["type"] | "running" | "interrupted";
  /** The model that was asked for; without it, the agent's own. */
  readonly model?: string;
  /** It began a new conversation, on purpose. */
  readonly fresh?: true;
  /** How often it was asked to say it again. */
  readonly asked: number;
  readonly tree: TreeId | null;
  /** What it did, in the agent's words, shortened. */
  readonly summary: string;
  /** Why its work was not good enough; empty while that is not known. */
  readonly failed: string;
  /** The blocking findings of the gates that rejected it, most severe first; capped in number and length. */
  readonly findings?: readonly AttemptFinding[];
  /** How many blocking findings the cap left out. */
  readonly findingsLeftOut?: number;
}

/** A blocking finding of an attempt, with the newest word of its gate about it. */
export interface AttemptFinding {
  readonly id: Fingerprint;
  readonly gate: GateName;
  /** The message on one line, shortened. */
  readonly title: string;
  readonly file?: string;
  readonly line?: number;
  /** `lighter`: the gate still reports it, and no longer blocks on it. */
  readonly standing: "open" | "fixed" | "lighter";
  /** The attempt in which the gate last gave a verdict. */
  readonly judgedIn: number;
}

/** How a dispatch ended. Only `ready` goes on to the gates; none of the others charges a rework budget. */
export type AttemptOutcome =
  | { readonly type: "ready" }
  | {
      readonly type: "incomplete";
      readonly category: IncompleteCategory;
      readonly blocker: string;
      readonly attempted: readonly string[];
      readonly needed: string;
      /** The story it waits for, when it could name one. */
      readonly waitsFor?: string;
    }
  | { readonly type: "blocked"; readonly issue: string }
  /** It said nothing that could be read, even when asked again. */
  | { readonly type: "unclear"; readonly detail: string }
  | { readonly type: "crashed"; readonly detail: string }
  | { readonly type: "timed-out"; readonly afterMs: number }
  | { readonly type: "rate-limited"; readonly retryAt: number }
  | { readonly type: "refused"; readonly detail: string }
  /** The agent cannot be used at all until a person does something: no login, no credit. */
  | { readonly type: "unusable"; readonly detail: string; readonly fix: string }
  /** No such agent here: not installed, renamed, out of service. */
  | { readonly type: "missing"; readonly detail: string }
  | { readonly type: "stopped"; readonly by: string }
  /** A budget was used up while it worked. Its work is kept, and a person is asked about the budget. */
  | { readonly type: "cut-short"; readonly budget: SpentBudget };
