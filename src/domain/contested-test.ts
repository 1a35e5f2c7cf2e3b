/**
 * Why a test of the base speaks against the work: its base version `fails` with it, does not load with it
 * (`not-loaded`), or the work no longer runs it (`removed`).
 */
export const CONTESTED_WHY = ["fails", "not-loaded", "removed"] as const;
export type ContestedWhy = (typeof CONTESTED_WHY)[number];

/** A test that passed at the base and that the work changed or removed. A reviewer or a person decides about it. */
export interface ContestedTest {
  readonly test: string;
  readonly why: ContestedWhy;
  /** The test file at the base, where it is known. */
  readonly file?: string;
}
