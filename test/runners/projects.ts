import type { RunnerCase } from "./kit.ts";

type Project = Omit<RunnerCase, "runner" | "modules">;

/** Each project has a test that passes, one that fails and one that is skipped; `broken` adds a file that does not load. */
interface Projects {
  readonly mixed: Project;
  readonly broken: Project;
}

const packageJson = (test: string, type = "commonjs"): string =>
  JSON.stringify({ name: "shop", private: true, type, scripts: { test } });

const SCRIPT = (importing: string, fail: string): string => `${importing}
describe("cart", () => {
  it("adds", () => {});
  it("removes", () => { ${fail} });
  it.skip("empties", () => {});
});
`;

const MIXED = (file: string) =>
  ({
    [`${file} > cart > adds`]: "passed",
    [`${file} > cart > empties`]: "skipped",
    [`${file} > cart > removes`]: "failed",
  }) as const;

function projectOf(
  test: string,
  [file, text]: readonly [string, string],
  [brokenFile, brokenText]: readonly [string, string],
  {
    type = "commonjs",
    exitCode = 1,
    isUnordered = false,
  }: { type?: string; exitCode?: number; isUnordered?: boolean } = {},
): Projects {
  const files = { "package.json": packageJson(test, type), [file]: text };
  const mixed: Project = { command: "npm test", files, expected: MIXED(file), exitCode, isUnordered };
  return {
    mixed,
    broken: {
      ...mixed,
      files: { ...files, [brokenFile]: brokenText },
      expected: { ...mixed.expected, [brokenFile]: "not-loaded" },
      isUnordered: true,
    },
  };
}

const NODE_IMPORTS = 'import { describe, it } from "node:test";\nimport assert from "node:assert";';

export const nodeTest = projectOf(
  "node --test",
  ["test/cart.test.js", SCRIPT(NODE_IMPORTS, "assert.equal(1, 2);")],
  ["test/order.test.js", 'import "./missing.js";\n'],
  { type: "module" },
);

export const vitest = projectOf(
  "vitest run",
  ["test/cart.test.ts", SCRIPT('import { describe, expect, it } from "vitest";', "expect(1).toBe(2);")],
  ["test/order.test.ts", 'import "./missing.ts";\n'],
  { type: "module" },
);

export const jest = projectOf(
  "jest",
  ["test/cart.test.js", SCRIPT("", "expect(1).toBe(2);")],
  ["test/order.test.js", 'require("./missing");\n'],
);

export const mocha = projectOf(
  "mocha",
  ["test/cart.js", SCRIPT('const assert = require("node:assert");', "assert.equal(1, 2);")],
  ["test/order.js", 'require("./missing");\n'],
);

const TAPE = `const test = require("tape");
test("adds", (t) => { t.equal(1, 1); t.end(); });
test("removes", (t) => { t.equal(1, 2); t.ok(true); t.end(); });
test("outer", (t) => { t.test("inner", (s) => { s.plan(1); s.pass(); }); t.end(); });
`;

export const tape: Project = {
  command: "npm test",
  files: { "package.json": packageJson("tape 'test/*.js'"), "test/cart.js": TAPE },
  expected: {
    "test/cart.js > adds": "passed",
    "test/cart.js > outer": "passed",
    "test/cart.js > outer > inner": "passed",
    "test/cart.js > removes": "failed",
  },
  exitCode: 1,
};

const AVA = `import test from "ava";
test("adds", (t) => t.pass());
test("removes", (t) => t.is(1, 2));
test.skip("empties", (t) => t.pass());
`;

export const ava = projectOf("ava", ["test/cart.js", AVA], ["test/order.js", 'import "./missing.js";\n'], {
  type: "module",
});
for (const project of [ava.mixed, ava.broken]) withoutSuite(project);

/** AVA has no suites. */
function withoutSuite(project: Project): void {
  const entries = Object.entries(project.expected).map(([name, outcome]) => [name.replace(" > cart", ""), outcome]);
  Object.assign(project, { expected: Object.fromEntries(entries) });
}

const PYTEST = `import pytest

def test_adds():
    pass

def test_removes():
    assert 1 == 2

@pytest.mark.skip
def test_empties():
    pass

@pytest.mark.parametrize("number", [1, 2])
class TestRows:
    def test_row(self, number):
        pass
`;

export const pytest: Projects = {
  mixed: {
    command: "pytest -q -p no:cacheprovider",
    files: { "test_cart.py": PYTEST },
    expected: {
      "test_cart.py > TestRows > test_row[1]": "passed",
      "test_cart.py > TestRows > test_row[2]": "passed",
      "test_cart.py > test_adds": "passed",
      "test_cart.py > test_empties": "skipped",
      "test_cart.py > test_removes": "failed",
    },
    exitCode: 1,
  },
  broken: {
    command: "pytest -q -p no:cacheprovider",
    files: { "test_cart.py": PYTEST, "test_order.py": "import missing_module\n" },
    // pytest runs nothing when a file cannot be collected.
    expected: { "test_order.py": "not-loaded" },
    exitCode: 2,
  },
};

export const doctest: Project = {
  command: "pytest -q -p no:cacheprovider --doctest-modules",
  files: { "prices.py": 'def total():\n    """\n    >>> total()\n    3\n    """\n    return 3\n' },
  expected: { "prices.py > prices.total": "passed" },
  exitCode: 0,
};

const UNITTEST = `import unittest

class CartTest(unittest.TestCase):
    def test_adds(self):
        pass

    def test_removes(self):
        self.assertEqual(1, 2)

    def test_rows(self):
        for row in range(2):
            with self.subTest(row=row):
                self.assertEqual(row, 0)

    @unittest.skip("later")
    def test_empties(self):
        pass
`;

const UNITTEST_OUTCOMES = {
  "test_cart.py > test_cart.CartTest.test_adds": "passed",
  "test_cart.py > test_cart.CartTest.test_empties": "skipped",
  "test_cart.py > test_cart.CartTest.test_removes": "failed",
  "test_cart.py > test_cart.CartTest.test_rows": "failed",
} as const;

export const unittest: Projects = {
  mixed: {
    command: "python3 -m unittest",
    files: { "test_cart.py": UNITTEST },
    expected: UNITTEST_OUTCOMES,
    exitCode: 1,
  },
  broken: {
    command: "python3 -m unittest",
    files: { "test_cart.py": UNITTEST, "test_order.py": "import missing_module\n" },
    expected: { ...UNITTEST_OUTCOMES, "test_order.py": "not-loaded" },
    exitCode: 1,
  },
};
