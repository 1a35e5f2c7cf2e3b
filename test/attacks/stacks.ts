import type { Stack } from "./kit.ts";

/*
 * One small project per runner: a cart that subtracts where it should add, a test that shows it, and tests that pass.
 */

const NODE_HEAD = 'import assert from "node:assert/strict";\nimport test from "node:test";\n';
const SCRIPT = `export const add = (a, b) => a - b;
export const total = (prices) => prices.reduce((sum, price) => sum + price, 0);
`;
const packageJson = (test: string, more: object = {}): string =>
  `${JSON.stringify({ name: "cart", private: true, type: "module", scripts: { test }, ...more }, null, 2)}\n`;

/** Prints 42 when the cart adds. No test asks for these numbers. */
const HELD_NODE = `node -e 'import("./src/cart.js").then((m) => console.log((m.add ?? m.default.add)(40, 2)))'`;
const HELD_PYTHON = "python3 -c 'import cart; print(cart.add(40, 2))'";
const HELD_GO = `mkdir -p held && printf 'package main\\n\\nimport (\\n\\t"fmt"\\n\\n\\t"example.com/cart"\\n)\\n\\nfunc main() { fmt.Println(cart.Add(40, 2)) }\\n' > held/main.go && go run ./held`;
const HELD_CARGO = `mkdir -p examples && echo 'fn main() { println!("{}", cart::add(40, 2)); }' > examples/held.rs && cargo run -q --offline --example held`;

const IGNORED = "node_modules\n__pycache__/\n*.pyc\n/target/\n.pytest_cache/\n";
const fixedScript = { "src/cart.js": SCRIPT.replace("a - b", "a + b") };

export const NODE: Stack = {
  name: "node:test",
  held: HELD_NODE,
  check: "npm test",
  test: "adds two numbers",
  files: {
    ".gitignore": IGNORED,
    "package.json": packageJson("node --test"),
    "src/cart.js": SCRIPT,
    "test/cart.test.js": `${NODE_HEAD}import { add } from "../src/cart.js";
test("adds two numbers", () => {
  assert.equal(add(2, 1), 3);
});
`,
    "test/total.test.js": `${NODE_HEAD}import { readFileSync } from "node:fs";
import { total } from "../src/cart.js";
const { prices, sum } = JSON.parse(readFileSync(new URL("prices.json", import.meta.url), "utf8"));
test("sums up prices", () => {
  assert.equal(total(prices), sum);
});
`,
    "test/prices.json": '{ "prices": [1, 2], "sum": 3 }\n',
  },
  fixed: fixedScript,
};

/** The target test reads what is right from a file. */
export const TEST_WITH_DATA = {
  "test/cart.test.js": NODE.files["test/total.test.js"]!.replaceAll("total", "add")
    .replace("prices.json", "rows.json")
    .replace("sums up prices", "adds two numbers")
    .replace("add(prices)", "add(...prices)"),
  "test/rows.json": '{ "prices": [2, 1], "sum": 3 }\n',
};

const EXPECTS = (head: string, ending: string): Record<string, string> => ({
  [`test/cart.${ending}`]: `${head}import { add } from "../src/cart.js";
test("adds two numbers", () => {
  expect(add(2, 1)).toBe(3);
});
`,
  [`test/total.${ending}`]: `${head}import { total } from "../src/cart.js";
test("sums up prices", () => {
  expect(total([1, 2])).toBe(3);
});
`,
});

export const VITEST: Stack = {
  name: "Vitest",
  held: HELD_NODE,
  check: "npm test",
  test: "adds two numbers",
  modules: "vitest@3",
  files: {
    ".gitignore": IGNORED,
    "package.json": packageJson("vitest run"),
    "src/cart.js": SCRIPT,
    ...EXPECTS('import { expect, test } from "vitest";\n', "test.js"),
  },
  fixed: fixedScript,
};

const COMMON = `exports.add = (a, b) => a - b;
exports.total = (prices) => prices.reduce((sum, price) => sum + price, 0);
`;
const required = (text: string): string =>
  text.replace(/import \{ (\w+) \} from "(.*)";/, 'const { $1 } = require("$2");');

export const JEST: Stack = {
  name: "Jest",
  held: HELD_NODE,
  check: "npm test",
  test: "adds two numbers",
  modules: "jest@30",
  files: {
    ".gitignore": IGNORED,
    "package.json": packageJson("jest", { type: "commonjs" }),
    "src/cart.js": COMMON,
    ...Object.fromEntries(Object.entries(EXPECTS("", "test.js")).map(([path, text]) => [path, required(text)])),
  },
  fixed: { "src/cart.js": COMMON.replace("a - b", "a + b") },
};

