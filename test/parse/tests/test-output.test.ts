import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createOutputSieve } from "../../../src/parse/tests/test-output-filter.ts";
import { withComparedValues } from "../../../src/parse/tests/test-output-parts.ts";
import { createOutputReader, readTestOutput } from "../../../src/parse/tests/test-output.ts";
import { expectLinearCost } from "../../cpu-cost.ts";

/** What the tools really print (Go's is written after its documentation), with the project in `/project`. */
const sample = (name: string): string =>
  readFileSync(join(import.meta.dirname, "../../readers/fixtures/test-output", `${name}.txt`), "utf8");
const read = (text: string) => readTestOutput(text, "/project");

/** `file:line test: message`, one per failure. */
const told = (text: string): string[] =>
  read(text).failures.map(
    ({ test, file, line, message }) => `${file}:${line} ${test === null ? "" : `${test}: `}${message}`,
  );

describe("test runners", () => {
  test.each([
    ["vitest", "vitest", [4, 1, 2, 1]],
    ["vitest-verbose", "vitest", [4, 1, 2, 1]],
    ["jest", "jest", [4, 1, 2, 1]],
    ["mocha", "mocha", [4, 1, 2, 1]],
    ["ava", "ava", [3, 1, 2, 0]],
    ["node-tap", "tap", [5, 1, 3, 1]],
    ["node-spec", "node:test", [5, 1, 3, 1]],
    ["pytest", "pytest", [5, 1, 3, 1]],
    ["pytest-q", "pytest", [5, 1, 3, 1]],
    ["pytest-short", "pytest", [1, 0, 1, 0]],
    ["pytest-collect", "pytest", [1, 0, 1, 0]],
    ["pytest-subtests", "pytest", [6, 3, 3, 0]],
    ["unittest", "unittest", [4, 1, 2, 1]],
    ["cargo", "cargo test", [3, 1, 1, 1]],
    ["go-verbose", "go test", [3, 1, 1, 1]],
    ["maven", "maven", [4, 1, 2, 1]],
    ["ctest", "ctest", [3, 1, 1, 1]],
  ] as const)("%s is recognised, and its tests are counted", (name, runner, [total, passed, failed, skipped]) => {
    expect(read(sample(name))).toMatchObject({
      runners: [runner],
      ranTests: true,
      counts: { total, passed, failed, skipped },
    });
  });

  test.each(["vitest-none", "jest-none", "pytest-none", "go-none", "maven-none", "ctest-none"])(
    "%s ran no test",
    (name) => {
      expect(read(sample(name))).toMatchObject({ ranTests: false, failures: [] });
    },
  );

  test("vitest in a workspace: paths are relative to the root, and the line is the test's own", () => {
    const output = [
      "> @shop/app@1.0.0 test",
      " RUN  v3.2.7 /project/packages/app",
      " FAIL  test/double.test.js > doubles",
      "TypeError: (0 , twice) is not a function",
      " ❯ double src/bill.js:6:35",
      " ❯ test/double.test.js:3:38",
      "⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[1/1]⎯",
      "      Tests  1 failed | 1 passed (2)",
      "> @shop/core@1.0.0 test",
      " RUN  v3.2.7 /private/project/packages/core",
      " FAIL  test/double.test.js > doubles",
      "TypeError: no",
      " ❯ twice src/index.js:9:1",
      "⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[1/1]⎯",
      "      Tests  1 failed (1)",
    ].join("\n");
    expect(told(output)).toEqual([
      "packages/app/test/double.test.js:3 doubles: TypeError: (0 , twice) is not a function",
      "packages/core/test/double.test.js:1 doubles: TypeError: no",
    ]);
  });

  test("maven: reads failures, without its advice", () => {
    expect(told(sample("maven"))).toEqual([
      "PriceTest.java:15 PriceTest > discounts: expected: <900> but was: <1100>",
      "PriceTest.java:20 PriceTest > breaks: IllegalState no price",
    ]);
    expect(told(sample("maven-compile"))).toEqual(["src/main/java/shop/Price.java:5 cannot find symbol"]);
    expect(
      told(
        [
          "[ERROR]   CartTest$Inner.adds:12->sum:30 » NullPointer",
          "[ERROR]   shop.CartTest.waits » Timeout after 5 s",
          "[ERROR]   symbol:   variable q",
          "Tests run: 3, Failures: 0, Errors: 2, Skipped: 0, Flakes: 1",
        ].join("\n"),
      ),
    ).toEqual(["CartTest.java:12 CartTest$Inner > adds: NullPointer", "null:null CartTest > waits: Timeout after 5 s"]);
  });

  test("the tests of modules are added up, and one without tests does not hide the others", () => {
    const module = "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 1, Time elapsed: 0.1 s -- in shop.A\n";
    const sum = "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 1\n";
    expect(read(`${module}${sum}[INFO] No tests to run.\n${module}${sum}`)).toMatchObject({
      ranTests: true,
      counts: { total: 4, passed: 2, failed: 0, skipped: 2 },
    });
  });

  test("gradle: reads failures with their locations, with or without a stack", () => {
    const output = [
      "> Task :test FAILED",
      "",
      "CartTest > adds() FAILED",
      "    org.opentest4j.AssertionFailedError: expected: <10> but was: <11>",
      "        at app//org.junit.jupiter.api.AssertEquals.failNotEqual(AssertEquals.java:150)",
      "        at app//shop.CartTest.adds(CartTest.java:12)",
      "",
      "CartTest > takes away FAILED",
      "    java.lang.IllegalStateException at CartTest.java:20",
      "",
      "5 tests completed, 2 failed, 1 skipped",
    ].join("\n");
    expect(told(output)).toEqual([
      "CartTest.java:12 CartTest > adds: org.opentest4j.AssertionFailedError: expected: <10> but was: <11>",
      "CartTest.java:20 CartTest > takes away: java.lang.IllegalStateException at CartTest.java:20",
    ]);
    expect(read(output)).toMatchObject({ runners: ["gradle"], counts: { total: 5, passed: 2, failed: 2, skipped: 1 } });
    expect(read("> Task :test\nBUILD SUCCESSFUL in 2s\n").ranTests).toBeNull();
  });

  test("ctest and automake: read failed programs, with the location of a C assertion", () => {
    expect(told(sample("ctest"))).toEqual([
      "test.c:6 prices: t: test.c:6: main: Assertion `discount(1000, 10) == 900' failed.",
    ]);
    const automake = [
      "PASS: test_a",
      "FAIL: test_b",
      "XPASS: test_c",
      "# TOTAL: 4",
      "# PASS:  1",
      "# SKIP:  1",
      "# XFAIL: 0",
      "# FAIL:  1",
      "# XPASS: 1",
      "# ERROR: 0",
    ].join("\n");
    expect(told(automake)).toEqual(["null:null test_b: failed", "null:null test_c: passed, and was expected to fail"]);
    expect(read(automake)).toMatchObject({ counts: { total: 4, passed: 1, failed: 2, skipped: 1 }, ranTests: true });
    expect(read("# TOTAL: 3\n# PASS: 3\n").runners).toEqual([]);
    expect(told("cc -o t test.o\n./t\nt: test.c:6: main: Assertion `a == b' failed.\nmake: *** [t] Aborted\n")).toEqual(
      ["test.c:6 Assertion `a == b' failed"],
    );
    expect(told("Assertion failed: (a == b), function main, file test.c, line 6.\n")).toEqual([
      "test.c:6 Assertion failed: (a == b)",
    ]);
  });

  test("go names only what failed, so the number of tests is unknown", () => {
    expect(read(sample("go"))).toMatchObject({ runners: ["go test"], counts: null, ranTests: true });
    expect(read("ok  \texample.com/a\t0.002s\n")).toMatchObject({ counts: null, ranTests: true, failures: [] });
  });

  test("failing subtests of a Python test are one failure of that test, with the first message", () => {
    expect(told(sample("pytest-subtests"))).toEqual([
      "test_s.py:6 T > test_a: AssertionError: 0 != 1",
      "test_s.py:9 T > test_b: AssertionError: False is not true",
    ]);
    expect(read(sample("unittest-subtests")).failures.map(({ test, message }) => `${test}: ${message}`)).toEqual([
      "test_s.T.test_a: AssertionError: 0 != 1",
      "test_s.T.test_b: AssertionError: False is not true",
    ]);
  });

  test("of unittest: skipped subtests may be more than the tests that ran", () => {
    const ended = (marks: string): string => `${marks}\n${"-".repeat(70)}\nRan 3 tests in 0.001s\n\nOK (skipped=5)\n`;
    expect(read(ended("..sssss"))).toMatchObject({ ranTests: true, counts: { passed: 2, failed: 0, skipped: 5 } });
    expect(read(ended("test_a (t.T.test_a) ... ok\ntest_b (t.T.test_b) ... skipped 'no'"))).toMatchObject({
      ranTests: true,
      counts: { passed: 1 },
    });
    expect(read(ended("sssss")).ranTests).toBe(false);
  });

  test("two runs in one output are added up; a run without counts makes the sum unknown", () => {
    expect(read(sample("vitest") + sample("pytest")).counts).toEqual({ total: 9, passed: 2, failed: 5, skipped: 2 });
    expect(read(sample("vitest") + sample("vitest")).counts?.total).toBe(8);
    expect(read(sample("vitest") + sample("go")).counts).toBeNull();
  });

  test.each([
    ["vitest", ["test/b.test.ts"]],
    ["jest", ["b.test.js"]],
    ["pytest-collect", ["test_b.py"]],
    ["go-build", ["example.com/sample/add"]],
    ["pytest", []],
    ["cargo", []],
  ])("%s: the files that did not load", (name, files) => {
    expect(read(sample(name)).notLoaded).toEqual(files);
  });

  test("the duration of a test is not part of its name in node-tap's output", () => {
    const output = (ok: string, ms: string): string => `TAP version 13
# Subtest: test/cmp.js
    # Subtest: 1.0.0 0.9.9
        ${ok} 1 - equal
        1..1
    ${ok} 1 - 1.0.0 0.9.9 # time=${ms}ms
    1..1
${ok} 1 - test/cmp.js # time=${ms}ms
1..1
# time=${ms}ms
`;
    const names = ["test/cmp.js > 1.0.0 0.9.9 > equal", "test/cmp.js > 1.0.0 0.9.9", "test/cmp.js"];
    expect(read(output("not ok", "70.687")).failures.map(({ test: name }) => name)).toEqual(names);
    expect(read(output("ok", "3.1")).passed?.map(({ test: name }) => name)).toEqual(names);
  });

  test.each(["tap", "spec"])("Node's %s form: a file with a syntax error did not load, the others did", (form) => {
    const output =
      form === "tap"
        ? `TAP version 13
# Subtest: adds
ok 1 - adds
  ---
  duration_ms: 5
  ...
# Subtest: /project/test/b.test.mjs
not ok 2 - /project/test/b.test.mjs
  ---
  location: '/project/test/b.test.mjs:1:1'
  failureType: 'testCodeFailure'
  exitCode: 1
  error: 'test failed'
  ...
1..2
# tests 2
# pass 1
# fail 1`
        : `✔ adds (1ms)
✖ /project/test/b.test.mjs (437.7ms)
ℹ tests 2
ℹ pass 1
ℹ fail 1

✖ failing tests:

test at test/b.test.mjs:1:1
✖ /project/test/b.test.mjs (437.7ms)
  'test failed'
`;
    expect(read(output).notLoaded).toEqual(["test/b.test.mjs"]);
  });

  // S3.12
  test.each(["node-tap-load", "node-spec-load"])(
    "%s: a file that does not load has the reason and the location",
    (name) => {
      const output = read(sample(name));
      expect(output.notLoaded).toEqual(["test/price.test.js"]);
      expect(output.failures).toMatchObject([
        {
          test: "test/price.test.js",
          file: "test/price.test.js",
          message: "SyntaxError: Unexpected token ';' (price.js:2)",
        },
      ]);
      expect(output.failures[0]!.detail).toContain("test/price.test.js:2:19");
    },
  );

  test("tape counts tests and not assertions, and a file that ava could not load ran no test", () => {
    const tape = read(sample("tape"));
    expect(tape).toMatchObject({ runners: ["tape"], ranTests: true, counts: { failed: 1 } });
    expect(tape.failures[0]).toMatchObject({ test: "boolean --boool=true", file: "test/bool.js", line: 130 });
    const cut = ["TAP version 13", "# parses", "not ok 1 should be equal", "  ---", "    operator: equal", "  ..."];
    const stack = ["TypeError: no", "    at Test.run (/app/node_modules/tape/lib/test.js:151:28)"];
    const crashed = read([...cut, ...stack].join("\n"));
    expect(crashed).toMatchObject({ runners: ["tape"], failures: [{ test: "parses" }] });
    const green = "TAP version 13\n# adds\nok 1 is 3\nok 2 is 4\n\n1..2\n# tests 2\n# pass  2\n\n# ok\n";
    expect(read(green)).toMatchObject({ ranTests: true, counts: { total: 1, passed: 1, failed: 0 } });
    expect(read(sample("ava-crash"))).toMatchObject({
      runners: ["ava"],
      ranTests: false,
      notLoaded: ["test.js"],
      failures: [{ test: "test.js", message: "SyntaxError: Unexpected identifier 'error'" }],
    });
  });

  test("passed tests are known if the runner names them", () => {
    expect(read(sample("cargo")).passed).toEqual([{ test: "tests::ok", file: null }]);
    expect(read(sample("node-tap")).passed).toHaveLength(1);
    expect(read(sample("pytest")).passed).toEqual([]);
  });

  test("output of an unknown runner gives no result", () => {
    expect(read("compiling…\nall good, 3 tests passed\n")).toEqual({
      runners: [],
      counts: null,
      ranTests: null,
      failures: [],
      more: 0,
      notLoaded: [],
      passed: [],
      skipped: [],
      files: [],
    });
    expect(read("")).toMatchObject({ runners: [], ranTests: null });
  });
});

