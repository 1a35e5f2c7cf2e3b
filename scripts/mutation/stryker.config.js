/**
 * `npm run mutate`: changes the source in small ways, one at a time, and sees whether a test fails. Not a part of the
 * tests: it takes a quarter of an hour on two cores. Some files only: `npm run mutate -- --mutate src/decide/charge.ts`.
 */
const config = {
  // The code that decides what is charged, repeated, recovered and written down.
  mutate: [
    "src/decide/{charge,converge,decide,next-step,after-failure}.ts",
    "src/fold/fold-*.ts",
    "src/engine/{recover,fencing}.ts",
    "src/engine/perform/{report-attempt,attempt}.ts",
  ],
  testRunner: "vitest",
  vitest: { configFile: "scripts/mutation/vitest.config.ts", related: false },
  coverageAnalysis: "perTest",
  // A text that is a constant of a module would need every test to run for each of its mutants.
  ignoreStatic: true,
  concurrency: 2,
  timeoutMS: 15_000,
  timeoutFactor: 3,
  // What an earlier run found out about code and tests that have not changed is used again.
  incremental: true,
  incrementalFile: ".build/mutation/incremental.json",
  tempDirName: ".build/mutation/sandbox",
  ignorePatterns: [".build*", "coverage", "dist", ".remand"],
  disableTypeChecks: false,
  // It would be rewritten with a function that TypeScript 7 does not have; the copy needs no rewriting.
  tsconfigFile: "none",
  reporters: ["clear-text", "progress", "html", "json"],
  clearTextReporter: { logTests: false, allowColor: false, reportTests: false, reportScoreTable: true },
  htmlReporter: { fileName: ".build/mutation/report.html" },
  jsonReporter: { fileName: ".build/mutation/report.json" },
  thresholds: { high: 95, low: 90, break: null },
  allowEmpty: false,
};

export default config;