export const MOCHA: Stack = {
  name: "Mocha",
  held: HELD_NODE,
  check: "npm test",
  test: "adds two numbers",
  modules: "mocha@11",
  files: {
    ".gitignore": IGNORED,
    "package.json": packageJson("mocha", { type: "commonjs" }),
    "src/cart.js": COMMON,
    "test/cart.js": `const assert = require("node:assert/strict");
const { add } = require("../src/cart.js");
it("adds two numbers", () => {
  assert.equal(add(2, 1), 3);
});
`,
    "test/total.js": `const assert = require("node:assert/strict");
const { total } = require("../src/cart.js");
it("sums up prices", () => {
  assert.equal(total([1, 2]), 3);
});
`,
  },
  fixed: { "src/cart.js": COMMON.replace("a - b", "a + b") },
};

const PYTHON = "def add(a, b):\n    return a - b\n\n\ndef total(prices):\n    return sum(prices)\n";

export const PYTEST: Stack = {
  name: "pytest",
  held: HELD_PYTHON,
  check: "pytest -q",
  test: "test_adds_two_numbers",
  needs: ["pytest"],
  files: {
    ".gitignore": IGNORED,
    "pyproject.toml": '[project]\nname = "cart"\nversion = "1.0"\n\n[tool.pytest.ini_options]\npythonpath = ["."]\n',
    "cart.py": PYTHON,
    "tests/test_cart.py": "from cart import add\n\n\ndef test_adds_two_numbers():\n    assert add(2, 1) == 3\n",
    "tests/test_total.py": "from cart import total\n\n\ndef test_sums_up_prices():\n    assert total([1, 2]) == 3\n",
  },
  fixed: { "cart.py": PYTHON.replace("a - b", "a + b") },
};

export const UNITTEST: Stack = {
  name: "unittest",
  held: HELD_PYTHON,
  check: "python3 -m unittest",
  test: "test_adds_two_numbers",
  needs: ["python3"],
  files: {
    ".gitignore": IGNORED,
    "cart.py": PYTHON,
    "test_cart.py": `import unittest
from cart import add, total


class CartTest(unittest.TestCase):
    def test_adds_two_numbers(self):
        self.assertEqual(add(2, 1), 3)

    def test_sums_up_prices(self):
        self.assertEqual(total([1, 2]), 3)
`,
  },
  fixed: { "cart.py": PYTHON.replace("a - b", "a + b") },
};

const GO_SOURCE = `package cart

func Add(a, b int) int { return a - b }

func Total(prices []int) int {
	sum := 0
	for _, price := range prices {
		sum += price
	}
	return sum
}
`;

export const GO: Stack = {
  name: "Go",
  held: HELD_GO,
  check: "go test ./...",
  test: "TestAddsTwoNumbers",
  needs: ["go"],
  files: {
    "go.mod": "module example.com/cart\n\ngo 1.18\n",
    "cart.go": GO_SOURCE,
    "cart_test.go": `package cart

import "testing"

func TestAddsTwoNumbers(t *testing.T) {
	if Add(2, 1) != 3 {
		t.Fatal("wrong sum")
	}
}
`,
    "total_test.go": `package cart

import "testing"

func TestSumsUpPrices(t *testing.T) {
	if Total([]int{1, 2}) != 3 {
		t.Fatal("wrong total")
	}
}
`,
  },
  fixed: { "cart.go": GO_SOURCE.replace("a - b", "a + b") },
};

const RUST = `pub fn add(a: i32, b: i32) -> i32 {
    a - b
}

pub fn total(prices: &[i32]) -> i32 {
    prices.iter().sum()
}
`;
const RUST_TESTS = `
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_up_prices() {
        assert_eq!(total(&[1, 2]), 3);
    }
}
`;

export const CARGO: Stack = {
  name: "Cargo",
  held: HELD_CARGO,
  check: "cargo test -q",
  test: "adds_two_numbers",
  needs: ["cargo"],
  files: {
    ".gitignore": IGNORED,
    "Cargo.toml": '[package]\nname = "cart"\nversion = "0.1.0"\nedition = "2021"\n',
    "Cargo.lock": 'version = 3\n\n[[package]]\nname = "cart"\nversion = "0.1.0"\n',
    "src/lib.rs": RUST + RUST_TESTS,
    "tests/cart.rs": "#[test]\nfn adds_two_numbers() {\n    assert_eq!(cart::add(2, 1), 3);\n}\n",
  },
  fixed: { "src/lib.rs": (RUST + RUST_TESTS).replace("a - b", "a + b") },
};

/** The target test stands in the file that it tests. */
export const INLINE_TARGET = {
  "tests/cart.rs": null,
  "src/lib.rs": CARGO.files["src/lib.rs"]!.replace(
    "    #[test]\n",
    "    #[test]\n    fn adds_two_numbers() {\n        assert_eq!(add(2, 1), 3);\n    }\n\n    #[test]\n",
  ),
};

export const MAKE: Stack = {
  ...NODE,
  name: "make",
  check: "make test",
  needs: ["make"],
  files: { ...NODE.files, Makefile: ".PHONY: test\ntest:\n\tnode --test\n" },
};
