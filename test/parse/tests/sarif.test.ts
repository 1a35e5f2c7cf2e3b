import { expect, test } from "vitest";
import { readTestReport } from "../../../src/parse/tests/test-report.ts";

const read = (value: unknown) => readTestReport(JSON.stringify(value), "/project");
const at = (uri: string, startLine: number) => [
  { physicalLocation: { artifactLocation: { uri }, region: { startLine } } },
];

test("reads the errors of a run, with their locations", () => {
  const { report } = read({
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: { name: "lint", rules: [{ id: "r1", defaultConfiguration: { level: "error" } }, { id: "r2" }] },
        },
        invocations: [{ executionSuccessful: true, endTimeUtc: "2026-01-02T03:04:05Z" }],
        results: [
          { ruleId: "r1", message: { text: "by its rule" }, locations: at("file:///project/src/a%20b.ts", 3) },
          { ruleId: "r2", level: "error", message: { text: "by itself" }, locations: at("src/c.ts", 9) },
          { ruleIndex: 0, message: { text: "by index" } },
          { ruleId: "r2", message: { text: "a warning, since nothing is said" } },
          { ruleId: "r2", level: "warning", message: { text: "a warning" } },
          { ruleId: "r1", message: { text: "suppressed" }, suppressions: [{ kind: "inSource" }] },
          { ruleId: "r1", message: { text: "gone" }, baselineState: "absent" },
          { ruleId: "r1", kind: "pass", message: { text: "well" } },
          { ruleId: "r1", message: { text: "not let off" }, suppressions: [{ status: "rejected" }] },
        ],
      },
    ],
  });
  expect(report).toMatchObject({
    kind: "sarif",
    counts: null,
    ranTests: null,
    writtenAt: Date.UTC(2026, 0, 2, 3, 4, 5),
  });
  expect(report?.failures.map(({ file, line, message, category }) => `${category} ${file}:${line} ${message}`)).toEqual(
    [
      "lint src/a b.ts:3 r1: by its rule",
      "lint src/c.ts:9 r2: by itself",
      "lint null:null r1: by index",
      "lint null:null r1: not let off",
    ],
  );
});

test("a tool that did not finish gives no result", () => {
  const run = { tool: { driver: { name: "lint" } }, invocations: [{ executionSuccessful: false }], results: [] };
  expect(read({ version: "2.1.0", runs: [run] }).problem).toBe("lint says that it did not run to its end");
});

test("other contents are read or ignored", () => {
  expect(
    read({ version: "2.1.0", runs: [null, 7, { results: [null, { level: "error" }] }] }).report?.failures,
  ).toMatchObject([{ message: "no message", file: null, line: null }]);
  expect(
    read({ version: "2.1.0", runs: [{ results: [{ level: "error", locations: at("100%.ts", -1) }] }] }).report,
  ).toMatchObject({
    failures: [{ file: "100%.ts", line: null }],
    writtenAt: null,
  });
  expect(read({ version: "1.0", runs: [] }).problem).toMatch(/no form that is known/);
});
