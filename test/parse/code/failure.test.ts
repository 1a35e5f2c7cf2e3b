import { describe, expect, test } from "vitest";
import { looksLikeTest } from "../../../src/core/blame/change.ts";
import { readFailure } from "../../../src/parse/code/failure.ts";
import { pathIndex } from "../../../src/parse/code/imports.ts";
import { readSourceMap, readStack } from "../../../src/parse/code/stack.ts";

const PATHS = [
  "src/cart.ts",
  "src/tax.ts",
  "src/deep/tax.ts",
  "test/cart.test.ts",
  "tests/a.spec.ts",
  "shop/cart.py",
  "tests/test_cart.py",
  "cart/cart.go",
  "cart/cart_test.go",
  "src/lib.rs",
  "src/main/java/com/shop/Cart.java",
  "src/test/java/com/shop/CartTest.java",
  "web/app.js",
];
const read = (text: string, sourceMaps?: ReadonlyMap<string, string>) =>
  readFailure(text, { root: "/app", paths: pathIndex(PATHS), ...(sourceMaps === undefined ? {} : { sourceMaps }) });

describe("builds that fail", () => {
  test("places in the notes of an error come behind its own", () => {
    const output = [
      "error[E0308]: arguments to this enum variant are incorrect",
      "   --> src/lib.rs:397:26",
      "    |",
      "397 |         Error::$err(e, at)  expected `error::Kind`",
      "    |",
      "note: tuple variant defined here",
      "   --> src/kind.rs:12:5",
      "",
      "error[E0425]: cannot find value `x` in this scope",
      "   --> src/kind.rs:90:1",
    ].join("\n");
    const paths = pathIndex(["src/lib.rs", "src/kind.rs"]);
    expect(readFailure(output, { root: "/app", paths }).failures.map(({ frames }) => frames)).toEqual([
      [
        { file: "src/lib.rs", line: 397 },
        { file: "src/kind.rs", line: 12 },
      ],
      [{ file: "src/kind.rs", line: 90 }],
    ]);
  });
});

