import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Tests that run the built program. They need `dist`, which their set-up builds once. */
const BUILT = ["test/cli/built*.test.ts", "test/docs.test.ts", "test/e2e/**/*.test.ts", "test/web/**/*.test.ts"];
/** Tests that start the lint many times, explore every state, or read tens of megabytes. */
const SLOW = [
  "test/tidy.test.ts",
  "test/**/*.slow.test.ts",
  "test/exhaustive/**/*.test.ts",
  "test/hostile/**/*.test.ts",
  "test/simulation/**/*.test.ts",
];

/** Tests of layers that keep no state and touch nothing outside, as the lint sees to: their files can share a process. */
const PURE = ["core", "decide", "fold", "parse", "stdx", "views", "write"].map((layer) => `test/${layer}/**/*.test.ts`);

/**
 * Limits for a test that hangs, not for a slow machine: with twenty busy processes beside it everything takes ten
 * times as long.
 */
const MINUTE = 60_000;
const expectPoll = { poll: { timeout: 30_000 } };

const setupFiles = ["test/identified.ts", "test/property-seed.ts"];

const CORE_THRESHOLDS = { lines: 95, statements: 95, functions: 95, branches: 90 };

/** Small files whose tests take minutes: started last, one of them would keep one processor waiting. */
const LONG = /\/(?:security\/attacks|gates\/base-failures|fleet\/fleet|docs)\.test\.ts$/;

class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => LONG.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    maxWorkers: 2,
    sequence: { sequencer: LongFilesFirst },
    projects: [
      {
        test: {
          name: "quick",
          include: ["test/**/*.test.ts"],
          exclude: [...BUILT, ...SLOW, ...PURE],
          setupFiles,
          testTimeout: 3 * MINUTE,
          hookTimeout: 3 * MINUTE,
          expect: expectPoll,
        },
      },
      {
        test: {
          name: "pure",
          include: PURE,
          exclude: SLOW,
          setupFiles,
          isolate: false,
          testTimeout: 3 * MINUTE,
          expect: expectPoll,
        },
      },
      {
        test: {
          name: "slow",
          include: SLOW,
          setupFiles,
          testTimeout: 15 * MINUTE,
          hookTimeout: 10 * MINUTE,
          expect: expectPoll,
        },
      },
      {
        test: {
          name: "built",
          include: BUILT,
          globalSetup: "scripts/build.js",
          setupFiles: "test/identified.ts",
          testTimeout: 10 * MINUTE,
          hookTimeout: 10 * MINUTE,
          expect: expectPoll,
        },
      },
    ],
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      reporter: ["text-summary", "html", "json-summary"],
      reportsDirectory: "coverage",
      thresholds: {
        "src/core/**": CORE_THRESHOLDS,
        "src/decide/**": CORE_THRESHOLDS,
        "src/fold/**": CORE_THRESHOLDS,
        "src/parse/**": CORE_THRESHOLDS,
        "src/write/**": CORE_THRESHOLDS,
      },
    },
  },
});
