import type { NewCode } from "./new-code.ts";

/** What a proof begins with. */
export interface ProofInput {
  /** What may be taken back, the likeliest first. */
  readonly hunks: readonly { readonly id: number; readonly confidence: number }[];
  readonly companions: ReadonlyMap<number, readonly number[]>;
  /** Hunks of the failing tests themselves: they stay, so that the same test is run on every tree. */
  readonly pinned: readonly number[];
  /** Every failing test is new with this iteration. */
  readonly isNewTest: boolean;
  /** The failure looks like an environment problem. */
  readonly looksEnvironmental: boolean;
  /** Something speaks for a flake: nothing that changed is reached, or time and chance are in play. */
  readonly looksFlaky: boolean;
  /** The failures cannot be distinguished from others, so nothing can be proven. */
  readonly isVague?: boolean;
  readonly limits: { readonly runs: number; readonly timeMs: number };
  /** For each hunk, all changes of its function. */
  readonly functions?: ReadonlyMap<number, readonly number[]>;
  /** What is below a hunk: its statements and lines, with ids of their own. */
  readonly parts?: ReadonlyMap<number, readonly { readonly id: number; readonly confidence: number }[]>;
  /** Hunks that follow one name that changed. */
  readonly renames?: readonly (readonly number[])[];
  /** Hunks in the files of the failing tests, where these hold only tests. */
  readonly inTestFiles?: ReadonlySet<number>;
  /** Of these, hunks that only add lines, and in which a failure was raised: tests that came with the iteration. */
  readonly addedTests?: ReadonlySet<number>;
  /** Hunks to take back so that tests which were there before are as they were; none where no such test was changed. */
  readonly oldTests?: readonly number[];
  /** Hunks in any file of tests. */
  readonly inTests?: ReadonlySet<number>;
  /** Hunks that no failing test can reach. */
  readonly unreached?: ReadonlySet<number>;
  /** New code that its own failing tests run through; `null` where nothing speaks for a slip in it. */
  readonly newCode?: NewCode | null;
}