describe("failing tests", () => {
  test("vitest: the test, its values and its stack", () => {
    const output = [
      "\u001B[31m FAIL \u001B[39m test/cart.test.ts > cart > adds tax",
      "AssertionError: expected 120 to be 119 // Object.is equality",
      "",
      "- Expected",
      "+ Received",
      "",
      "- 119",
      "+ 120",
      "",
      " ❯ withTax src/tax.ts:7:11",
      " ❯ test/cart.test.ts:12:20",
      "",
      "      Tests  1 failed | 3 passed (4)",
    ].join("\n");
    const { failures, runners } = read(output);
    expect(runners).toEqual(["vitest"]);
    expect(failures).toHaveLength(1);
    expect(failures[0]).toMatchObject({
      test: "cart > adds tax",
      category: "test",
      errorType: "AssertionError",
      expected: "119",
      actual: "120",
      file: "test/cart.test.ts",
      line: 12,
    });
    expect(failures[0]!.frames).toEqual([
      { file: "src/tax.ts", line: 7, symbol: "withTax" },
      { file: "test/cart.test.ts", line: 12 },
    ]);
    expect(failures[0]!.literals).toContain("119");
    expect(failures[0]!.identifiers).toContain("tax");
  });

  test("two tests keep their own lines", () => {
    const block = (name: string, got: number, line: number): string[] => [
      `not ok 1 - ${name}`,
      "  ---",
      "  error: 'Expected values to be strictly equal'",
      "  code: 'ERR_ASSERTION'",
      "  expected: 1",
      `  actual: ${got}`,
      "  stack: |-",
      `    total (file:///app/src/cart.ts:${line}:3)`,
      "    TestContext.<anonymous> (file:///app/test/cart.test.ts:5:3)",
      "  ...",
    ];
    const { failures } = read(
      ["TAP version 13", ...block("adds", 2, 10), ...block("adds twice", 3, 20), "1..2", "# tests 2", "# fail 2"].join(
        "\n",
      ),
    );
    expect(failures.map(({ test: name, actual }) => [name, actual])).toEqual([
      ["adds", "2"],
      ["adds twice", "3"],
    ]);
    expect(failures.map(({ frames }) => frames[0]?.line)).toEqual([10, 20]);
    expect(failures[0]!.codes).toContain("ERR_ASSERTION");
  });

  test("tests of the same title in two blocks keep their own lines", () => {
    const detail = (at: number, block: string, line: number) => [
      `  ${at}) ${block}`,
      "       adds tax:",
      `     Error: expected ${line} to equal 1`,
      `      at Context.<anonymous> (test/cart.test.ts:${line}:9)`,
      "",
    ];
    const output = [
      "  cart",
      "    1) adds tax",
      "  cart, empty",
      "    2) adds tax",
      "",
      "  0 passing (5ms)",
      "  2 failing",
      "",
      ...detail(1, "cart", 12),
      ...detail(2, "cart, empty", 40),
    ].join("\n");
    const { failures } = read(output);
    expect(failures.map(({ test: name, line }) => [name, line])).toEqual([
      ["cart > adds tax", 12],
      ["cart, empty > adds tax", 40],
    ]);
  });

  test("pytest in a container: another root, and the innermost frame first", () => {
    const output = [
      "____ test_total ____",
      "tests/test_cart.py:4: in test_total",
      "    assert total([1]) == 2",
      "/srv/build/shop/cart.py:9: in total",
      "    raise ValueError('empty')",
      "E   ValueError: empty",
      "=== short test summary info ===",
      "FAILED tests/test_cart.py::test_total - ValueError: empty",
      "=== 1 failed in 0.02s ===",
    ].join("\n");
    const [failure] = read(output).failures;
    expect(failure).toMatchObject({ test: "test_total", errorType: "ValueError", file: "tests/test_cart.py" });
    expect(failure!.frames[0]).toEqual({ file: "shop/cart.py", line: 9, symbol: "total" });
  });

  test("pytest with the code of each frame: the innermost frame first", () => {
    const output = [
      "____ test_total ____",
      "",
      "    def test_total():",
      ">       assert total([1]) == 2",
      "",
      "tests/test_cart.py:4: ",
      "_ _ _ _ _ _ _ _",
      "shop/cart.py:20: in total",
      "    return _sum(items)",
      "_ _ _ _ _ _ _ _",
      "items = [1]",
      "    def _sum(items):",
      ">       raise ValueError('empty')",
      "E       ValueError: empty",
      "",
      "shop/cart.py:9: ValueError",
      "=== short test summary info ===",
      "FAILED tests/test_cart.py::test_total - ValueError: empty",
    ].join("\n");
    const [failure] = read(output).failures;
    expect(failure!.frames.map(({ file, line }) => [file, line])).toEqual([
      ["shop/cart.py", 9],
      ["shop/cart.py", 20],
      ["tests/test_cart.py", 4],
    ]);
  });

  test.each([
    [
      "playwright",
      "  1) [chromium] › tests/a.spec.ts:3:5 › cart › opens ────────\n\n    Error: expect(received).toBe(expected)\n\n    Expected: 1\n    Received: 2\n",
      { test: "cart > opens", file: "tests/a.spec.ts", expected: "1", actual: "2" },
    ],
    [
      "ava",
      "  ✘ [fail]: cart › adds Difference (- actual, + expected)\n\n  cart › adds\n\n  test/cart.test.ts:4\n\n  Difference (- actual, + expected):\n\n  - 2\n  + 1\n",
      { test: "cart > adds", file: "test/cart.test.ts", expected: "1", actual: "2" },
    ],
    [
      "maven",
      "[ERROR]   CartTest.adds:12 expected: <10> but was: <11>\n",
      { test: "CartTest > adds", file: "src/test/java/com/shop/CartTest.java", line: 12, expected: "10", actual: "11" },
    ],
    [
      "gradle",
      "CartTest > adds() FAILED\n    org.opentest4j.AssertionFailedError: expected:<10> but was:<11>\n        at com.shop.CartTest.adds(CartTest.java:12)\n",
      { test: "CartTest > adds", file: "src/test/java/com/shop/CartTest.java", expected: "10" },
    ],
    [
      "go",
      "--- FAIL: TestTotal (0.00s)\n    cart_test.go:12: got 1, want 2\nFAIL\nFAIL\texample.com/cart\t0.003s\n",
      { test: "TestTotal", file: "cart/cart_test.go", line: 12, expected: "2", actual: "1" },
    ],
    [
      "cargo",
      "test tests::adds ... FAILED\n\n---- tests::adds stdout ----\nthread 'tests::adds' panicked at src/lib.rs:5:25:\nassertion `left == right` failed\n  left: 3\n right: 4\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n",
      { test: "tests::adds", expected: "4", actual: "3" },
    ],
  ])("%s", (_tool, output, expected) => {
    expect(read(output).failures).toHaveLength(1);
    expect(read(output).failures[0]).toMatchObject(expected);
  });
});

