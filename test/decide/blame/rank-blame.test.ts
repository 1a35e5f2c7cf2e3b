import { describe, expect, test } from "vitest";
import type { BlameMaterial, LineCoverage } from "../../../src/core/blame/change.ts";
import { closedOver, companionsOf, environmentReason, flakyHint, testHunks } from "../../../src/decide/blame/triage.ts";
import { rankBlame } from "../../../src/decide/blame/rank-blame.ts";
import { readBlameMaterial } from "../../../src/parse/code/failure-material.ts";
import type { FileDiff } from "../../../src/parse/code/git-output.ts";

type Texts = Readonly<Record<string, string>>;

/** A diff of two states, line by line at the same place: enough for what stands here. */
function diffOf(before: Texts, now: Texts): FileDiff[] {
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].flatMap((path): FileDiff[] => {
    const [old, fresh] = [before[path], now[path]];
    if (old === fresh) return [];
    const change = old === undefined ? "added" : fresh === undefined ? "deleted" : "modified";
    const [a, b] = [old?.split("\n") ?? [], fresh?.split("\n") ?? []];
    const hunks = [];
    for (let at = 0; at < Math.max(a.length, b.length); at++) {
      if (a[at] === b[at]) continue;
      const lines = [
        ...(a[at] === undefined ? [] : [{ kind: "removed" as const, text: a[at]!, line: at + 1 }]),
        ...(b[at] === undefined ? [] : [{ kind: "added" as const, text: b[at]!, line: at + 1 }]),
      ];
      hunks.push({
        oldStart: a[at] === undefined ? at : at + 1,
        newStart: b[at] === undefined ? at : at + 1,
        heading: "",
        lines,
      });
    }
    return [{ change, path, oldPath: path, isBinary: false, hunks }];
  });
}

function materialOf(before: Texts, now: Texts, output: string, coverage: readonly LineCoverage[] = []): BlameMaterial {
  return readBlameMaterial({
    output,
    root: "/app",
    diff: diffOf(before, now),
    paths: Object.keys(now),
    textOf: (path) => now[path] ?? null,
    textBefore: (path) => before[path] ?? null,
    coverage,
  });
}

const places = (material: BlameMaterial): string[] =>
  rankBlame(material).hunks.map(({ hunk }) => `${hunk.file}:${hunk.start}`);

const vitestOutput = (title: string, message: string, line: number, ...frames: string[]): string =>
  [
    ` FAIL  test/cart.test.ts > ${title}`,
    message,
    ...frames.map((frame) => ` ❯ ${frame}`),
    ` ❯ test/cart.test.ts:${line}:3`,
    "      Tests  1 failed | 1 passed (2)",
  ].join("\n");

const TEST = [
  'import { total } from "../src/cart.ts";',
  'test("adds tax", () => {',
  "  expect(total([100])).toBe(119);",
  "});",
  'test("is empty", () => {',
  "  expect(none()).toBe(0);",
  "});",
  "",
].join("\n");
const CART = [
  'import { withTax } from "./tax.ts";',
  "export function total(lines) {",
  "  return withTax(sum(lines));",
  "}",
  "export function none() {",
  "  return 0 + zero;",
  "}",
  "// the sum",
  "function sum(lines) {",
  "  return lines.reduce((a, b) => a + b, 0);",
  "}",
  "",
].join("\n");
const TAX = [
  "const RATE = 19;",
  "export function withTax(net) {",
  "  return net + (net * RATE) / 100;",
  "}",
  "export function unused(x) {",
  "  return x > 1;",
  "}",
  "",
].join("\n");
const BASE: Texts = {
  "test/cart.test.ts": TEST,
  "src/cart.ts": CART,
  "src/tax.ts": TAX,
  "src/far.ts": "export const FAR = 1;\n",
  "README.md": "# Cart\n",
};
const edited = (...edits: (readonly [path: string, from: string, to: string])[]): Texts => {
  const files: Record<string, string> = { ...BASE };
  for (const [path, from, to] of edits) {
    expect(files[path]).toContain(from);
    files[path] = files[path]!.replace(from, to);
  }
  return files;
};

