/**
 * Runs everything that must hold before a change is accepted, quick checks first. All checks run, even after a failure,
 * so that one run shows everything. The last line has the numbers of passed tests and of failed tests and checks, in a
 * form that programs can parse.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { summaryOf } from "./check-summary.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const reportOf = (/** @type {string} */ name) => `${root}.build/${name}-report.json`;
const testing = (/** @type {string} */ name) => [
  "--reporter=dot",
  "--reporter=json",
  `--outputFile.json=${reportOf(name)}`,
];

/** @type {readonly (readonly [name: string, ...command: string[]])[]} */
const CHECKS = [
  ["types", "tsc", "-p", "."],
  ["lint", "oxlint", "--type-aware"],
  ["format", "oxfmt", "--check"],
  ["unused", "knip"],
  ["unused-in-production", "knip", "--production", "--config", "knip.production.json"],
  ["build", "npm", "run", "--silent", "build"],
  ["package", "publint", "--strict"],
  ["tests", "vitest", "run", "--project=quick", "--project=pure", "--coverage", ...testing("tests")],
  // The built program runs in other processes, where coverage is not counted. Visiting all states takes three times as
  // long with coverage, and covers no further line.
  ["slow-tests", "vitest", "run", "--project=built", "--project=slow", ...testing("slow-tests")],
];

/** The tests of the sandbox need bubblewrap. Installs it if it is missing and this process may; otherwise says so. */
function haveSandbox() {
  const has = (/** @type {string} */ program) => spawnSync(program, ["--version"]).status === 0;
  if (process.platform !== "linux" || has("bwrap")) return;
  if (process.env["CI"] !== undefined && process.getuid?.() === 0 && has("apt-get")) {
    for (const args of [["install", "--yes", "bubblewrap"], ["update"], ["install", "--yes", "bubblewrap"]]) {
      if (!has("bwrap")) spawnSync("apt-get", ["--quiet", ...args], { stdio: "ignore" });
    }
    if (has("bwrap")) return;
  }
  console.log("── The tests of the sandbox are skipped: bubblewrap is not installed (apt install bubblewrap).");
}

haveSandbox();
mkdirSync(`${root}.build`, { recursive: true });
const TESTS = ["tests", "slow-tests"];
// A report of an earlier run must not count for this run.
for (const name of TESTS) rmSync(reportOf(name), { force: true });
const failedChecks = CHECKS.filter(([name, ...command]) => !passes(name, command)).map(([name]) => name);
const { lines, failed } = summaryOf(failedChecks, Object.fromEntries(TESTS.map((name) => [name, readReport(name)])));
console.log(`\n${lines.join("\n")}`);
process.exitCode = failed === 0 ? 0 : 1;

/** @param {string} name @param {readonly string[]} command */
function passes(name, [program = "", ...args]) {
  const start = performance.now();
  console.log(`\n── ${name}: ${[program, ...args].join(" ")}`);
  const { status, error } = spawnSync(program, args, {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, PATH: `${root}node_modules/.bin:${process.env["PATH"]}` },
  });
  if (error !== undefined) console.log(error.message);
  console.log(`── ${name}: ${status === 0 ? "ok" : "FAILED"} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
  return status === 0;
}

/** @param {string} name */
function readReport(name) {
  try {
    return readFileSync(reportOf(name), "utf8");
  } catch {
    // The tests ended before their report: the check has failed, and there is nothing to count.
    return null;
  }
}