test("a file that could not be loaded has its output as the message", () => {
  const output = [
    "TAP version 13",
    "# file:///app/test/cart.test.ts:3",
    "# TypeError: total is not iterable",
    "#     at file:///app/test/cart.test.ts:3:1",
    "# Subtest: /app/test/cart.test.ts",
    "not ok 1 - /app/test/cart.test.ts",
    "  ---",
    "  error: 'test failed'",
    "  ...",
    "1..1",
    "# tests 1",
    "# fail 1",
  ].join("\n");
  expect(read(output).failures[0]).toMatchObject({
    file: "test/cart.test.ts",
    errorType: "TypeError",
    message: "TypeError: total is not iterable",
  });
});

describe("failures that are not tests", () => {
  test.each([
    [
      "tsc",
      "src/cart.ts(3,5): error TS2304: Cannot find name 'totl'.\n",
      { category: "type", file: "src/cart.ts", line: 3, codes: ["TS2304"] },
    ],
    [
      "webpack",
      "ERROR in ./src/cart.ts 12:3-9\nModule not found: Error: Can't resolve './taxx' in '/app/src'\n",
      { category: "build", file: "src/cart.ts", line: 12 },
    ],
    [
      "vite",
      '[vite]: Rollup failed to resolve import "./taxx" from "/other/src/cart.ts".\n',
      { category: "build", file: "src/cart.ts" },
    ],
    [
      "vite, with a place",
      "Unexpected token\nfile: /app/src/tax.ts:4:2\n",
      { category: "build", file: "src/tax.ts", line: 4 },
    ],
    [
      "esbuild",
      '✘ [ERROR] Could not resolve "x"\n\n    src/tax.ts:1:7:\n',
      { category: "build", file: "src/tax.ts", line: 1 },
    ],
  ])("%s", (_tool, output, expected) => {
    expect(read(output).failures[0]).toMatchObject({ test: null, ...expected });
  });

  test("a crash without a known tool: its error and its frames", () => {
    const [failure] = read(
      "starting\nTypeError: Cannot read properties of undefined (reading 'rate')\n    at withTax (C:\\app\\src\\deep\\tax.ts:4:11)\n    at node:internal/main:1:1\n",
    ).failures;
    expect(failure).toMatchObject({
      category: "crash",
      errorType: "TypeError",
      frames: [{ file: "src/deep/tax.ts", line: 4, symbol: "withTax" }],
    });
    expect(read("").failures).toEqual([]);
    expect(read("it just ended\n").failures[0]).toMatchObject({
      category: "crash",
      message: "it just ended",
      frames: [],
    });
  });

  test("an output with its middle cut out is marked, and still read", () => {
    expect(read("a\n[output truncated]\nb").isTruncated).toBe(true);
    expect(read("a\n".repeat(30_000)).isTruncated).toBe(true);
    expect(read("a\nb").isTruncated).toBe(false);
    const red = (count: number): string =>
      Array.from({ length: count }, (_, at) => `not ok ${at + 1} - test ${at}\n  ---\n  error: 'no'\n  ...`).join("\n");
    expect(read(`TAP version 13\n${red(40)}`).isTruncated).toBe(false);
    expect(read(`TAP version 13\n${red(41)}`).isTruncated).toBe(true);
  });
});

