import type { NewCode } from "./new-code.ts";

/** The input of a proof. */
export interface ProofInput {
  /** The hunks that may be reverted, the likeliest first. */
  readonly hunks: readonly { readonly id: number; readonly confidence: number }[];
  readonly companions: ReadonlyMap<number, readonly number[]>;
  /** Hunks of the failing tests themselves: they stay, so that the same test runs on every tree. */
  readonly pinned: readonly number[];
  /** Every failing test is new with this iteration. */
  readonly isNewTest: boolean;
  /** The failure looks like an environment problem. */
  readonly looksEnvironmental: boolean;
  /** A sign of a flaky failure: no change is reached, or the tests depend on time or chance. */
  readonly looksFlaky: boolean;
  /** The failures cannot be distinguished from others, so nothing can be proven. */
  readonly isVague?: boolean;
  readonly limits: { readonly runs: number; readonly timeMs: number };
  /** For each hunk, all changes of its function. */
  readonly functions?: ReadonlyMap<number, readonly number[]>;
  /** The parts of a hunk: its statements and lines, with their own ids. */
  readonly parts?: ReadonlyMap<number, readonly { readonly id: number; readonly confidence: number }[]>;
  /** Groups of hunks that follow the change of one name. */
  readonly renames?: readonly (readonly number[])[];
  /** Hunks in the files of the failing tests, if these contain only tests. */
  readonly inTestFiles?: ReadonlySet<number>;
  /** Of these, hunks that only add lines and in which a failure was raised: tests that came with the iteration. */
  readonly addedTests?: ReadonlySet<number>;
  /** Hunks to revert so that existing tests are as before; none if no such test was changed. */
  readonly oldTests?: readonly number[];
  /** Hunks in any test file. */
  readonly inTests?: ReadonlySet<number>;
  /** Hunks that no failing test can reach. */
  readonly unreached?: ReadonlySet<number>;
  /** New code that its own failing tests execute; `null` if there is no sign of a mistake in it. */
  readonly newCode?: NewCode | null;
  /** Changes that only turn to new code, with those that define it. */
  readonly uses?: ReadonlyMap<number, readonly number[]>;
}