describe("failing tests", () => {
  const VITEST = [
    "test/b.test.ts:1 test/b.test.ts: Error: cannot load",
    "test/a.test.ts:2 adds: AssertionError: expected -1 to be 3 // Object.is equality",
    "test/a.test.ts:3 outer > inner fails: AssertionError: expected { a: 1 } to deeply equal { a: 2 }",
  ];
  const PYTEST = [
    "test_a.py:3 test_adds: assert (1 - 2) == 3",
    "test_a.py:6 TestOuter > test_inner: ValueError: bad value",
    "test_a.py:10 TestOuter > test_ok[2]: assert 2 == 1",
  ];

  test.each([
    ["vitest", VITEST],
    ["vitest-verbose", VITEST],
    [
      "jest",
      [
        "a.test.js:1 adds: expect(received).toBe(expected) // Object.is equality Expected: 3 Received: -1",
        "a.test.js:2 outer > inner fails: expect(received).toEqual(expected) // deep equality",
        "b.test.js:1 b.test.js: Cannot find module './nothing' from 'b.test.js'",
      ],
    ],
    [
      "mocha",
      [
        "test/a.js:2 adds: AssertionError [ERR_ASSERTION]: -1 == 3",
        "test/a.js:3 outer > inner fails: AssertionError [ERR_ASSERTION]: Expected values to be loosely deep-equal:",
      ],
    ],
    [
      "node-tap",
      [
        "a.test.js:3 adds: -1 == 3",
        "a.test.js:4 outer > inner fails: Expected values to be loosely deep-equal:",
        "a.test.js:5 throws: Cannot read properties of null (reading 'x')",
      ],
    ],
    [
      "node-spec",
      [
        "a.test.js:3 adds: AssertionError [ERR_ASSERTION]: -1 == 3",
        "a.test.js:4 inner fails: AssertionError [ERR_ASSERTION]: Expected values to be loosely deep-equal:",
        "a.test.js:5 throws: TypeError [Error]: Cannot read properties of null (reading 'x')",
      ],
    ],
    [
      "ava",
      [
        "test/parse-url.js:30 parse-url > handles query-heavy URLs without splitting the whole URL: Expected URL parsing to avoid splitting the whole URL. Took 1158.6217150000002ms. Value is not `true`: false",
        "test/parse.js:173 parse > handles many empty parameters without allocating split results: Expected empty parameter parsing to avoid split allocation. Took 345.6986960000004ms. Value is not `true`: false",
      ],
    ],
    ["pytest", PYTEST],
    ["pytest-q", PYTEST],
    ["pytest-short", ["test_a.py:3 test_adds: assert (1 - 2) == 3"]],
    ["pytest-collect", ["test_b.py:1 test_b.py: ModuleNotFoundError: No module named 'nothing_here'"]],
    [
      "unittest",
      ["test_u.py:7 test_u.T.test_d: ValueError: bad", "test_u.py:3 test_u.T.test_a: AssertionError: 1 != 2"],
    ],
    ["cargo", ["src/lib.rs:5 tests::adds: assertion `left == right` failed"]],
    ["go", ["add_test.go:9 TestAdds: add(1, 2) = -1, want 3", "add_test.go:17 TestOuter/inner: Not equal"]],
    ["go-verbose", ["add_test.go:9 TestAdds: add(1, 2) = -1, want 3"]],
  ])("of %s: name, location and message", (name, failures) => {
    expect(told(sample(name))).toEqual(failures);
  });

  test("of unittest: an exception of the project's own, which is named with its module", () => {
    const bar = "=".repeat(70);
    const text = `${bar}\nERROR: test_take (tests.test_stock.Stock.test_take)\n${"-".repeat(70)}\nTraceback (most recent call last):\n  File "inv/stock.py", line 11, in take\n    raise OutOfStock(name)\ninv.stock.OutOfStock: nut: 5 of 5\n\n${"-".repeat(70)}\nRan 4 tests in 0.001s\n\nFAILED (errors=1)\n`;
    expect(told(text)).toEqual(["inv/stock.py:11 tests.test_stock.Stock.test_take: inv.stock.OutOfStock: nut: 5 of 5"]);
  });

  test("colors and line ends of another system change nothing", () => {
    const text = sample("vitest")
      .replaceAll("\n", "\r\n")
      .replace(" FAIL  test/a", "\u001b[41m\u001b[1m FAIL \u001b[22m\u001b[49m test/a");
    expect(told(text)).toEqual(VITEST);
  });

  test("a project's name before a file is not part of it", () => {
    expect(told(" RUN  v4.1.12 /project\n FAIL  |quick| test/a.test.ts > adds\nError: no\n")).toEqual([
      "test/a.test.ts:1 adds: Error: no",
    ]);
    expect(told(" RUN  v3.0.0 /project\n FAIL   quick  test/a.test.ts > adds\nError: no\n")).toEqual([
      "test/a.test.ts:1 adds: Error: no",
    ]);
  });

  test("pytest without its summary is read by its sections", () => {
    const text = sample("pytest")
      .split("\n")
      .filter((line) => !line.startsWith("FAILED "))
      .join("\n");
    expect(told(text)).toEqual([
      "test_a.py:3 test_adds: assert (1 - 2) == 3",
      "test_a.py:6 TestOuter.test_inner: ValueError: bad value",
      "test_a.py:10 TestOuter.test_ok[2]: assert 2 == 1",
    ]);
  });

  test("plain TAP: names, directives, tests without a word", () => {
    const text =
      "1..5\nok 1 - fine\nnot ok 2 - bad\n  ---\n  message: 'it broke'\n  at: /project/lib/x.js:7:3\n  ...\nnot ok 3 - known # TODO later\nok 4 # SKIP not here\nnot ok 5\n";
    expect(read(text).counts).toEqual({ total: 5, passed: 1, failed: 2, skipped: 2 });
    expect(told(text)).toEqual(["lib/x.js:7 bad: it broke", "null:null test at line 10: failed"]);
  });

  test("jest's log messages are no failures", () => {
    const text =
      "FAIL src/a.test.js (5.1 s)\n  ● Console\n\n    console.log x\n\n  ● works\n\n    boom\n\nTests:       1 failed, 1 total\n";
    expect(told(text)).toEqual(["src/a.test.js:1 works: boom"]);
  });

  test("rust's older form of a panic", () => {
    const text =
      "test a ... FAILED\nthread 'a' panicked at 'no luck', src/main.rs:3:5\ntest b ... FAILED\ntest result: FAILED. 0 passed; 2 failed; 0 ignored; 0 measured\n";
    expect(told(text)).toEqual(["src/main.rs:3 a: no luck", "null:null b: failed"]);
  });

  test("go without a word", () => {
    expect(told("--- FAIL: TestX (0.00s)\nFAIL\nFAIL\texample.com/a\t0.1s\n")).toEqual(["null:null TestX: failed"]);
    expect(told("--- FAIL: TestX (0.00s)\n    x_test.go:3: \n        got more\nFAIL\texample.com/a\t0.1s\n")).toEqual([
      "x_test.go:3 TestX: got more",
    ]);
  });
});

