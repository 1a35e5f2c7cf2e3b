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
  /** The attempt that had fixed it, where it came back since. */
  readonly fixedIn?: number;
}

/** How a dispatch ended. Only `ready` goes on to the gates; none of the others charges a rework budget. */
export type AttemptOutcome = Stored<typeof attemptOutcomeSchema>;
