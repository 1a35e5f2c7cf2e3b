import { defineConfig } from "vitest/config";
import { BaseSequencer, type Reporter, type TestSpecification, type Vite, type VitestPluginContext } from "vitest/node";
import { KEPT_THREAD, KeptThread } from "./kept-thread.ts";

/** Slow tests, which run last: most mutants are killed before. */
const LAST = ["test/decide/escalate.test.ts", "test/decide/compare-rounds.test.ts", "test/fold/fold.test.ts"];

/**
 * The files that killed a mutant, latest first. A test that kills one mutant often kills the next one in the same file.
 */
let killers: readonly string[] = [];

const noteKillers: Reporter = {
  onTestCaseResult(test) {
    const { moduleId } = test.module;
    if (test.result().state === "failed") killers = [moduleId, ...killers.filter((file) => file !== moduleId)];
  },
};

class KillersFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = killers.indexOf(moduleId);
      return at < 0 ? LAST.findIndex((name) => moduleId.endsWith(name)) : at - killers.length - 1;
    };
    return files.toSorted((a, b) => rank(a) - rank(b) || (a.moduleId < b.moduleId ? -1 : 1));
  }
}

/** The mutation runner requests threads whatever the config says, so the pool is replaced once the config is known. */
const keepThread: Vite.Plugin = {
  name: "keep-thread",
  configureVitest({ project }: VitestPluginContext) {
    project.config.pool = KEPT_THREAD;
    project.config.poolRunner = { name: KEPT_THREAD, createPoolWorker: (options) => new KeptThread(options) };
  },
};

/** The quick tests of the mutated code. The simulation finds more, but takes too long to run per mutant. */
export default defineConfig({
  plugins: [keepThread],
  test: {
    include: ["test/policy/**/*.test.ts", "test/engine/**/*.test.ts", "test/seeds/**/*.test.ts"],
    exclude: [
      // Blame is not mutated, and its tests take long; the last one tests documents.
      "test/policy/{prove-blame,rank-blame*,attribute,review-conflicts}.test.ts",
      "test/engine/proof-runner.test.ts",
      "test/seeds/sources-page.test.ts",
      // These tests run git, or hundreds of histories, for seconds: too long per mutant.
      "test/engine/perform/revert-out-of-scope.test.ts",
      "test/decide/undo.test.ts",
    ],
    setupFiles: ["scripts/mutation/setup.ts", "test/property-seed.ts"],
    // All files share one environment: they keep no state in it, and loading everything again would cost more than the
    // tests.
    isolate: false,
    reporters: [noteKillers],
    sequence: { sequencer: KillersFirst },
    testTimeout: 120_000,
  },
});