describe("compilers and linters", () => {
  const TSC = [
    "a.ts:1 TS2322: Type 'string' is not assignable to type 'number'.",
    "a.ts:1 TS2322: Type 'number' is not assignable to type 'string'.",
  ];
  test.each([
    ["tsc", "type", TSC],
    ["tsc-pretty", "type", TSC],
    [
      "eslint",
      "lint",
      ["b.js:1 'a' is assigned a value but never used (no-unused-vars)", "b.js:1 eval can be harmful (no-eval)"],
    ],
    ["oxlint", "lint", ["tsx/b.js:1 eslint(no-debugger): `debugger` statement is not allowed"]],
    ["gcc", "build", ["c.c:1 ‘x’ undeclared (first use in this function)"]],
    ["cargo-build", "build", ["src/lib.rs:9 mismatched types"]],
    ["go-build", "build", ["add.go:4 undefined: b"]],
  ])("%s", (name, category, failures) => {
    expect(told(sample(name))).toEqual(failures);
    expect(read(sample(name)).failures.every((failure) => failure.category === category && failure.test === null)).toBe(
      true,
    );
  });

  test("warnings and notes are not errors", () => {
    expect(told("a.c:1:2: warning: unused\na.c:1:2: note: here\n")).toEqual([]);
  });

  test("are not read if a test failed: a test may print anything", () => {
    expect(told(`a.ts(1,2): error TS1: printed by a test\n${sample("mocha")}`)).toHaveLength(2);
  });
});

