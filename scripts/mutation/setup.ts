import { beforeEach, inject, onTestFailed, vi } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** Given by the mutation runner. */
    readonly mode: "dry-run" | "mutant";
    readonly activeMutant: string;
  }
}

/** Vitest would restore the config of an earlier run in a thread that is kept, and so run the wrong tests. */
vi.setConfig = () => {
  throw new Error("vi.setConfig cannot be used in the tests that mutants are run against");
};

/** The mutant that a test of an earlier file has killed: the files after that one need not even be loaded. */
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
