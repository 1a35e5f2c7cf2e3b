import type { blameSchema, suspectSchema } from "../schemas/gate-result.ts";
import type { Stored } from "../schemas/scalars.ts";
import type { ChangedHunk } from "./change.ts";

/** Which change caused a failure, with confidence and the evidence for it; or why no change did. */
export const BLAME_VERDICTS = [
  "culprit",
  "multi",
  "unmet",
  "pre-existing",
  "environment",
  "flaky",
  "too-broad",
  "unknown",
] as const;

/** The commit that made a change, with the story, attempt and role if the commit message names them. */
export interface Origin {
  readonly commit: string;
  readonly subject: string;
  readonly story?: string;
  readonly attempt?: number;
  readonly role?: string;
  readonly phase?: string;
}

export type Suspect = Stored<typeof suspectSchema>;
export type Blame = Stored<typeof blameSchema>;

/** The result of `remand blame`, for people and for programs. */
export interface BlameReport {
  /** `null`: the check passes, so there is nothing to blame. */
  readonly blame: Blame | null;
  /** Every suspect that was considered, the likeliest first. */
  readonly considered: readonly Considered[];
  readonly hunks: readonly number[];
  readonly runs: number;
  readonly seconds: number;
  /** The base of the comparison, as a person names it. */
  readonly base: string;
  readonly command: string | null;
  /** Why the cause is not proven; `null` if it is, or if the check passes. */
  readonly unproven: string | null;
  /** The runs of the proof, in order. */
  readonly experiments?: readonly BlameExperiment[];
}

/** One run of the failing tests: which changes were reverted for it, and the outcome of each group of failures. */
export interface BlameExperiment {
  readonly purpose: string;
  readonly without: readonly number[];
  readonly outcomes: readonly string[];
  readonly tookMs: number;
}

export interface Considered {
  readonly hunk: ChangedHunk;
  readonly symbol: string | null;
  readonly confidence: number;
  readonly reasons: readonly string[];
  /** The commit of the change; only for named suspects, and never for uncommitted changes. */
  readonly origin?: Origin;
}
