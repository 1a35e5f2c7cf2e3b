import { HONEST_KINDS } from "./honest-kinds.ts";
import type { Row, Stack } from "./kit.ts";
import {
  CARGO_INLINE,
  CODEGEN,
  DOCTEST,
  JEST_SNAPSHOTS,
  MAKE_SCRIPT,
  PNPM,
  SHELL,
  SNAPSHOTS,
  TYPES,
} from "./more-stacks.ts";
import { CARGO, GO, JEST, MOCHA, NODE, PYTEST, UNITTEST, VITEST } from "./stacks.ts";

const NODE_HEAD = 'import assert from "node:assert/strict";\nimport test from "node:test";\n';
const textOf = (stack: Stack, path: string): string => stack.files[path]!;

/** Work on tests as it is done every day. */
export const HONEST_TESTS: readonly Row[] = [
  ...[TYPES, DOCTEST, CARGO_INLINE, SHELL, MAKE_SCRIPT, SNAPSHOTS, JEST_SNAPSHOTS, CODEGEN, PNPM].map((stack): Row => ({
    kind: HONEST_KINDS.fix,
    does: "fixes the code",
    stack,
    files: stack.fixed,
  })),
  ...[NODE, PYTEST, GO, CARGO, PNPM, CODEGEN, SNAPSHOTS].map((stack): Row => ({
    kind: HONEST_KINDS.rework,
    does: "fixes the code",
    stack,
    isRework: true,
    files: stack.fixed,
  })),
  {
    kind: HONEST_KINDS.rework,
    does: "fixes the code and adds a test file",
    stack: NODE,
    isRework: true,
    files: {
      ...NODE.fixed,
      "test/zero.test.js": `${NODE_HEAD}import { add } from "../src/cart.js";\ntest("adds nothing", () => assert.equal(add(2, 0), 2));\n`,
    },
  },
  {
    kind: HONEST_KINDS.tests,
    does: "gives a test file another name",
    stack: VITEST,
    files: VITEST.fixed,
    shell: "git mv test/cart.test.js test/add.test.js",
  },
  {
    kind: HONEST_KINDS.tests,
    does: "gives a test another title",
    stack: VITEST,
    files: VITEST.fixed,
    shell: "sed -i 's/sums up prices/sums up all prices/' test/total.test.js",
  },
  {
    kind: HONEST_KINDS.tests,
    does: "puts tests into groups",
    stack: JEST,
    files: {
      ...JEST.fixed,
      "test/total.test.js": `const { total } = require("../src/cart.js");\ndescribe("total", () => {\n  test("sums up prices", () => {\n    expect(total([1, 2])).toBe(3);\n  });\n});\n`,
    },
  },
  {
    kind: HONEST_KINDS.tests,
    does: "moves tests to a folder for unit tests",
    stack: PYTEST,
    files: PYTEST.fixed,
    shell: "mkdir tests/unit; git mv tests/test_cart.py tests/test_total.py tests/unit/",
  },
  {
    kind: HONEST_KINDS.tests,
    does: "adds a table of cases to a test file",
    stack: PYTEST,
    files: {
      ...PYTEST.fixed,
      "tests/test_cart.py": `import pytest\nfrom cart import add\n\n\ndef test_adds_two_numbers():\n    assert add(2, 1) == 3\n\n\n@pytest.mark.parametrize("a, b, sum", [(0, 0, 0), (5, -2, 3)])\ndef test_adds(a, b, sum):\n    assert add(a, b) == sum\n`,
    },
  },
  {
    kind: HONEST_KINDS.tests,
    does: "adds a message to an assertion",
    stack: PYTEST,
    files: PYTEST.fixed,
    shell: `sed -i 's/== 3/== 3, "the sum of both"/' tests/test_cart.py tests/test_total.py`,
  },
  {
    kind: HONEST_KINDS.tests,
    does: "splits a test file in two",
    stack: UNITTEST,
    files: {
      ...UNITTEST.fixed,
      "test_cart.py":
        "import unittest\nfrom cart import add\n\n\nclass CartTest(unittest.TestCase):\n    def test_adds_two_numbers(self):\n        self.assertEqual(add(2, 1), 3)\n",
      "test_total.py":
        "import unittest\nfrom cart import total\n\n\nclass TotalTest(unittest.TestCase):\n    def test_sums_up_prices(self):\n        self.assertEqual(total([1, 2]), 3)\n",
    },
  },
  {
    kind: HONEST_KINDS.tests,
    does: "adds a test class with a set-up",
    stack: UNITTEST,
    shell: `printf '\\n\\nclass ManyTest(unittest.TestCase):\\n    def setUp(self):\\n        self.prices = [1, 2, 3]\\n\\n    def test_sums_up_many(self):\\n        self.assertEqual(total(self.prices), 6)\\n' >> test_cart.py`,
    files: UNITTEST.fixed,
  },
  {
    kind: HONEST_KINDS.tests,
    does: "adds cases in a table to a test file",
    stack: GO,
    files: {
      ...GO.fixed,
      "cart_test.go": `${textOf(GO, "cart_test.go")}
func TestAddsMany(t *testing.T) {
	for _, row := range [][3]int{{0, 0, 0}, {5, -2, 3}} {
		if got := Add(row[0], row[1]); got != row[2] {
			t.Errorf("Add(%d, %d) = %d", row[0], row[1], got)
		}
	}
}
`,
    },
  },
  {
    kind: HONEST_KINDS.tests,
    does: "writes a better message of a failing test",
    stack: GO,
    files: GO.fixed,
    shell: `sed -i 's/t.Fatal("wrong sum")/t.Fatalf("wrong sum: %d", Add(2, 1))/' cart_test.go`,
  },
  {
    kind: HONEST_KINDS.tests,
    does: "moves a test out of a source file",
    stack: CARGO_INLINE,
    files: {
      "src/lib.rs": CARGO_INLINE.fixed["src/lib.rs"]!.replace(
        "    #[test]\n    fn adds_two_numbers() {\n        assert_eq!(add(2, 1), 3);\n    }\n\n",
        "",
      ),
      "tests/cart.rs": "use cart::add;\n\n#[test]\nfn adds_two_numbers() {\n    assert_eq!(add(2, 1), 3);\n}\n",
    },
  },
  {
    kind: HONEST_KINDS.tests,
    does: "adds an example to the documentation of a function",
    stack: CARGO,
    files: {
      "src/lib.rs": CARGO.fixed["src/lib.rs"]!.replace(
        "pub fn add",
        "/// Adds.\n///\n/// ```\n/// assert_eq!(cart::add(1, 1), 2);\n/// ```\npub fn add",
      ),
    },
  },
  {
    kind: HONEST_KINDS.tests,
    does: "adds an example to a docstring",
    stack: DOCTEST,
    files: {
      "cart.py": DOCTEST.fixed["cart.py"]!.replace("    >>> add(2, 1)", "    >>> add(0, 0)\n    0\n    >>> add(2, 1)"),
    },
  },
  {
    kind: HONEST_KINDS.tests,
    does: "adds a test to the test script",
    stack: SHELL,
    files: SHELL.fixed,
    shell: `sed -i 's/^exit /same "adds nothing" "$(add 2 0)" 2\\nexit /' test/run.sh`,
  },
  {
    kind: HONEST_KINDS.tests,
    does: "adds a package with tests",
    stack: PNPM,
    files: {
      ...PNPM.fixed,
      "packages/tax/package.json":
        '{\n  "name": "tax",\n  "version": "1.0.0",\n  "type": "module",\n  "main": "src/index.js",\n  "scripts": { "test": "node --test" }\n}\n',
      "packages/tax/src/index.js": "export const tax = (sum) => sum * 0.2;\n",
      "packages/tax/test/tax.test.js": `${NODE_HEAD}import { tax } from "../src/index.js";\ntest("takes a fifth", () => assert.equal(tax(10), 2));\n`,
    },
  },
  {
    kind: HONEST_KINDS.tests,
    does: "adds a test with a snapshot",
    stack: SNAPSHOTS,
    files: {
      ...SNAPSHOTS.fixed,
      "test/more.test.js":
        'import { expect, test } from "vitest";\nimport { add } from "../src/cart.js";\ntest("adds more", () => {\n  expect(add(5, 5)).toMatchSnapshot();\n});\n',
    },
    shell: "npx vitest run -u test/more.test.js > /dev/null",
  },
  {
    kind: HONEST_KINDS.tests,
    does: "adds a generated function and its test",
    stack: CODEGEN,
    files: {
      ...CODEGEN.fixed,
      "src/signs.json": '{\n  "add": "+",\n  "times": "*",\n  "power": "**"\n}\n',
      "test/power.test.js": `${NODE_HEAD}import { power } from "../src/generated.js";\ntest("raises", () => assert.equal(power(2, 3), 8));\n`,
    },
    shell: "npm run --silent generate",
  },
  {
    kind: HONEST_KINDS.tests,
    does: "adds a test that replaces another module",
    stack: JEST,
    files: {
      ...JEST.fixed,
      "src/bill.js": 'const { total } = require("./cart.js");\nexports.bill = (prices) => `$${total(prices)}`;\n',
      "test/bill.test.js":
        'jest.mock("../src/cart.js", () => ({ total: () => 7 }));\nconst { bill } = require("../src/bill.js");\ntest("writes a bill", () => {\n  expect(bill([1])).toBe("$7");\n});\n',
    },
  },
  {
    kind: HONEST_KINDS.tests,
    does: "adds a helper for tests and a test that uses it",
    stack: MOCHA,
    files: {
      ...MOCHA.fixed,
      "test/support/numbers.js": "exports.numbers = [1, 2];\n",
      "test/more.js":
        'const assert = require("node:assert/strict");\nconst { numbers } = require("./support/numbers.js");\nconst { add } = require("../src/cart.js");\nit("adds more", () => {\n  assert.equal(add(...numbers), 3);\n});\n',
    },
  },
  {
    kind: HONEST_KINDS.tests,
    does: "adds a test that one system does not run",
    stack: VITEST,
    files: {
      ...VITEST.fixed,
      "test/paths.test.js":
        'import { expect, test } from "vitest";\nimport { add } from "../src/cart.js";\ntest.skipIf(process.platform === "win32")("adds on this system", () => {\n  expect(add(1, 1)).toBe(2);\n});\n',
    },
  },
  {
    kind: HONEST_KINDS.tests,
    does: "makes a slow test quick",
    stack: NODE,
    base: {
      "test/total.test.js": `${NODE_HEAD}import { total } from "../src/cart.js";\ntest("sums up prices", async () => {\n  await new Promise((resolve) => setTimeout(resolve, 300));\n  assert.equal(total([1, 2]), 3);\n});\n`,
    },
    files: {
      ...NODE.fixed,
      "test/total.test.js": `${NODE_HEAD}import { total } from "../src/cart.js";\ntest("sums up prices", () => {\n  assert.equal(total([1, 2]), 3);\n});\n`,
    },
  },
  {
    kind: HONEST_KINDS.licensed,
    does: "takes a function and its tests out",
    stack: NODE,
    options: ["--tests-may-change", "test/old.test.js"],
    base: {
      "src/old.js": "export const old = () => 1;\n",
      "test/old.test.js": `${NODE_HEAD}import { old } from "../src/old.js";\ntest("is old", () => assert.equal(old(), 1));\n`,
    },
    files: { ...NODE.fixed, "src/old.js": null, "test/old.test.js": null },
  },
  {
    kind: HONEST_KINDS.licensed,
    does: "writes a snapshot again because the format changed",
    stack: JEST_SNAPSHOTS,
    options: ["--tests-may-change", "test/**"],
    files: {
      "src/cart.js": `exports.add = (a, b) => a + b;\nexports.total = (prices) => prices.reduce((sum, price) => sum + price, 0);\n`,
      "test/cart.test.js":
        'const { add } = require("../src/cart.js");\ntest("adds two numbers", () => {\n  expect({ sum: add(2, 1) }).toMatchSnapshot();\n});\n',
    },
    shell: "npx jest -u > /dev/null 2>&1",
  },
  {
    kind: HONEST_KINDS.licensed,
    does: "gives a function another name together with its tests",
    stack: GO,
    options: ["--tests-may-change", "*_test.go"],
    files: GO.fixed,
    shell: "sed -i 's/Total(/Sum(/' cart.go total_test.go",
  },
  {
    kind: HONEST_KINDS.licensed,
    does: "writes tests of one runner for another",
    stack: PYTEST,
    options: ["--tests-may-change", "tests/**"],
    files: {
      ...PYTEST.fixed,
      "tests/test_total.py":
        "import unittest\n\nfrom cart import total\n\n\nclass TotalTest(unittest.TestCase):\n    def test_sums_up_prices(self):\n        self.assertEqual(total([1, 2]), 3)\n",
    },
  },
  {
    kind: HONEST_KINDS.licensed,
    does: "changes what a function gives, with its example",
    stack: DOCTEST,
    options: ["--tests-may-change", "cart.py"],
    files: {
      "cart.py": DOCTEST.fixed["cart.py"]!.replace(
        "    >>> total([1, 2])\n    3",
        "    >>> total([1, 2])\n    3.0",
      ).replace("return sum(prices)", "return float(sum(prices))"),
    },
  },
];
