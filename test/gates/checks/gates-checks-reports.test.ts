import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Evidence } from "../../../src/ports/evidence.ts";
import { describeGate, gateRequest } from "../../contract/gate.ts";
import { checksGateFixture } from "../../kit/checks-gate.ts";

const bench = checksGateFixture();
function put(name: string, text: string, at?: Date): void {
  const path = join(bench.folder(), name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  if (at !== undefined) utimesSync(path, at, at);
}

const junit = (...cases: readonly string[]): string => `<testsuite>${cases.join("")}</testsuite>`;
const good = (name: string): string => `<testcase classname="test/a.test.ts" name="${name}"/>`;
const bad = (name: string): string =>
  `<testcase classname="test/a.test.ts" name="${name}"><failure message="expected 2">expected 2\ngot 3\n at test/a.test.ts:7:3</failure></testcase>`;
const YESTERDAY = new Date(Date.now() - 24 * 3600_000);

describeGate("checks with reports and coverage, two at once", {
  passing: (evidence) => Promise.resolve(ready(evidence, good("a"), 0)),
  failing: (evidence) => Promise.resolve(ready(evidence, bad("a"), 1)),
  broken: (evidence) => Promise.resolve(ready(evidence, "<", 0)),
  slow: (evidence) => Promise.resolve(ready(evidence, good("a"), 0, "sleep 600")),
});

function ready(evidence: Evidence, cases: string, exit: number, other = "true") {
  put("next.xml", junit(cases));
  put("next.info", "SF:a\nLF:10\nLH:9\nend_of_record\n");
  const commands = [`cp next.xml report.xml; cp next.info lcov.info; exit ${exit}`, other];
  const options = {
    evidence,
    reports: ["report.xml"],
    coverage: { report: "lcov.info", lines: 80 },
    reruns: 1,
    parallel: 2,
  };
  return { gate: bench.gate(commands, options), request: gateRequest({ path: bench.folder() }) };
}

test("a failure that reports name before the work began is recognized by its name afterwards", async () => {
  put("next.xml", junit(bad("old")));
  const options = { reports: ["report.xml"] };
  const command = { name: "unit", run: "cp next.xml report.xml; exit 1" };
  const control = { signal: new AbortController().signal, onOutput: () => undefined };
  const { failing } = await bench.gate([command], options).baseline!(gateRequest({ path: bench.folder() }), control);
  expect(failing).toEqual(["test/a.test.ts > old"]);
  const atBase = { failing, flaky: [], known: [{ test: "old", reason: "legacy" }], targets: [] };
  expect(await bench.judge([command], options, { atBase })).toMatchObject({
    result: "pass",
    blocking: [],
    findings: [{ severity: "info", symbol: "old" }],
  });
  put("next.xml", junit(bad("old"), bad("new")));
  const worse = await bench.judge([command], options, { atBase });
  expect(worse.findings.filter(({ id }) => worse.blocking.includes(id)).map(({ symbol }) => symbol)).toEqual(["new"]);
});

describe("a check's report", () => {
  test("names failures that the output does not, with values in the detail", async () => {
    put("next.xml", junit(good("fine"), bad("adds")));
    const judgement = await bench.judge([{ name: "unit", run: "cp next.xml report.xml; exit 1" }], {
      reports: ["report.xml"],
    });
    expect(judgement).toMatchObject({
      result: "fail",
      tests: { total: 2, passed: 1, failed: 1 },
      findings: [
        {
          category: "test",
          symbol: "adds",
          file: "test/a.test.ts",
          line: 7,
          source: "unit",
          detail: expect.stringContaining("got 3") as string,
        },
      ],
      summary: "checks: fail (unit: 1 of 2 tests failed), 1 to fix",
    });
    expect(judgement.blocking).toEqual([judgement.findings[0]!.id]);
  });

  test("and the output make one finding, the same as without the report", async () => {
    put("next.xml", junit(bad("outer &gt; adds")));
    const said =
      "printf ' RUN  v4.1.12 /x\\n FAIL  test/a.test.ts > outer > adds\\nError: no\\n      Tests  1 failed (1)\\n'";
    const without = await bench.judge([{ name: "unit", run: `${said}; exit 1` }]);
    const withIt = await bench.judge([{ name: "unit", run: `${said}; cp next.xml out/r.xml; exit 1` }], { reports: ["out/*.xml"] }); // prettier-ignore
    put("out/.keep", "");
    const both = await bench.judge([{ name: "unit", run: `${said}; cp next.xml out/r.xml; exit 1` }], { reports: ["out/*.xml"] }); // prettier-ignore
    expect(withIt.findings).toHaveLength(1);
    expect(both.findings.map(({ id }) => id)).toEqual(without.findings.map(({ id }) => id));
    expect(both.findings[0]!.detail).toContain("got 3");
  });

  test("belongs to the environment that wrote it, even if the next one overwrites it", async () => {
    put("a.xml", junit(bad("adds")));
    put("b.xml", junit(good("adds")));
    const environments = { one: { run: "env R=a" }, two: { run: "env R=b" } };
    const judgement = await bench.judge([{ name: "unit", run: "cp $R.xml report.xml; test $R = b" }], {
      environments,
      reports: ["report.xml"],
    });
    expect(judgement.runs).toMatchObject([
      { environment: "one", result: "fail", details: "1 of 1 test failed" },
      { environment: "two", result: "pass", details: "1 of 1 test passed" },
    ]);
  });

  test("of a linter, in SARIF", async () => {
    const result = { ruleId: "no-x", level: "error", message: { text: "no x" }, locations: [{ physicalLocation: { artifactLocation: { uri: "src/a.ts" }, region: { startLine: 4 } } }] }; // prettier-ignore
    put("next.sarif", JSON.stringify({ version: "2.1.0", runs: [{ results: [result] }] }));
    expect(await bench.judge(["cp next.sarif lint.sarif; exit 1"], { reports: ["*.sarif"] })).toMatchObject({
      result: "fail",
      findings: [{ category: "lint", file: "src/a.ts", line: 4, message: "no-x: no x" }],
    });
  });

  test("is read after all checks have ended, if several run at once", async () => {
    put("next.xml", junit(bad("adds")));
    const commands = ["true", { name: "unit", run: "cp next.xml report.xml; exit 1" }];
    const judgement = await bench.judge(commands, { reports: ["report.xml"], parallel: 2 });
    expect(judgement).toMatchObject({ result: "fail", findings: [{ symbol: "adds", source: "unit" }] });
    const green = await bench.judge(["true", "cp next.xml report.xml"], { reports: ["report.xml"], parallel: 2 });
    expect(green).toMatchObject({ result: "inconclusive" });
    expect(green.summary).toContain("the reports name 1 failure, and every check exited with 0");
  });
});

describe("a pass that its report does not support", () => {
  test.each([
    ["it is not there", "true", /no check left a report that is called report\.xml/],
    ["it is empty", ": > report.xml", /the report report\.xml cannot be read: it is empty/],
    ["it breaks off", "head -c 40 next.xml > report.xml", /cannot be read: it breaks off/],
    ["it says that tests failed", "cp bad.xml report.xml", /its output says 1 test failed, and it exited with 0/],
    ["it has no test in it", "echo '<testsuites/>' > report.xml", /junit ran no test/],
    [
      "it was copied from yesterday with its date",
      "cp -p old.xml report.xml",
      /report\.xml is older than the run: it was written/,
    ],
    [
      "it says itself that it is old",
      "cp dated.xml report.xml",
      /older than the run: it says that it is of 2020-01-02/,
    ],
    ["it leads elsewhere", "ln -s next.xml report.xml", /no check left a report/],
  ])("%s", async (_what, run, why) => {
    put("next.xml", junit(good("a"), good("b")));
    put("bad.xml", junit(bad("adds")));
    put("old.xml", junit(good("a")), YESTERDAY);
    put("dated.xml", `<testsuite timestamp="2020-01-02T03:04:05Z">${good("a")}</testsuite>`);
    const judgement = await bench.judge([run], { reports: ["report.xml"] });
    expect(judgement).toMatchObject({ result: "inconclusive", blocking: [] });
    expect(judgement.summary).toMatch(why);
  });

  test.each([
    ["yesterday", YESTERDAY],
    ["a time to come", new Date(Date.now() + 3600_000)],
  ])("a report from before the check, from %s, that the check did not change", async (_when, at) => {
    put("report.xml", junit(good("a")), at);
    const judgement = await bench.judge(["true"], { reports: ["report.xml"] });
    expect(judgement).toMatchObject({ result: "inconclusive" });
    expect(judgement.summary).toMatch(/report\.xml is older than the run/);
  });

  test("a link from before the check is not followed", async () => {
    put("real.xml", junit(good("a")));
    symlinkSync(join(bench.folder(), "real.xml"), join(bench.folder(), "report.xml"));
    expect(await bench.judge(["touch real.xml"], { reports: ["report.xml"] })).toMatchObject({
      result: "inconclusive",
    });
  });

  test("one of several patterns without a report is enough", async () => {
    put("next.xml", junit(good("a")));
    const judgement = await bench.judge(["cp next.xml a.xml"], { reports: ["a.xml", "b/**/*.xml"] });
    expect(judgement.summary).toBe("checks: inconclusive (reports: no check left a report that is called b/**/*.xml)");
  });
});

test("a fresh report is found by any pattern; old files beside it are ignored", async () => {
  put("next.xml", junit(good("a"), good("b")));
  put("out/x/left.xml", junit(bad("gone")), YESTERDAY);
  put("node_modules/m/out/r.xml", junit(bad("theirs")));
  const run = "mkdir -p out/deep; cp next.xml out/deep/r.xml; touch node_modules/m/out/r.xml";
  const judgement = await bench.judge([run], { reports: ["**/out/**/*.xml"] });
  expect(judgement).toMatchObject({ result: "pass", tests: { total: 2, passed: 2 } });
});

test("a check that fails is a failure, whatever its report says", async () => {
  expect(await bench.judge(["exit 1"], { reports: ["report.xml"] })).toMatchObject({ result: "fail" });
});

describe("a pass that the output does not support", () => {
  test.each([
    [
      "tests",
      "printf ' RUN  v4.1.12 /x\\n      Tests  2 failed | 1 passed (3)\\n'",
      "its output says 2 tests failed, and it exited with 0",
    ],
    ["a compiler", "echo 'a.ts(1,2): error TS1: no' || true", "its output names 1 error, and it exited with 0"],
  ])("%s", async (_what, run, details) => {
    expect(await bench.judge([run])).toMatchObject({ result: "inconclusive", runs: [{ details }] });
  });

  test("output of a test, and a location without an error, are no contradiction", async () => {
    const passing = "printf ' RUN  v4.1.12 /x\\na.ts(1,2): error TS1: no\\n      Tests  1 passed (1)\\n'";
    expect(await bench.judge([passing, "echo 'src/app.js:10:5: listening'"])).toMatchObject({ result: "pass" });
  });
});
