import { expect, test } from "vitest";
import { type TestReport, withReports } from "../../../src/parse/tests/test-report-parts.ts";
import { readTestReport } from "../../../src/parse/tests/test-report.ts";
import { readTestOutput } from "../../../src/parse/tests/test-output.ts";

const reportOf = (text: string): TestReport => readTestReport(text, "/project").report!;
const junit = (classname: string, name: string, body = "Error: no") =>
  reportOf(
    `<testsuite><testcase classname="${classname}" name="${name}"><failure message="no">${body}</failure></testcase></testsuite>`,
  );
const namesOf = ({ failures }: ReturnType<typeof readTestOutput>) => failures.map((failure) => failure.test);

const VITEST = " RUN  v4.1.12 /project\n FAIL  test/a.test.ts > outer > adds\nError: no\n      Tests  1 failed (1)\n";
const PYTEST = "FAILED test_a.py::TestOuter::test_inner - ValueError\n=== 1 failed in 0.1s ===\n";

test.each([
  ["vitest", VITEST, junit("test/a.test.ts", "outer &gt; adds")],
  ["jest-junit", VITEST, junit("outer adds", "outer adds")],
  ["pytest", PYTEST, junit("test_a.TestOuter", "test_inner")],
])("%s: the same test, printed and reported, is one", (_what, text, report) => {
  const output = readTestOutput(text, "/project");
  const both = withReports(output, [report]);
  expect(namesOf(both)).toEqual(namesOf(output));
  expect(both.counts).toEqual(output.counts);
});

test("failures that were not printed are added, with the counts if the output has none", () => {
  const both = withReports(readTestOutput("nothing to see", "/project"), [
    junit("test/a.test.ts", "adds"),
    junit("test/b.test.ts", "subtracts"),
  ]);
  expect(namesOf(both)).toEqual(["adds", "subtracts"]);
  expect(both).toMatchObject({ counts: { total: 2, failed: 2 }, ranTests: true, runners: ["junit"] });
});

test("a test of the same name in another file is a different one", () => {
  expect(
    namesOf(withReports(readTestOutput(VITEST, "/project"), [junit("test/b.test.ts", "outer &gt; adds")])),
  ).toHaveLength(2);
});

test("a report adds the values that were not printed", () => {
  const [failure] = withReports(readTestOutput(VITEST, "/project"), [
    junit("test/a.test.ts", "outer &gt; adds", "no\nexpected: 3"),
  ]).failures;
  expect(failure).toMatchObject({ message: "Error: no", detail: "expected: 3" });
});

test("an error at the same location is the same, with any message", () => {
  const sarif = reportOf(
    JSON.stringify({
      version: "2.1.0",
      runs: [
        {
          results: [
            {
              ruleId: "TS1",
              level: "error",
              message: { text: "x" },
              locations: [{ physicalLocation: { artifactLocation: { uri: "a.ts" }, region: { startLine: 1 } } }],
            },
          ],
        },
      ],
    }),
  );
  expect(withReports(readTestOutput("a.ts(1,2): error TS1: x\n", "/project"), [sarif]).failures).toHaveLength(1);
  expect(withReports(readTestOutput("b.ts(1,2): error TS1: x\n", "/project"), [sarif]).failures).toHaveLength(2);
});
