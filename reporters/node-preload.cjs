"use strict";

/**
 * Loaded into every Node process of a check by NODE_OPTIONS. In a test runner's process it adds a reporter; in all
 * others it does nothing. It never prints, and an error in it must not fail the check.
 */
const { basename } = require("node:path");
const { pathToFileURL } = require("node:url");
const { isMainThread } = require("node:worker_threads");

if (process.env.REMAND_COVERAGE) {
  try {
    require("./count-tests.cjs").install();
  } catch {
    // Without counts the engine ranks suspects by their text alone.
  }
}

if (process.env.REMAND_TEST_NAMES && isMainThread && !process.env.NODE_TEST_CONTEXT) {
  try {
    const main = process.argv[1] ?? "";
    if (/^vitest(?:\.mjs)?$/.test(basename(main))) require("./vitest-options.cjs").addReporter();
    else if (basename(main) === "ava" || /[\\/]ava[\\/]entrypoints[\\/]cli\.mjs$/.test(main))
      require("node:module").register("./ava-loader.mjs", pathToFileURL(__filename));
    else require("./hook-modules.cjs").install();
  } catch {
    // Without a report the engine parses the check's output.
  }
}
