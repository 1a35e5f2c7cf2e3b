"use strict";

/** Changes modules of Jest, Mocha and tape while they are loaded, because no variable adds a reporter to them. */
const Module = require("node:module");
const { countLines, startCounting, writeCounts } = require("./coverage.cjs");
const { openReport, takeFolder } = require("./report.cjs");
const { watchTape } = require("./tape.cjs");

const MOCHA = /[\\/]mocha[\\/]lib[\\/](?:runner|nodejs[\\/]parallel-buffered-runner)\.c?js$/;
const TAPE = /[\\/]tape[\\/]lib[\\/]test\.js$/;
const JEST_CONFIG = /[\\/]jest-config[\\/]build[\\/]index\.js$/;

function install() {
  for (const extension of [".js", ".cjs"]) {
    const load = Module._extensions[extension] ?? Module._extensions[".js"];
    Module._extensions[extension] = function (module, filename) {
      if (MOCHA.test(filename) || TAPE.test(filename)) startCounting();
      load.call(this, module, filename);
      if (MOCHA.test(filename))
        quietly(() => reportMocha(module.exports.Runner ?? module.exports.ParallelBufferedRunner ?? module.exports));
      else if (TAPE.test(filename)) quietly(() => watchTape(module));
      else if (JEST_CONFIG.test(filename)) quietly(() => reportJest(module));
    };
  }
}

function quietly(change) {
  try {
    change();
  } catch {
    // The runner works as usual, and nothing is reported.
  }
}

function reportMocha(Runner) {
  const own = Object.getOwnPropertyDescriptor(Runner.prototype, "run");
  if (own === undefined) return;
  const { value: run } = own;
  Runner.prototype.run = function (...args) {
    const folder = process.env.REMAND_TEST_NAMES ? takeFolder() : null;
    if (folder !== null) quietly(() => listenToMocha(this, openReport(folder, "mocha")));
    return run.apply(this, args);
  };
}

function listenToMocha(runner, report) {
  const where = (test) => ({ file: test.file ?? fileOfParent(test.parent) });
  const note = (outcome, test) => {
    quietly(() => countLines(outcome));
    report.test(outcome, where(test), nameOf(test));
  };
  quietly(() => countLines(null));
  // A retried test reports a failure only when its last try fails.
  runner.on("pass", (test) => note("passed", test));
  runner.on("pending", (test) => note("skipped", test));
  runner.on("fail", (test) => note("failed", test));
  runner.on("end", () => {
    quietly(() => writeCounts());
    report.end();
  });
}

const fileOfParent = (suite) => (suite ? (suite.file ?? fileOfParent(suite.parent)) : undefined);

function nameOf(test) {
  const path = typeof test.titlePath === "function" ? test.titlePath() : [test.title];
  return path.filter((part) => part !== "").join(" > ");
}

/** Adds the reporter in `readConfigs`, which builds the configuration of every run from the command line and files. */
function reportJest(module) {
  const config = module.exports;
  const withReporter = (read) => {
    const folder = process.env.REMAND_TEST_NAMES ? takeFolder() : null;
    if (folder === null) return read;
    const reporters = read.globalConfig.reporters ?? [["default", {}]];
    return {
      ...read,
      globalConfig: { ...read.globalConfig, reporters: [...reporters, [require.resolve("./jest.cjs"), { folder }]] },
    };
  };
  // Up to Jest 24, the result is not a promise.
  const readConfigs = (...args) => {
    const read = config.readConfigs(...args);
    return typeof read?.then === "function" ? read.then(withReporter) : withReporter(read);
  };
  module.exports = new Proxy(config, {
    get: (target, key) => (key === "readConfigs" ? readConfigs : target[key]),
    getOwnPropertyDescriptor(target, key) {
      const descriptor = Object.getOwnPropertyDescriptor(target, key);
      return descriptor && { ...descriptor, configurable: true };
    },
  });
}

module.exports = { install };
