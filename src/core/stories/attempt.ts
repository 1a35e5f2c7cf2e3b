import type { GateName } from "../gates/gate.ts";
import type { Fingerprint, RoleName, TreeId } from "../events/ids.ts";
import type { Phase, TddPhase } from "./story.ts";
import type { attemptOutcomeSchema } from "../schemas/story.ts";
import type { Stored } from "../schemas/scalars.ts";

/** One dispatch of one agent for one phase. An attempt that carries a brief is a rework. */
export interface AttemptSummary {
  readonly attempt: number;
  readonly phase: Phase;
  readonly role: RoleName;
  readonly tddPhase?: TddPhase;
  /** The gate, or the person, that sent the work back; `null` for new work. */
  readonly reworkOf: GateName | "person" | null;
  readonly outcome: AttemptOutcome["type"] | "running" | "interrupted";
  /** The requested model; absent: the agent's default. */
  readonly model?: string;
  /** The attempt began a new conversation on purpose. */
  readonly fresh?: true;
  /** How often the agent was asked to repeat its reply. */
  readonly asked: number;
  readonly tree: TreeId | null;
  /** What the attempt did, in the agent's words, shortened. */
  readonly summary: string;
  /** Why the work was rejected; empty while that is not known. */
  readonly failed: string;
  /** The blocking findings of the gates that rejected the work, most severe first; limited in number and length. */
  readonly findings?: readonly AttemptFinding[];
  /** How many blocking findings the limit left out. */
  readonly findingsLeftOut?: number;
}

/** A blocking finding of an attempt, with the newest result of its gate. */
export interface AttemptFinding {
  readonly id: Fingerprint;
  readonly gate: GateName;
  /** The message on one line, shortened. */
  readonly title: string;
  readonly file?: string;
  readonly line?: number;
  /** `lighter`: the gate still reports the finding, but no longer blocks on it. */
  readonly standing: "open" | "fixed" | "lighter";
  /** The attempt in which the gate last gave a verdict. */
  readonly judgedIn: number;
  /** The attempt that had fixed it, if it came back since. */
  readonly fixedIn?: number;
}

/** How a dispatch ended. After `ready` the gates run; no other outcome charges a rework budget. */
export type AttemptOutcome = Stored<typeof attemptOutcomeSchema>;
