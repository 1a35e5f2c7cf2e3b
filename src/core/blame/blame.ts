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

/** The commit that a change came with, and whose work that was where the commit says so. */
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

/** What `remand blame` found, for a person and for programs. */
export interface BlameReport {
  /** `null`: the check passes, so there is nothing to blame. */
  readonly blame: Blame | null;
  /** Everything that was considered, the likeliest first. */
  readonly considered: readonly Considered[];
  readonly hunks: readonly number[];
  readonly runs: number;
  readonly seconds: number;
  /** What it was compared with, as a person names it. */
  readonly base: string;
  readonly command: string | null;
  /** Why nothing was proven, where nothing was. */
  readonly unproven: string | null;
  /** The runs of the proof, in order. */
  readonly experiments?: readonly BlameExperiment[];
}

/** One run of the failing tests: which changes were taken back, and how each group of failures ended. */
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
  /** Where it came from; only of what is named, and not of what is in no commit yet. */
  readonly origin?: Origin;
}
