import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readTestReport } from "../../../src/parse/tests/test-report.ts";
import type { TestReport } from "../../../src/parse/tests/test-report-parts.ts";
import { expectLinearCost } from "../../cpu-cost.ts";

/** What the tools really wrote, with the project in `/project`. */
const sample = (name: string): string =>
  readFileSync(join(import.meta.dirname, "../../readers/fixtures/test-report", name), "utf8");
const read = (text: string): TestReport => {
  const { report, problem } = readTestReport(text, "/project");
  if (report === null) throw new Error(problem);
  return report;
};
const problemOf = (text: string): string | null => readTestReport(text, "/project").problem;
const told = (report: TestReport): string[] =>
  report.failures.map(({ test: name, file, line, message }) => `${file}:${line} ${name}: ${message}`);

describe("JUnit's XML", () => {
  test("as Vitest writes it", () => {
    const report = read(sample("vitest-junit.xml"));
    expect(report).toMatchObject({
      kind: "junit",
      counts: { total: 5, passed: 1, failed: 3, skipped: 1 },
      ranTests: true,
      writtenAt: Date.parse("2026-11-15T13:06:01.506Z"),
    });
    expect(told(report)).toEqual([
      "test/a.test.ts:2 adds: expected -1 to be 3 // Object.is equality",
      "test/a.test.ts:3 outer > inner fails <&>: expected { a: 1 } to deeply equal { a: 2 }",
      "test/b.test.ts:1 test/b.test.ts: cannot load",
    ]);
    expect(report.notLoaded).toEqual(["test/b.test.ts"]);
    expect(report.passed).toHaveLength(1);
    expect(report.failures[1]!.detail).toMatch(/^- Expected\n\+ Received\n\n {2}\{\n- {3}"a": 2,\n\+ {3}"a": 1,/);
  });

  test("as Node writes it", () => {
    const report = read(sample("node-junit.xml"));
    expect(report).toMatchObject({ counts: { total: 3, passed: 0, failed: 2, skipped: 1 }, writtenAt: null });
    expect(told(report)).toEqual([
      "a.mjs:2 adds: -1 == 3",
      expect.stringMatching(/^a\.mjs:2 inner: Expected values to be loosely deep-equal:/) as string,
    ]);
    expect(report.failures[0]!.detail).toContain("expected: 3");
    expect(report.failures[0]!.detail).not.toContain("node:internal");
  });

  test("as pytest and the JVM's tools write it: the class comes first", () => {
    const report =
      read(`<?xml version="1.0"?><testsuite errors="0" failures="2" tests="3" timestamp="2026-01-02T03:04:05">
      <testcase classname="tests.test_a.TestOuter" name="test_inner"><failure message="ValueError: bad">tests/test_a.py:6: ValueError</failure></testcase>
      <testcase classname="com.acme.CartTest" name="adds" file="src/CartTest.java"><error type="java.lang.IllegalStateException"><![CDATA[java.lang.IllegalStateException: <no>
  at com.acme.Cart.add(Cart.java:12)
  at com.acme.CartTest.adds(CartTest.java:30)]]></error></testcase>
      <testcase classname="com.acme.CartTest" name="fine"><system-out>not ok 1</system-out></testcase></testsuite>`);
    expect(told(report)).toEqual([
      "tests/test_a.py:6 tests.test_a.TestOuter > test_inner: ValueError: bad",
      expect.stringMatching(/^Cart\.java:12 com\.acme\.CartTest > adds: java\.lang\.IllegalStateException/) as string,
    ]);
    // A time without a zone says nothing that could be compared.
    expect(report.writtenAt).toBeNull();
  });

  test("the totals in the attributes count if they are worse", () => {
    expect(read('<testsuite tests="2" failures="1" errors="1"><testcase name="a"/></testsuite>').counts).toEqual({
      total: 3,
      passed: 1,
      failed: 2,
      skipped: 0,
    });
    expect(read('<testsuite tests="9" failures="0"></testsuite>')).toMatchObject({ ranTests: false });
    expect(read("<testsuites/>")).toMatchObject({ ranTests: false, counts: { total: 0 } });
    expect(read('<testsuite><testcase name="a"><skipped/></testcase></testsuite>')).toMatchObject({ ranTests: false });
  });

  test.each([
    ["", "it is empty"],
    ["\uFEFF \n", "it is empty"],
    ["<testsuite>", "`<testsuite>` is never closed"],
    ["<testsuite><testcase name='a'></testsuite>", "`</testsuite>` closes what is not open"],
    ["<testsuite><testcase name='a", "it breaks off at character 11"],
    ["<testsuite/><testsuite/>", "it has more than one root"],
    ["<html></html>", "it is XML of no form that is known: `<html>`"],
    ["<!-- only this -->", "it has no element"],
    ["<testsuite><![CDATA[", "it breaks off at character 11"],
    ["<testsuite><!-- ", "it breaks off at character 11"],
    ["< >", "it breaks off at character 0"],
    ["<a".repeat(3), "it breaks off at character 0"],
    ["<a>".repeat(200), "it is nested more than 100 levels deep"],
  ])("%j is not readable", (text, problem) => {
    expect(problemOf(text)).toBe(problem);
  });

  test("declared entities are neither expanded nor fetched", () => {
    const laughs = `<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>
      <testsuite><testcase name="&b; &f; &#x41;&#66;&#1114112;&amp;lt;"><failure/></testcase></testsuite>`;
    expect(told(read(laughs))).toEqual(["null:null &b; &f; AB&#1114112;&lt;: failed"]);
  });

  test("never throws", () => {
    const pieces = fc.constantFrom("<", ">", "/", "testsuite", "testcase", "failure", " name=", '"', "'", "<![CDATA[", "]]>", "<!--", "-->", "<!", "[", "&#x;", "&lt;", "x", "\n"); // prettier-ignore
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
        const { report, problem } = readTestReport(`<${parts.join("")}`, "/project");
        expect(report === null).toBe(problem !== null);
      }),
    );
  });

  test("takes time in proportion to the length of any text", () => {
    const expectLinear = (begin: string, unit: string): void =>
      expectLinearCost(2_000_000, (n) => {
        const text = begin + unit.repeat(n / unit.length);
        return () => readTestReport(text, "/project");
      });
    for (const unit of [
      "<",
      "<a>",
      "<!x>",
      "<!x[",
      "<a b='",
      " a='1'",
      "&lt;",
      "]]>",
      "<![CDATA[",
      "<?",
      "\n",
      "</",
      "<a ",
    ])
      expectLinear("<testsuite>", unit);
    expectLinear("<testsuite ", " ");
    expectLinear("{}", "\n");
  });
});

