import { describe, expect, it } from "vitest";
import { readNameReport, withNames } from "../../../src/parse/tests/test-names.ts";
import { readTestOutput } from "../../../src/parse/tests/test-output.ts";

const place = { check: "tests", folders: ["/work"] };

const report = (...lines: readonly object[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join("");
const whole = (...tests: readonly object[]): string => report({ runner: "vitest" }, ...tests, { ended: true });
const passed = { outcome: "passed", file: "/work/test/cart.test.ts", name: "cart > adds" };
const failed = { outcome: "failed", file: "/work/test/cart.test.ts", name: "cart > removes" };

const namesOf = (printed: string, ...reports: readonly string[]) =>
  withNames(readTestOutput(printed, "/work"), reports.map(readNameReport), place);

describe("a report of names", () => {
  it("gives each test its identity", () => {
    const { names } = namesOf("", whole(passed, failed, { outcome: "not-loaded", file: "/work/test/order.test.ts" }));
    expect(names).toEqual({
      level: "all",
      runners: ["vitest"],
      tests: [
        { identity: "test/cart.test.ts > cart > adds", file: "test/cart.test.ts", outcome: "passed" },
        { identity: "test/cart.test.ts > cart > removes", file: "test/cart.test.ts", outcome: "failed" },
        { identity: "test/order.test.ts", file: "test/order.test.ts", outcome: "not-loaded" },
      ],
    });
  });

  it.each([
    ["without its end", report({ runner: "vitest" }, passed)],
    ["with a line behind its end", whole(passed) + report(failed)],
    ["with a line that is no JSON", `${report({ runner: "vitest" })}{"outcome":"pas\n${report({ ended: true })}`],
    ["with an outcome that there is not", whole({ ...passed, outcome: "great" })],
    ["with a test without a name", whole({ outcome: "passed", file: "/work/a.ts" })],
    ["without a runner", report(passed, { ended: true })],
    ["that is empty", ""],
  ])("%s is incomplete, and proves no pass", (_, text) => {
    expect(readNameReport(text).isComplete).toBe(false);
    const { names, output } = namesOf("", text);
    expect([names.level, names.tests, output.passed]).toEqual(["none", [], []]);
  });

  it("does not count if the output counts more tests than it names", () => {
    const printed = " RUN  v4.1.0 /work\n\n      Tests  3 passed (3)\n";
    expect(namesOf(printed, whole(passed)).names.level).toBe("counts");
    expect(namesOf(printed.replaceAll("3", "1"), whole(passed)).names.level).toBe("all");
  });

  it("is incomplete if one of several runners did not end", () => {
    expect(namesOf("", whole(passed), report({ runner: "pytest" })).names.level).toBe("none");
  });
});

describe("a printed failure and its report", () => {
  const printed = [
    " RUN  v4.1.0 /work",
    " FAIL  test/cart.test.ts > cart > removes",
    "Error: no such item",
    " ❯ remove src/cart.ts:7:11",
    "      Tests  1 failed | 1 passed (2)",
    "",
  ].join("\n");

  it("are one, with the printed message and the reported name", () => {
    const { failures } = namesOf(printed, whole(passed, failed)).output;
    expect(failures).toMatchObject([
      { test: "cart > removes", file: "test/cart.test.ts", message: "Error: no such item" },
    ]);
  });

  it("get the test's file if the error was thrown elsewhere", () => {
    const tap = [
      "TAP version 13",
      "# Subtest: removes",
      "not ok 1 - removes",
      "  ---",
      "  error: 'no such item'",
      "  stack: |-",
      "    remove (/work/src/cart.js:7:11)",
      "  ...",
      "1..1",
      "# tests 1",
      "# fail 1",
      "",
    ].join("\n");
    const text = report(
      { runner: "node:test" },
      { outcome: "failed", file: "/work/test/cart.test.js", name: "removes" },
      { ended: true },
    );
    expect(readTestOutput(tap, "/work").failures).toMatchObject([{ file: "src/cart.js", line: 7 }]);
    expect(namesOf(tap, text).output.failures).toMatchObject([
      { test: "removes", file: "test/cart.test.js", line: null, message: "no such item" },
    ]);
  });

  it("that is not printed is added; a test with a failed part is not", () => {
    const go = { outcome: "failed", package: "example.com/cart", file: "/work/cart_test.go" };
    const text = whole({ ...go, name: "TestOuter" }, { ...go, name: "TestOuter/inner" });
    expect(namesOf("", text).output.failures.map(({ test }) => test)).toEqual(["TestOuter/inner"]);
  });
});

describe("names from the output alone", () => {
  const tape = [
    "TAP version 13",
    "# adds",
    "ok 1 should be strictly equal",
    "ok 2 should be empty",
    "# removes",
    "not ok 3 should be strictly equal",
    "  ---",
    "    operator: equal",
    "    at: Test.<anonymous> (/work/test/cart.js:3:5)",
    "  ...",
    "",
    "1..3",
    "# tests 3",
    "# pass  2",
    "# fail  1",
    "",
  ].join("\n");

  it("are tape's tests, not its assertions", () => {
    const { names, output } = namesOf(tape);
    expect(names.level).toBe("all");
    expect(names.tests.map(({ identity, outcome }) => [identity, outcome])).toEqual([
      ["test/cart.js > removes", "failed"],
      ["tests > adds", "passed"],
    ]);
    expect(output.counts).toEqual({ total: 2, passed: 1, failed: 1, skipped: 0 });
    expect(output.failures[0]!.message).toContain("should be strictly equal");
  });

  it("are files if only these are printed", () => {
    const jest = "PASS ./cart.test.js\nFAIL ./order.test.js\n\nTests:       1 failed, 4 passed, 5 total\n";
    const { names } = namesOf(jest);
    expect(names).toMatchObject({ level: "files" });
    expect(names.tests).toEqual([
      { identity: "cart.test.js", file: "cart.test.js", outcome: "passed" },
      { identity: "order.test.js", file: "order.test.js", outcome: "failed" },
    ]);
    const go = "ok  \texample.com/a\t0.01s\nFAIL\texample.com/b\t0.01s\nFAIL\n";
    expect(namesOf(go).names.tests.map(({ identity }) => identity)).toEqual(["example.com/a", "example.com/b"]);
    const vitest = " RUN  v4.1.0 /work/packages/a\n ✓ test/a.test.ts (3 tests) 5ms\n      Tests  3 passed (3)\n";
    expect(namesOf(vitest).names.tests).toEqual([
      { identity: "packages/a/test/a.test.ts", file: "packages/a/test/a.test.ts", outcome: "passed" },
    ]);
  });

  it("are all of CTest's", () => {
    const ctest = [
      "    Start 1: prices",
      "1/2 Test #1: prices ...........................   Passed    0.01 sec",
      "    Start 2: cart",
      "2/2 Test #2: cart .............................***Failed    0.00 sec",
      "50% tests passed, 1 tests failed out of 2",
      "The following tests FAILED:",
      "\t  2 - cart (Failed)",
      "",
    ].join("\n");
    expect(namesOf(ctest).names).toMatchObject({ level: "all", tests: [{ outcome: "failed" }, { outcome: "passed" }] });
  });

  it("are none if nothing is known", () => {
    expect(namesOf("hello\n").names).toEqual({ level: "none", runners: [], tests: [] });
  });
});
