"use strict";

/** Reports tape's tests by name. Tape prints assertions; the tests around them appear only as comments. */
const { countLines, writeCounts } = require("./coverage.cjs");
const { openReport, takeFolder } = require("./report.cjs");

function watchTape(module) {
  const tests = [];
  let isWatched = false;
  function begin(test) {
    if (!isWatched) {
      isWatched = true;
      const folder = takeFolder();
      // tape ends the process in a listener of its own, and no later listener is called.
      if (folder !== null)
        process.prependOnceListener("exit", () => {
          writeCounts();
          write(openReport(folder, "tape"), tests);
        });
      countLines(null);
    }
    tests.push(test);
    watch(test, begin);
  }
  module.exports = new Proxy(module.exports, {
    construct(target, args, newTarget) {
      const test = Reflect.construct(target, args, newTarget);
      // Listeners do not appear in the stacks that tape prints; a wrapper function would.
      const seen = { test, name: test.name, file: callerFile(), failed: 0, hasEnded: false };
      test.once("prerun", () => begin(seen));
      return test;
    },
  });
}

function watch(seen, begin) {
  const { test, name, file } = seen;
  test.on("test", (child) => {
    const inner = { test: child, name: `${name} > ${child.name}`, file, failed: 0, hasEnded: false };
    child.once("prerun", () => begin(inner));
  });
  // A plan that was not fulfilled fails after the end.
  test.on("result", (result) => {
    if (typeof result === "object" && !result.ok && !result.skip && !result.todo) seen.failed++;
  });
  test.once("end", () => {
    seen.hasEnded = true;
    countLines(seen.failed > 0 ? "failed" : "passed");
  });
}

function write(report, tests) {
  for (const { test, name, file, failed } of tests) {
    const outcome = test._skip || test._todo ? "skipped" : failed > 0 ? "failed" : "passed";
    report.test(outcome, file === null ? {} : { file }, name);
  }
  if (tests.every(({ test, hasEnded }) => hasEnded || test._skip)) report.end();
}

/** The nearest file on the stack that is not part of tape. */
function callerFile() {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 30;
  const lines = new Error("for its stack").stack.split("\n");
  Error.stackTraceLimit = stackTraceLimit;
  for (const line of lines.slice(1)) {
    const file = /\(?((?:file:\/\/)?(?:\/|[A-Za-z]:\\)[^()]*?):\d+:\d+\)?$/.exec(line)?.[1];
    if (file !== undefined && file !== __filename && !/[\\/]node_modules[\\/]/.test(file))
      return file.replace(/^file:\/\//, "");
  }
  return null;
}

module.exports = { watchTape };