describe("locations", () => {
  test.each([
    ["    at async total (file:///app/src/cart.ts?v=3:5:2)", "src/cart.ts"],
    ["    at eval (webpack:///./src/cart.ts:5:2)", "src/cart.ts"],
    ["total@http://localhost:3000/src/cart.ts:5:2", "src/cart.ts"],
    ['  File "D:\\build\\shop\\cart.py", line 5, in total', "shop/cart.py"],
    ["\tat com.shop.Cart.total(Cart.java:5)", "src/main/java/com/shop/Cart.java"],
    ["\t/go/src/x/cart/cart.go:5 +0x1d", "cart/cart.go"],
    ["  --> src/lib.rs:5:9", "src/lib.rs"],
    ["    at /other%20root/src/cart.ts:5:1", "src/cart.ts"],
    ["    at x (/app/src/100%.ts:5:1)", undefined],
    ["    at x (/app/node_modules/tax.ts:5:1)", undefined],
    ["    at x (node:internal/tax.ts:5:1)", undefined],
    ["    at x (/app/tax.ts:5:1)", undefined],
  ])("%s", (line, file) => {
    expect(read(`Error: x\n${line}\n`).failures[0]!.frames.map((frame) => [frame.file, frame.line])).toEqual(
      file === undefined ? [] : [[file, 5]],
    );
  });

  test("a source map maps bundled code to its source", () => {
    const map = JSON.stringify({
      version: 3,
      sourceRoot: "",
      sources: ["../src/cart.ts", "../src/tax.ts"],
      mappings: "AAAA;ACEA,SAAS",
    });
    const output = "Error: x\n    at a (/app/web/app.js:2:3)\n    at b (/app/web/app.js:1:1)\n";
    expect(
      read(output, new Map([["web/app.js", map]])).failures[0]!.frames.map(({ file, line }) => [file, line]),
    ).toEqual([
      ["src/tax.ts", 3],
      ["src/cart.ts", 1],
    ]);
    expect(read(output, new Map([["web/app.js", "no map"]])).failures[0]!.frames[0]!.file).toBe("web/app.js");
  });

  test("positions outside a source map are not invented", () => {
    const map = readSourceMap(`)]}'\n${JSON.stringify({ mappings: "AAAA,K;!;", sources: [7], sourceRoot: "root" })}`)!;
    expect(map.original(1, 1)).toEqual({ source: "root/", line: 1 });
    expect(map.original(2, 1)).toBeNull();
    expect(map.original(9, 1)).toBeNull();
    expect(readSourceMap("[]")).toBeNull();
    expect(readSourceMap("null")).toBeNull();
  });

  test("a traceback is reversed, and a second one stays separate", () => {
    const lines = [
      '  File "a.py", line 1, in outer',
      "    inner()",
      '  File "b.py", line 2, in inner',
      "ValueError: x",
      '  File "c.py", line 3, in other',
      "KeyError: y",
    ];
    expect(readStack(lines).map(({ path, line, symbol }) => [path, line, symbol])).toEqual([
      ["b.py", 2, "inner"],
      ["a.py", 1, "outer"],
      ["c.py", 3, "other"],
    ]);
  });
});

describe("a check that died before its tests", () => {
  test.each([
    ["sh: 1: vitest: not found\nnpm error code 127\nnpm error path /app", "sh: 1: vitest: not found"],
    ["bash: ./run.sh: No such file or directory", "bash: ./run.sh: No such file or directory"],
    [
      [
        "ImportError while loading conftest '/app/tests/conftest.py'.",
        "tests/conftest.py:1: in <module>",
        "    import nothing_here",
        "E   ModuleNotFoundError: No module named 'nothing_here'",
      ].join("\n"),
      "ModuleNotFoundError: No module named 'nothing_here'",
    ],
    ["\nError: Cannot find module 'debug'\nRequire stack:\n- /app/web/app.js\n}", "Error: Cannot find module 'debug'"],
    ["nothing that looks like it\n}", "nothing that looks like it"],
  ])("says what it lacks: %j", (text, message) => {
    expect(read(text).failures.map((each) => each.message)).toEqual([message]);
  });
});

test.each([
  ["test.js", true],
  ["lib/tests.js", true],
  ["src/cart.spec.ts", true],
  ["spec/cart_spec.rb", true],
  ["src/latest.js", false],
  ["src/contest.ts", false],
])("%s is a test by its path: %s", (path, isTest) => {
  expect(looksLikeTest(path)).toBe(isTest);
});
