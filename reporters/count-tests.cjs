"use strict";

/** Counts the lines that tests run, in the processes and threads where AVA, Jest and `node:test` run them. */
const fs = require("node:fs");
const Module = require("node:module");
const { dirname, resolve } = require("node:path");
const { pathToFileURL } = require("node:url");
const { isMainThread } = require("node:worker_threads");
const { closeTest, countLines, openTest, startCounting, writeCounts } = require("./coverage.cjs");

const AVA = /(?:^|[\\/])ava$|[\\/]ava[\\/]entrypoints[\\/]cli\.mjs$/;
/** Set by AVA's own process for its threads and processes, because a thread does not know why it was started. */
const IN_AVA = "REMAND_COUNT_AVA";
const JEST_ENVIRONMENT = /[\\/]jest-environment-(?:node|jsdom)[\\/]build[\\/]index\.js$/;

function install() {
  const main = process.argv[1] ?? "";
  if (process.env[IN_AVA]) Module.register("./ava-loader.mjs", pathToFileURL(__filename));
  else if (AVA.test(main)) process.env[IN_AVA] = "1";
  else if (isMainThread && !process.execArgv.includes("--test") && usesNodeTest(main)) watchNodeTest();
  else if (isMainThread) watchJest();
}

/**
 * Whether a process uses `node:test`. A process that does not must not load it, because it would print a report without
 * tests.
 */
function usesNodeTest(main) {
  const text = textOf(main);
  const beside = [...text.matchAll(/["'](\.{1,2}\/[^"'\n]+)["']/g)].map(([, path]) => resolve(dirname(main), path));
  return [text, ...beside.slice(0, MOST_FILES).map(textOf)].some((each) => /["']node:test["']/.test(each));
}

const MOST_FILES = 200;

function textOf(path) {
  try {
    return fs.readFileSync(path, "utf8");
  } catch {
    // The path is not a file, or the file has another extension.
    return "";
  }
}

function watchNodeTest() {
  const { afterEach, beforeEach } = require("node:test");
  const open = new Map();
  const parents = new Set();
  startCounting();
  beforeEach((context) => {
    if (open.size === 0 && parents.size === 0) countLines(null);
    parents.add(context.fullName?.slice(0, context.fullName.lastIndexOf(" > ")));
    open.set(context, openTest());
  });
  // On a Node version that does not report how a test ended, nothing is counted. A test with subtests ends as they do.
  afterEach((context) => {
    const outcome = parents.has(context.fullName) ? undefined : { true: "passed", false: "failed" }[context.passed];
    closeTest(open.get(context), outcome ?? "skipped");
    open.delete(context);
  });
  process.once("exit", writeCounts);
}

/**
 * Watches Jest, which tells its environment of every test. One process may run several files, each with its own
 * environment.
 */
function watchJest() {
  const load = Module._extensions[".js"];
  const open = new Map();
  const note = {
    run_start: () => countLines(null),
    test_start: (test) => open.set(test, openTest()),
    test_done: (test) => closeTest(open.get(test), test.errors.length > 0 ? "failed" : "passed"),
    run_finish: () => writeCounts(),
  };
  Module._extensions[".js"] = function (module, filename) {
    load.call(this, module, filename);
    if (!JEST_ENVIRONMENT.test(filename)) return;
    const { prototype } = module.exports.TestEnvironment ?? module.exports.default ?? {};
    if (prototype === undefined || prototype.handleTestEvent !== undefined) return;
    const { setup } = prototype;
    prototype.setup = function (...args) {
      startCounting();
      return setup.apply(this, args);
    };
    prototype.handleTestEvent = ({ name, test }) => void note[name]?.(test);
  };
}

module.exports = { install };