const ASSERTION = "AssertionError: expected 120 to be 119 // Object.is equality";

describe("ranking", () => {
  test("a constant two files away ranks before nearer code, by the test's calls and the actual value", () => {
    const now = edited(
      ["src/tax.ts", "RATE = 19", "RATE = 20"],
      ["src/cart.ts", "0 + zero", "zero + 0"],
      ["src/tax.ts", "x > 1", "x > 2"],
      ["src/far.ts", "FAR = 1", "FAR = 2"],
      ["README.md", "# Cart", "# The cart"],
    );
    const ranked = rankBlame(materialOf(BASE, now, vitestOutput("adds tax", ASSERTION, 3)));
    expect(ranked.hunks[0]).toMatchObject({ hunk: { file: "src/tax.ts", start: 1 }, symbol: "RATE" });
    expect(ranked.hunks[0]!.confidence).toBeGreaterThan(0.6);
    expect(ranked.isReached).toBe(true);
    expect(ranked.hunks.reduce((sum, { confidence }) => sum + confidence, 0)).toBeCloseTo(1);
    expect(places(materialOf(BASE, now, vitestOutput("adds tax", ASSERTION, 3))).at(-1)).toMatch(/README|far/);
  });

  test("a frame inside a hunk ranks first", () => {
    const now = edited(["src/tax.ts", "(net * RATE) / 100", "net.rate(RATE)"], ["src/cart.ts", "a + b, 0", "a + b, 1"]);
    const ranked = rankBlame(
      materialOf(
        BASE,
        now,
        vitestOutput(
          "adds tax",
          "TypeError: net.rate is not a function",
          3,
          "withTax src/tax.ts:3:14",
          "total src/cart.ts:3:10",
        ),
      ),
    );
    expect(ranked.hunks[0]!.hunk).toMatchObject({ file: "src/tax.ts", start: 3 });
    expect(ranked.hunks[0]!.reasons.slice(0, 2)).toEqual([
      "the failure's stack goes through these lines",
      "the failure misses a name that changed here",
    ]);
  });

  test("comments, layout, mirrored comparisons and renames rank last", () => {
    const now = edited(
      ["src/cart.ts", "// the sum", "// the sum of all"],
      ["src/tax.ts", "return net + (net * RATE) / 100;", "return net +  (net * RATE) /  100;"],
      ["src/tax.ts", "x > 1", "1 < x"],
      ["src/cart.ts", "a + b, 0", "a - b, 0"],
    );
    const ranked = rankBlame(materialOf(BASE, now, vitestOutput("adds tax", ASSERTION, 3)));
    expect(ranked.hunks[0]).toMatchObject({ hunk: { file: "src/cart.ts", start: 10 }, symbol: "sum" });
    expect(ranked.hunks[0]!.confidence).toBeGreaterThan(0.9);
    expect(
      ranked.hunks.filter(({ reasons }) => reasons.includes("although only comments or layout changed")),
    ).toHaveLength(2);
  });

  test("removed lines are suspects at their old position", () => {
    const base = {
      ...BASE,
      "src/tax.ts": TAX.replace("  return net", "  if (net < 0) throw new RangeError();\n  return net"),
    };
    const now = {
      ...base,
      "src/tax.ts": base["src/tax.ts"].replace("  if (net < 0) throw new RangeError();\n", "  \n"),
      "src/cart.ts": CART.replace("0 + zero", "zero"),
    };
    expect(places(materialOf(base, now, vitestOutput("adds tax", ASSERTION, 3)))[0]).toBe("src/tax.ts:3");
  });

  test("a coverage report counts", () => {
    const now = edited(["src/far.ts", "FAR = 1", "FAR = 2"], ["src/tax.ts", "x > 1", "x >= 1"]);
    const output = vitestOutput("adds tax", "AssertionError: no", 3);
    const line = { file: "src/far.ts", line: 1, failed: 1, passed: 0 };
    const ranked = rankBlame(
      materialOf(BASE, now, output, [line, { ...line, file: "src/tax.ts", line: 6, passed: 99 }]),
    );
    expect(ranked.hunks.find(({ hunk }) => hunk.file === "src/far.ts")!.reasons).toContain(
      "the failing tests run these lines",
    );
    const without = rankBlame(materialOf(BASE, now, output));
    const scoreOf = (from: typeof ranked): number => from.hunks.find(({ hunk }) => hunk.file === "src/far.ts")!.score;
    expect(scoreOf(ranked)).toBeGreaterThan(scoreOf(without));
    const unrun = rankBlame(
      materialOf(BASE, now, output, [
        { ...line, failed: 0, passed: 3 },
        { ...line, line: 9 },
      ]),
    );
    expect(scoreOf(unrun)).toBeLessThan(scoreOf(without));
    expect(unrun.hunks.find(({ hunk }) => hunk.file === "src/far.ts")).toMatchObject({ isReached: false });
  });

  test("unexecuted lines around a removal do not clear it", () => {
    const base = { ...BASE, "src/tax.ts": `${TAX}\nstart();` };
    const gap = rankBlame(
      materialOf(base, BASE, vitestOutput("adds tax", ASSERTION, 3), [
        { file: "src/tax.ts", line: 7, failed: 0, passed: 1 },
        { file: "src/tax.ts", line: 8, failed: 0, passed: 1 },
        { file: "src/cart.ts", line: 1, failed: 1, passed: 0 },
      ]),
    );
    expect(gap.hunks.find(({ hunk }) => hunk.file === "src/tax.ts")).toMatchObject({ isReached: true });
  });

  test("data that the code reads is reached through it", () => {
    const base: Texts = {
      ...BASE,
      "src/tax.ts": TAX.replace("const RATE = 19;", 'const RATE = read("../data/rates.json").standard;'),
      "data/rates.json": '{\n  "standard": 19,\n  "books": 7\n}\n',
    };
    const now = {
      ...base,
      "data/rates.json": base["data/rates.json"]!.replace("19", "20"),
      "src/far.ts": "export const FAR = 2;\n",
    };
    const ranked = rankBlame(materialOf(base, now, vitestOutput("adds tax", ASSERTION, 3)));
    expect(ranked.hunks[0]).toMatchObject({ hunk: { file: "data/rates.json", start: 2 }, symbol: "standard" });
    expect(ranked.hunks[0]!.reasons).toContain("data or settings changed");
  });

  test("the failing test itself is a suspect, ranked after code that it reaches", () => {
    const now = edited(["test/cart.test.ts", "toBe(119)", "toBe(118)"], ["src/tax.ts", "RATE = 19", "RATE = 20"]);
    const ranked = rankBlame(
      materialOf(BASE, now, vitestOutput("adds tax", "AssertionError: expected 120 to be 118", 3)),
    );
    expect(ranked.hunks.map(({ hunk }) => hunk.file)).toEqual(["src/tax.ts", "test/cart.test.ts"]);
    expect(ranked.hunks[1]!.reasons).toContain("the failing test itself changed here");
  });

  test("Python: through imports, by calls", () => {
    const base: Texts = {
      "shop/tax.py":
        "RATE = 19\n\n\ndef with_tax(net):\n    return net + net * RATE // 100\n\n\ndef other(x):\n    return x + 1\n",
      "shop/cart.py": "from .tax import with_tax\n\n\ndef total(lines):\n    return with_tax(sum(lines))\n",
      "tests/test_cart.py": "from shop.cart import total\n\n\ndef test_total():\n    assert total([100]) == 119\n",
    };
    const now = { ...base, "shop/tax.py": base["shop/tax.py"]!.replace("// 100", "// 10").replace("x + 1", "x + 2") };
    const output =
      "____ test_total ____\n    def test_total():\n>       assert total([100]) == 119\nE       assert 290 == 119\n\ntests/test_cart.py:5: AssertionError\nFAILED tests/test_cart.py::test_total - assert 290 == 119\n=== 1 failed in 0.01s ===\n";
    expect(places(materialOf(base, now, output))[0]).toBe("shop/tax.py:5");
  });

  test("no change, or no reached change", () => {
    expect(rankBlame(materialOf(BASE, BASE, vitestOutput("adds tax", ASSERTION, 3)))).toEqual({
      hunks: [],
      isReached: false,
    });
    expect(
      rankBlame(materialOf(BASE, edited(["src/far.ts", "FAR = 1", "FAR = 2"]), vitestOutput("adds tax", ASSERTION, 3)))
        .isReached,
    ).toBe(false);
  });

  test("a compiler's error leads to its location and to the removed name", () => {
    const now = edited(
      ["src/tax.ts", "export function withTax", "export function addTax"],
      ["src/far.ts", "FAR = 1", "FAR = 2"],
    );
    const ranked = rankBlame(
      materialOf(BASE, now, "src/cart.ts(1,10): error TS2305: Module './tax.ts' has no exported member 'withTax'.\n"),
    );
    expect(ranked.hunks[0]!.hunk).toMatchObject({ file: "src/tax.ts", start: 2 });
  });
});

