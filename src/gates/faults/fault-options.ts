import type { Clock } from "../../ports/clock.ts";
import type { ChecksGate } from "../checks/checks-gate.ts";

/** What planted faults are tried with. */
export interface FaultOptions {
  /**
   * The checks that run tests, once each, and ended after the limit: of these files alone where their runner can be told
   * so (`isSelected`), and otherwise all of them.
   */
  checksFor(
    files: readonly string[],
    how: {
      readonly packageFile: string | null;
      /** A file of the checkout, named as in `files`. */
      textOf(file: string): string | null;
      readonly limitMs: number;
      /** Checks in which tests ran at the base; none known: all may. */
      readonly ranTests: readonly string[];
    },
  ): { readonly gate: ChecksGate; readonly isSelected: boolean };
  readonly store: BaseFaultStore;
  readonly clock: Clock;
}

/** Keeps what was found out about a base, by tree, commands and environment. */
export interface BaseFaultStore {
  find(base: string, tests: string): Promise<unknown>;
  keep(base: string, tests: string, found: unknown): Promise<void>;
}