describe("JSON", () => {
  test("as Vitest and Jest write it", () => {
    const report = read(sample("vitest.json"));
    expect(report).toMatchObject({
      kind: "jest",
      counts: { total: 5, passed: 1, failed: 3, skipped: 1 },
      writtenAt: 1794747961162,
    });
    expect(told(report)).toEqual([
      "test/a.test.ts:2 adds: AssertionError: expected -1 to be 3 // Object.is equality",
      "test/a.test.ts:3 outer > inner fails <&>: AssertionError: expected { a: 1 } to deeply equal { a: 2 }",
      "test/b.test.ts:1 test/b.test.ts: cannot load",
    ]);
    expect(report.failures[0]!.detail).toBe("at test/a.test.ts:2:36");
  });

  test("as Mocha writes it", () => {
    const report = read(
      JSON.stringify({
        stats: { suites: 1, tests: 3, passes: 1, pending: 1, failures: 1, start: "2026-01-02T03:04:05.678Z" },
        tests: [],
        failures: [
          {
            title: "inner fails",
            fullTitle: "outer inner fails",
            file: "/project/test/a.js",
            err: {
              message: "1 == 2",
              expected: "2",
              actual: "1",
              stack: "AssertionError: 1 == 2\n    at Context.<anonymous> (test/a.js:3:60)\n    at node:internal/x:1:1",
            },
          },
        ],
      }),
    );
    expect(report).toMatchObject({
      kind: "mocha",
      counts: { total: 3, passed: 1, failed: 1, skipped: 1 },
      writtenAt: Date.parse("2026-01-02T03:04:05.678Z"),
    });
    expect(told(report)).toEqual(["test/a.js:3 outer inner fails: 1 == 2"]);
    expect(report.failures[0]!.detail).toBe(
      "expected: 2\nactual: 1\n    at Context.<anonymous> (test/a.js:3:60)".replace("    at", "    at"),
    );
  });

  test("as pytest's plugin writes it", () => {
    const report = read(
      JSON.stringify({
        created: 1767323045.5,
        exitcode: 1,
        summary: { passed: 2, failed: 1, error: 1, skipped: 1, xfailed: 1, total: 6 },
        tests: [
          {
            nodeid: "test_a.py::TestOuter::test_inner",
            outcome: "failed",
            call: { crash: { path: "/project/test_a.py", lineno: 6, message: "ValueError: bad\nmore" }, longrepr: "x" },
          },
          { nodeid: "test_a.py::test_b", outcome: "error", setup: { longrepr: "fixture 'x' not found" } },
          { nodeid: "test_a.py::test_c", outcome: "passed" },
        ],
      }),
    );
    expect(report).toMatchObject({ counts: { total: 6, passed: 2, failed: 2, skipped: 2 }, writtenAt: 1767323045500 });
    expect(told(report)).toEqual([
      "test_a.py:6 TestOuter > test_inner: ValueError: bad",
      "test_a.py:1 test_b: fixture 'x' not found",
    ]);
  });

  test("line by line: go's and cargo's", () => {
    const go = [
      "=== RUN   TestA",
      "--- FAIL: TestA (0.00s)",
      "    a_test.go:3: no",
      "FAIL",
      "FAIL\texample.com/a\t0.1s",
    ];
    const lines = go.map((line) => JSON.stringify({ Time: "x", Action: "output", Package: "p", Output: `${line}\n` }));
    expect(told(read(lines.join("\n")))).toEqual(["a_test.go:3 TestA: no"]);
    expect(read('{ "type": "suite", "event": "ok", "passed": 2, "failed": 0, "ignored": 0 }\n')).toMatchObject({
      kind: "cargo test",
      counts: { passed: 2 },
    });
  });

  test.each([
    ["{", /^it is no JSON: /],
    ["[1, 2]", /^it is JSON of no form that is known$/],
    ['{"testResults": 7, "numTotalTests": 1}', /no form that is known/],
    ["just some words", /^it is in no form that is known$/],
  ])("%j is not readable", (text, problem) => {
    expect(problemOf(text)).toMatch(problem);
  });

  test("values of the wrong kind are ignored", () => {
    const odd = { numTotalTests: "x", numFailedTests: -1, testResults: [null, 7, { name: 3, assertionResults: [{ status: "failed", title: 1 }] }], startTime: {} }; // prettier-ignore
    expect(read(JSON.stringify(odd))).toMatchObject({ failures: [{ message: "failed" }], writtenAt: null });
    expect(read('{"stats": null, "failures": [null]}').failures).toHaveLength(1);
    expect(read('{"summary": [], "tests": ["x", {"outcome": "failed"}], "exitcode": 0}').failures).toHaveLength(1);
  });

  test("the number of failures is limited", () => {
    const cases = Array.from({ length: 300 }, (_, at) => `<testcase name="t${at}"><failure/></testcase>`);
    expect(read(`<testsuite>${cases.join("")}</testsuite>`)).toMatchObject({ more: 100, counts: { failed: 300 } });
  });
});

test("TAP in a file", () => {
  expect(read("TAP version 13\n1..2\nok 1 - a\nnot ok 2 - b\n")).toMatchObject({
    kind: "tap",
    counts: { passed: 1, failed: 1 },
  });
});