describe("hostile output", () => {
  test("lists a thousand failures up to a limit, and counts the rest", () => {
    const text = Array.from({ length: 1000 }, (_, n) => `a.ts(${n + 1},1): error TS1: number ${n}`).join("\n");
    const { failures, more } = read(text);
    expect([failures.length, more]).toEqual([200, 800]);
  });

  test("never throws, and paths outside the project stay unchanged", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...LINES), { maxLength: 30 }), (lines) => {
        const { failures, counts } = read(lines.join("\n"));
        for (const { line, message } of failures) {
          expect(line === null || line >= 0).toBe(true);
          expect(message.length).toBeLessThan(500);
        }
        if (counts !== null) expect(counts.total).toBe(counts.passed + counts.failed + counts.skipped);
      }),
    );
    expect(told("/elsewhere/a.ts(1,2): error TS1: x")).toEqual(["/elsewhere/a.ts:1 TS1: x"]);
  });

  test("takes time in proportion to the length of any text", () => {
    const long = ["x", " ", "a:", "_", "(", ". ", "1 a, ", "= "].flatMap((unit) => [
      `${unit.repeat(1900 / unit.length)}\n`,
      `    at ${unit.repeat(1800 / unit.length)}:1:1\n`,
    ]);
    for (const unit of [
      "x",
      " ",
      "(",
      "a.ts:1:1: ",
      "not ok 1 - a\n",
      "  ● a › b\n",
      "1 passed, ",
      "--- FAIL: T (0.00s)\n",
      "\n",
      "_ ",
      " FAIL  a > b\n",
      ...long,
    ]) {
      expectLinearCost(2_000_000, (n) => {
        const text = `TAP version 13\n 1 passing (\nFAIL\ta\nTests:  1 total\n${unit.repeat(n / unit.length)}`;
        return () => read(text);
      });
    }
  });
});

