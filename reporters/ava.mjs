/**
 * Reports AVA's tests by name. AVA accepts no further reporter, so this watches its state of a run, which sees every
 * test.
 */
import counts from "./coverage.cjs";
import report from "./report.cjs";

export function watchRuns(RunStatus) {
  const folder = report.takeFolder();
  if (folder === null) return;
  const { emitStateChange, suggestExitCode } = RunStatus.prototype;
  const files = new WeakMap();
  RunStatus.prototype.emitStateChange = function (event) {
    if (!files.has(this)) files.set(this, report.openReport(folder, "ava"));
    note(files.get(this), event);
    return emitStateChange.call(this, event);
  };
  // AVA calls this once, when every test file has ended.
  RunStatus.prototype.suggestExitCode = function (...args) {
    files.get(this)?.end();
    files.delete(this);
    return suggestExitCode.apply(this, args);
  };
}

function note(file, { type, testFile, title, skip, todo }) {
  const where = { file: testFile };
  if (type === "test-passed") file.test("passed", where, title);
  else if (type === "test-failed" || type === "hook-failed") file.test("failed", where, title);
  else if (type === "selected-test" && (skip || todo)) file.test("skipped", where, title);
  else if (type === "worker-failed") file.test("not-loaded", where);
}

/**
 * Runs in the thread or process of one test file. AVA starts all of its tests at once, so only the first part of each
 * test runs alone.
 */
export function watchTests(Runner) {
  const { emit, runSingle, start } = Runner.prototype;
  counts.startCounting();
  Runner.prototype.start = function (...args) {
    counts.countLines(null);
    return start.apply(this, args);
  };
  Runner.prototype.runSingle = async function (runnable) {
    if (runnable.metadata?.type !== "test") return runSingle.call(this, runnable);
    const test = counts.openTest();
    const running = runSingle.call(this, runnable);
    counts.ranAlone(test);
    const result = await running;
    counts.closeTest(test, result.passed ? "passed" : "failed");
    return result;
  };
  Runner.prototype.emit = function (name, event) {
    if (name === "finish") counts.writeCounts();
    return emit.call(this, name, event);
  };
}
