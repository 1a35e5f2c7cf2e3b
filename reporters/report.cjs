"use strict";

/**
 * Writes one file of a report: a first line with the runner, a line for each test, and a last line when the runner has
 * finished. A file without that last line is incomplete, so nothing is concluded from missing tests.
 */
const { randomBytes } = require("node:crypto");
const fs = require("node:fs");
const { join } = require("node:path");

const KEY = Symbol.for("remand.test-names");

/**
 * Takes the folder for reports, once per process tree: processes that this one starts are part of its tests, and a test
 * that runs another test runner must not report that runner's tests as tests of the project.
 */
function takeFolder() {
  const folder = process.env.REMAND_TEST_NAMES;
  if (folder) {
    globalThis[KEY] = folder;
    delete process.env.REMAND_TEST_NAMES;
  }
  return globalThis[KEY] ?? null;
}

function openReport(folder, runner, cwd = process.cwd()) {
  const file = fs.openSync(join(folder, `${process.pid}-${randomBytes(6).toString("hex")}.jsonl`), "a");
  const write = (line) => fs.writeSync(file, `${JSON.stringify(line)}\n`);
  write({ runner, cwd });
  return {
    /** `outcome`: passed, failed, skipped, or not-loaded for a file whose tests could not be run. */
    test: (outcome, where, name) => write({ outcome, ...where, ...(name === undefined ? {} : { name }) }),
    end: () => write({ ended: true }),
  };
}

module.exports = { openReport, takeFolder };