describe("the details of a failure", () => {
  const detailOf = (name: string, test: string): string =>
    read(sample(name)).failures.find((failure) => failure.test === test)!.detail;

  test.each([
    ["vitest", "adds", /^- Expected\n\+ Received\n\n- 3\n\+ -1\n\n ❯ test\/a\.test\.ts:2:36\n/],
    ["jest", "outer > inner fails", /-   "a": 2,\n\+   "a": 1,[^]*at Object\.toEqual \(a\.test\.js:2:72\)$/],
    ["mocha", "adds", /^\+ expected - actual\n\n--1\n\+3\n\nat Context\.<anonymous> \(test\/a\.js:2:25\)$/],
    ["node-tap", "adds", /^expected: 3\nactual: -1\n {2}TestContext\.<anonymous> \(a\.test\.js:3:27\)$/],
    [
      "node-spec",
      "inner fails",
      /should loosely deep-equal[^]*at TestContext\.<anonymous> \(a\.test\.js:4:60\)[^]*expected: \{ a: 2 \}/,
    ],
    ["pytest", "test_adds", /^> {7}assert 1 - 2 == 3\nE {7}assert \(1 - 2\) == 3$/],
    ["unittest", "test_u.T.test_a", /^Traceback[^]*File "test_u\.py", line 3[^]*AssertionError: 1 != 2$/],
    ["cargo", "tests::adds", /^ left: -1\nright: 3\nat sample::tests::adds \(src\/lib\.rs:5\)$/],
    ["go", "TestOuter/inner", /Error: +\tNot equal/],
  ])("%s", (name, failed, detail) => {
    expect(detailOf(name, failed)).toMatch(detail);
  });

  test("is capped, in lines and in characters, and leaves libraries out", () => {
    const said = (lines: readonly string[]): string =>
      read([" RUN  v4.1.12 /project", " FAIL  a.ts > b", "Error: no", ...lines].join("\n")).failures[0]!.detail;
    expect(said(Array.from({ length: 100 }, (_, at) => `line ${at}`)).split("\n")).toHaveLength(41);
    expect(said(["x".repeat(1900), "y".repeat(1900)])).toHaveLength(2001);
    expect(said(["    at a (node_modules/x/y.js:1:1)", "    at b (src/a.ts:1:1)", "    at c (node:fs:1:1)"])).toBe(
      "at b (src/a.ts:1:1)",
    );
  });
});

