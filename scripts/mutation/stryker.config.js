/**
 * `npm run mutate`: makes small changes to the source, one at a time, and checks whether a test fails. Not part of the
 * tests: it takes a quarter of an hour on two cores. For some files only: `npm run mutate -- --mutate
 * src/decide/charge.ts`.
 */
const config = {
  // The code that decides what is charged, repeated, recovered and stored.
  mutate: [
    "src/decide/{charge,converge,decide,next-step,after-failure}.ts",
    "src/fold/fold-*.ts",
    "src/engine/{recover,fencing}.ts",
    "src/engine/perform/{report-attempt,attempt}.ts",
  ],
  testRunner: "vitest",
  vitest: { configFile: "scripts/mutation/vitest.config.ts", related: false },
  coverageAnalysis: "perTest",
  // A mutant in a module-level constant would need all tests to run.
  ignoreStatic: true,
  concurrency: 2,
  timeoutMS: 15_000,
  timeoutFactor: 3,
  // Results of an earlier run are reused for code and tests that have not changed.
  incremental: true,
  incrementalFile: ".build/mutation/incremental.json",
  tempDirName: ".build/mutation/sandbox",
  ignorePatterns: [".build*", "coverage", "dist", ".remand"],
  disableTypeChecks: false,
  // Rewriting it needs a function that TypeScript 7 does not have; the copy does not need it.
  tsconfigFile: "none",
  reporters: ["clear-text", "progress", "html", "json"],
  clearTextReporter: { logTests: false, allowColor: false, reportTests: false, reportScoreTable: true },
  htmlReporter: { fileName: ".build/mutation/report.html" },
  jsonReporter: { fileName: ".build/mutation/report.json" },
  thresholds: { high: 95, low: 90, break: null },
  allowEmpty: false,
};

export default config;