describe("hunks that belong together", () => {
  test("share a name that was added or removed", () => {
    const now = edited(
      ["src/tax.ts", "function withTax", "function addTax"],
      ["src/cart.ts", "{ withTax }", "{ addTax }"],
      ["src/cart.ts", "return withTax", "return addTax"],
      ["src/far.ts", "FAR = 1", "FAR = 2"],
    );
    const companions = companionsOf(materialOf(BASE, now, ""));
    expect(Object.fromEntries(companions)).toEqual({ 0: [1, 2], 1: [0, 2], 2: [0, 1] });
    expect(closedOver([2], companions)).toEqual([0, 1, 2]);
    expect(closedOver([3], companions)).toEqual([3]);
  });
});

describe("triage before any run", () => {
  const failing = (message: string): BlameMaterial =>
    materialOf(BASE, edited(["src/far.ts", "FAR = 1", "FAR = 2"]), vitestOutput("adds tax", message, 3));

  test.each([
    ["Error: connect ECONNREFUSED 127.0.0.1:5432", "another service was not reachable"],
    ["Error: listen EADDRINUSE: address already in use :::3000", "a port was already in use"],
    [
      "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
      "there was not enough memory",
    ],
    ["Error: getaddrinfo ENOTFOUND api.example.com", "a name on the network was not found"],
    [
      "Error: Cannot find package 'left-pad' imported from /app/src/x.ts",
      "`left-pad` is not installed, and nothing that changed asks for it",
    ],
  ])("%s", (message, reason) => {
    expect(environmentReason(failing(message))).toBe(reason);
  });

  test("the majority of the failures decides", () => {
    const material = failing("Error: listen EADDRINUSE: address already in use :::3000");
    const [port] = material.failure.failures;
    const reasonOf = (...failures: readonly NonNullable<typeof port>[]) =>
      environmentReason({ ...material, failure: { ...material.failure, failures } });
    const behind = { ...port!, test: "behind", message: "expected 200, got 500", codes: [] };
    expect(reasonOf(port!, port!, behind)).toBe("a port was already in use");
    expect(reasonOf(port!, behind)).toBeNull();
  });

  test("a module that the iteration itself imports is its own fault", () => {
    const now = edited(["src/far.ts", "export const FAR = 1;", 'import "left-pad";']);
    expect(
      environmentReason(materialOf(BASE, now, vitestOutput("adds tax", "Error: Cannot find package 'left-pad'", 3))),
    ).toBeNull();
    expect(environmentReason(failing("Error: Cannot find module './tax.ts'"))).toBeNull();
    expect(environmentReason(failing(ASSERTION))).toBeNull();
    expect(environmentReason(materialOf(BASE, BASE, ""))).toBeNull();
  });

  test("an option that is not known is the runner's before any test has a name, and the project's own in a test", () => {
    const message = "error: unknown option '--fast'";
    const material = failing(message);
    expect(environmentReason(material)).toBeNull();
    const unnamed = material.failure.failures.map((each) => ({ ...each, test: null, message }));
    const early = { ...material, failure: { ...material.failure, failures: unnamed } };
    expect(environmentReason(early)).toBe("the runner does not know one of its options");
  });

  test("a flake is suspected if no change is reached, or the test depends on time or chance", () => {
    const material = failing(ASSERTION);
    expect(flakyHint(material, true)).toBe(false);
    expect(flakyHint(material, false)).toBe(true);
    expect(flakyHint(failing("Error: Test timed out in 5000ms."), true)).toBe(true);
    const base = { ...BASE, "test/cart.test.ts": TEST.replace("toBe(119)", "toBe(Math.random())") };
    expect(flakyHint(materialOf(base, base, vitestOutput("adds tax", ASSERTION, 3)), true)).toBe(true);
  });

  test("new, changed and unchanged tests are distinguished", () => {
    const about = (now: Texts, title: string, line: number) =>
      testHunks(materialOf(BASE, now, vitestOutput(title, ASSERTION, line)));
    expect(about(edited(["src/far.ts", "FAR = 1", "FAR = 2"]), "adds tax", 3)).toMatchObject({
      pinned: [],
      isNewTest: false,
    });
    expect(about(edited(["test/cart.test.ts", "119", "120"]), "adds tax", 3)).toMatchObject({
      pinned: [0],
      isNewTest: false,
    });
    expect(about(edited(["test/cart.test.ts", "toBe(0)", "toBe(1)"]), "adds tax", 3)).toMatchObject({
      pinned: [],
      isNewTest: false,
    });
    expect(about(edited(["test/cart.test.ts", '"adds tax"', '"adds no tax"']), "adds no tax", 3)).toMatchObject({
      pinned: [0],
      isNewTest: true,
    });
    const renamed = edited(
      ["src/cart.ts", "function total", "function totalOf"],
      ["test/cart.test.ts", "{ total }", "{ totalOf }"],
      ["test/cart.test.ts", "total([", "totalOf(["],
    );
    const material = materialOf(BASE, renamed, vitestOutput("adds tax", ASSERTION, 3));
    expect(testHunks(material).pinned).toEqual([]);
    const { "test/cart.test.ts": _gone, ...rest } = BASE;
    expect(testHunks(materialOf(rest, BASE, vitestOutput("adds tax", ASSERTION, 3))).isNewTest).toBe(true);
  });

  test("if a new test is in the file of the code, the rest of that file is not a test", () => {
    const now = edited(
      ["test/cart.test.ts", '"adds tax"', '"adds no tax"'],
      ["test/cart.test.ts", "toBe(0)", "toBe(1)"],
    );
    const material = materialOf(BASE, now, vitestOutput("adds no tax", ASSERTION, 3));
    expect(testHunks(material).pinned).toEqual([0, 1]);
    const files = new Map([...material.files].map(([path, file]) => [path, { ...file, isTest: false }]));
    expect(testHunks({ ...material, files }).pinned).toEqual([0]);
  });

  test("failures without details are reported as vague", () => {
    const about = (message: string) => testHunks(failing(message)).isVague;
    expect(about("test failed")).toBe(true);
    expect(about(ASSERTION)).toBe(false);
    expect(about("TypeError: x is not a function")).toBe(false);
  });
});