describe("lines that are wrapped in JSON", () => {
  test("go test -json is read like go test -v, also for packages that run in parallel", () => {
    const wrapped = (name: string) => (line: string) =>
      JSON.stringify({ Time: "2026-01-02T03:04:05Z", Action: "output", Package: name, Output: `${line}\n` });
    const one = sample("go-verbose").trimEnd().split("\n").map(wrapped("example.com/a"));
    const other = Array.from({ length: one.length }, (_, at) => wrapped("example.com/b")(`noise ${at}`));
    const mixed = one.flatMap((line, at) => [line, other[at]!]);
    const end = ["a", "b"].map((name) =>
      JSON.stringify({ Action: "fail", Package: `example.com/${name}`, Elapsed: 1 }),
    );
    expect(read([...mixed, ...end].join("\n"))).toEqual(read(sample("go-verbose")));
    expect(read(mixed.join("\n")).counts).toEqual(read(sample("go-verbose")).counts);
  });

  test("a line that only looks similar is an ordinary line", () => {
    expect(told('{"Action": broken\na.ts(1,2): error TS1: x\n{"Action":7}\n')).toEqual(["a.ts:1 TS1: x"]);
  });

  test("of ava is the same alone and beside others", () => {
    const first = [
      "  adds",
      "",
      "  test.js:304",
      "",
      "   304:   t.throws(() => {",
      "",
      "  Function returned:",
      "",
      "  undefined",
      "",
      "  › helper (file://lib.js:2:1)",
      "  › file://test.js:304:4",
      "",
    ];
    const second = [
      "",
      "",
      "  subtracts",
      "",
      "  test.js:9",
      "",
      "  Value is not truthy",
      "",
      "  › file://test.js:9:4",
      "",
    ];
    const alone = ["  ✘ [fail]: adds", "  ─", "", ...first, "  ─", "", "  1 test failed"].join("\n");
    const beside = [
      "  ✘ [fail]: adds",
      "  ✘ [fail]: subtracts",
      "  ─",
      "",
      ...first,
      ...second,
      "  ─",
      "",
      "  2 tests failed",
    ];
    const [one, other] = [read(alone), read(beside.join("\n"))];
    expect(one.failures).toHaveLength(1);
    expect(other.failures.map(({ test: name }) => name)).toEqual(["adds", "subtracts"]);
    expect(other.failures[0]).toEqual(one.failures[0]);
    expect(one.failures[0]?.detail).toBe(
      " 304:   t.throws(() => {\n\nFunction returned:\n\nundefined\n\n› helper (file://lib.js:2:1)",
    );
  });

  test("an example in a Rust comment is located at the comment", () => {
    const text = [
      "---- src/lib.rs - area (line 12) stdout ----",
      "Test executable failed (exit status: 101).",
      "",
      "stderr:",
      "",
      "thread 'main' (28828) panicked at src/lib.rs:7:1:",
      "assertion `left == right` failed",
      "  left: 2",
      " right: 3",
      "note: run with `RUST_BACKTRACE=1`",
      "",
      "---- src/lib.rs - volume (line 40) stdout ----",
      "error[E0425]: cannot find function `volme` in this scope",
      "error: aborting due to 1 previous error",
      "",
      "test result: FAILED. 10 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 2.73s",
      "thread 'main' panicked at src/main.rs:3:5:",
      "not of an example",
    ].join("\n");
    expect(told(text)).toEqual([
      "src/lib.rs:12 src/lib.rs - area (line 12): assertion `left == right` failed",
      "src/lib.rs:40 src/lib.rs - volume (line 40): error[E0425]: cannot find function `volme` in this scope",
    ]);
    expect(read(text).failures[0]).toMatchObject({ detail: " left: 2\nright: 3" });
  });

  test("cargo's JSON", () => {
    const text = [
      '{ "type": "suite", "event": "started", "test_count": 3 }',
      '{ "type": "test", "event": "ok", "name": "tests::fine" }',
      `{ "type": "test", "name": "tests::adds", "event": "failed", "stdout": "\\nthread 'tests::adds' panicked at src/lib.rs:5:25:\\nassertion failed\\n  left: 1\\n right: 2\\nnote: x\\n" }`,
      '{ "type": "test", "name": "tests::silent", "event": "failed" }',
      '{ "type": "test", broken',
      '{ "type": "suite", "event": "failed", "passed": 1, "failed": 2, "ignored": 1, "measured": 0 }',
    ].join("\n");
    expect(read(text)).toMatchObject({
      runners: ["cargo test"],
      counts: { total: 4, passed: 1, failed: 2, skipped: 1 },
      failures: [{ detail: " left: 1\nright: 2" }, {}],
    });
    expect(told(text)).toEqual(["src/lib.rs:5 tests::adds: assertion failed", "null:null tests::silent: failed"]);
  });
});

