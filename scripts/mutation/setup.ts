import { beforeEach, inject, onTestFailed, vi } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** Provided by the mutation runner. */
    readonly mode: "dry-run" | "mutant";
    readonly activeMutant: string;
  }
}

/** In a reused thread, Vitest would restore the config of an earlier run and run the wrong tests. */
vi.setConfig = () => {
  throw new Error("vi.setConfig cannot be used in the tests that mutants are run against");
};

/** The mutant that a test of an earlier file has killed: later files need not be loaded. */
const known = globalThis as { killedMutant?: string };
const mutant = inject("mode") === "mutant" ? inject("activeMutant") : undefined;

if (mutant !== undefined) {
  if (known.killedMutant === mutant) throw new Error(`the mutant ${mutant} is killed`);
  beforeEach(() => {
    onTestFailed(() => {
      known.killedMutant = mutant;
    });
  });
}
