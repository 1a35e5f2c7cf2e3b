/** Loaded by Vitest before each test file, if lines are counted: counts after each test of the file. */
import { createRequire } from "node:module";

try {
  const { closeTest, countLines, openTest, startCounting, writeCounts } = createRequire(import.meta.url)(
    "./coverage.cjs",
  );
  const { afterAll, afterEach, beforeAll, beforeEach } = await import(/* @vite-ignore */ process.env.REMAND_VITEST);
  startCounting();
  beforeAll(() => countLines(null));
  const open = new Map();
  beforeEach(({ task }) => void open.set(task, openTest()));
  afterEach(({ task }) => closeTest(open.get(task), task.result?.state === "fail" ? "failed" : "passed"));
  afterAll(() => writeCounts());
} catch {
  // Without counts the engine ranks suspects by their text alone.
}