describe("an output longer than the limit", () => {
  const noise = (count: number): string[] =>
    Array.from({ length: count }, (_, at) => `2026-01-02 03:04:05 worker ${at} did something of no interest at all`);

  test("is read as if without noise, wherever the failures are", () => {
    const failing = sample("vitest").trimEnd().split("\n");
    const [first, rest] = [failing.slice(0, 20), failing.slice(20)];
    const reader = createOutputReader("/project");
    for (const part of [noise(60_000), first, noise(60_000), rest, noise(60_000)])
      for (const line of part) reader.push(line);
    const output = reader.end();
    expect(output.counts).toEqual(read(sample("vitest")).counts);
    expect(output.failures.map(({ test: name }) => name)).toEqual(
      read(sample("vitest")).failures.map(({ test: name }) => name),
    );
  });

  test("has no counts by line if lines were dropped", () => {
    const reader = createOutputReader("/project");
    reader.push("TAP version 13");
    for (let at = 1; at <= 300_000; at++)
      reader.push(`ok ${at} - a test with a name of some length that says what it does`);
    expect(reader.end()).toMatchObject({ runners: ["tap"], counts: null, ranTests: true });
  });

  test("keeps the beginning, the end, and important lines between, in bounded memory", () => {
    const sieve = createOutputSieve({ head: 200, middle: 400, tail: 200 });
    for (const line of ["first", ...noise(20), "--- FAIL: T (0.1s)", "    a.go:1: b", ...noise(100), "last"])
      sieve.push(line);
    const { lines, isCut } = sieve.kept();
    expect(lines[0]).toBe("first");
    expect(lines.at(-1)).toBe("last");
    expect(lines).toContain("    a.go:1: b");
    expect(lines.length).toBeLessThan(20);
    // The lines below the failure did not all fit.
    expect(isCut).toBe(true);
  });

  test("cuts a line of megabytes", () => {
    const sieve = createOutputSieve();
    sieve.push("x".repeat(5_000_000));
    expect(sieve.kept().lines[0]).toHaveLength(2000);
  });
});

