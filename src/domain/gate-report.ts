import type { GateName, Judgement } from "./gate.ts";
import type { TreeId } from "./ids.ts";

/** What gates said of one state of the files when they were asked by themselves, without an agent and a journal. */
export interface GateReport {
  readonly judged: JudgedState;
  /** In the order in which they were made. */
  readonly judgements: readonly Judgement[];
  /** Gates that are configured, or were asked for, and did not judge: said so that nobody takes silence for a pass. */
  readonly skipped: readonly SkippedGate[];
}

export interface JudgedState {
  /** The commit that was named; `null` for the files as they are. */
  readonly at: string | null;
  /** The commit itself; of files that differ from it, the one they are based on. Empty before the first commit. */
  readonly commit: string;
  readonly tree: TreeId;
  /** What it was compared with: a commit, or the empty tree. */
  readonly base: string;
  /** How the base was found, for people: `origin/main`, `the commit before`. */
  readonly baseName: string;
  /** From the top of the repository to the folder that was judged; findings' files are below it. Empty at the top. */
  readonly folder: string;
}

export interface SkippedGate {
  readonly gate: GateName;
  readonly why: string;
}

/** Nothing judged is nothing proven: only a pass of everything that judged is one. */
export function isPassed({ judgements }: Pick<GateReport, "judgements">): boolean {
  return judgements.length > 0 && judgements.every(({ result }) => result === "pass");
}
