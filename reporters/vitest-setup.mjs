/** Loaded by Vitest before each test file, where lines are counted: the file's tests are counted as each of them ends. */
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
  // Without counts the engine ranks by what it reads.
}