const LINES = [
  "TAP version 13",
  "1..2",
  "ok 1 - a",
  "not ok 2 - b",
  "  ---",
  "  error: |-",
  "  ...",
  "# tests 3",
  "ℹ tests 2",
  "✖ x (1ms)",
  "test at a.js:1:2",
  " FAIL  a.ts > b",
  " RUN  v1.2.3",
  "      Tests  1 failed (1)",
  "Tests:       1 failed, 1 total",
  "  ● a › b",
  "FAIL a.js",
  "  1 passing (1ms)",
  "  1) a",
  "       b:",
  "=== 1 failed in 0.1s ===",
  "____ a ____",
  "E   no",
  "FAILED a.py::b - c",
  "ERROR a.py",
  "Ran 2 tests in 0.1s",
  "FAILED (failures=1)",
  "FAIL: a (b.c)",
  "--- FAIL: T (0.1s)",
  "FAIL\ta\t0.1s",
  "    a.go:1: b",
  "test a ... FAILED",
  "test result: FAILED. 1 passed; 2 failed; 3 ignored;",
  "thread 'a' panicked at a.rs:1:1:",
  "error[E1]: no",
  "  --> a.rs:1:1",
  "/a/b.js",
  "  1:2  error  no  rule",
  "a.ts(1,2): error TS1: no",
  "x".repeat(5000),
  "",
];

describe("compared values of Node's assertions", () => {
  // S3.12
  test.each([
    [
      ["Expected values to be strictly equal:", "", "false !== true", ""],
      "Expected values to be strictly equal: false !== true",
    ],
    [
      ["Expected values to be strictly deep-equal:", "+ actual - expected", "", "  {", "+   a: 1", "-   a: 2", "  }"],
      "Expected values to be strictly deep-equal: a: 1 !== a: 2",
    ],
    [
      ["The input did not match the regular expression /z/. Input:", "", "'abc'"],
      "The input did not match the regular expression /z/. Input: 'abc'",
    ],
    [
      ["Expected values to be strictly deep-equal:", "+ actual - expected", "", "  [", "+   1"],
      "Expected values to be strictly deep-equal:",
    ],
    [["boom:", "more"], "boom:"],
  ])("%j", (lines, message) => {
    expect(withComparedValues(lines[0]!, lines.slice(1))).toBe(message);
    const block = lines.map((line) => `    ${line}`);
    const tap = ["TAP version 13", "not ok 1 - a", "  ---", "  error: |-", ...block, "  ...", "1..1", "# tests 1"];
    expect(read(tap.join("\n"))?.failures[0]?.message).toContain(message);
  });
});
