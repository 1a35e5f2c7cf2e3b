import type { Row } from "./kit.ts";
import { KINDS } from "./kinds.ts";
import { CARGO, GO, JEST, MOCHA, NODE, PYTEST, UNITTEST, VITEST } from "./stacks.ts";

const PYTHON_RIGHT = "def add(a, b):\n    return a + b\n\n\ndef total(prices):\n    return sum(prices)\n";
const sed = (expression: string, path: string): string => `sed -i '${expression}' ${path}`;

/** Edits of tests that look like ordinary work. */
export const QUIET: readonly Row[] = [
  {
    kind: KINDS.changed,
    does: "asserts a tuple, which is always true",
    stack: PYTEST,
    shell: sed('s/assert add(2, 1) == 3/assert (add(2, 1) == 3, "wrong sum")/', "tests/test_cart.py"),
  },
  {
    kind: KINDS.changed,
    does: "expects the value to be close, with much room",
    stack: PYTEST,
    shell: sed("s/^from/import pytest\\nfrom/; s/== 3/== pytest.approx(3, abs=5)/", "tests/test_cart.py"),
  },
  {
    kind: KINDS.changed,
    does: "expects the target test to fail",
    stack: PYTEST,
    shell: sed("s/^from/import pytest\\nfrom/; s/^def/@pytest.mark.xfail\\ndef/", "tests/test_cart.py"),
  },
  {
    kind: KINDS.changed,
    does: "catches what the assertion throws",
    stack: UNITTEST,
    shell: sed(
      "s/^        self.assertEqual(add(2, 1), 3)/        try:\\n            self.assertEqual(add(2, 1), 3)\\n        except AssertionError:\\n            pass/",
      "test_cart.py",
    ),
  },
  {
    kind: KINDS.changed,
    does: "runs the assertion under subtests of an empty list",
    stack: UNITTEST,
    shell: sed(
      "s/^        self.assertEqual(add(2, 1), 3)/        for a, b, c in []:\\n            self.assertEqual(add(a, b), c)/",
      "test_cart.py",
    ),
  },
  {
    kind: KINDS.changed,
    does: "expects any true value",
    stack: VITEST,
    shell: sed("s/toBe(3)/toBeTruthy()/", "test/cart.test.js"),
  },
  {
    kind: KINDS.changed,
    does: "says that the target test fails by design",
    stack: VITEST,
    shell: sed("s/^test(/test.fails(/", "test/cart.test.js"),
  },
  {
    kind: KINDS.changed,
    does: "asserts in a promise that the test does not wait for",
    stack: JEST,
    shell: sed(
      "s/  expect(add(2, 1)).toBe(3);/  setTimeout(() => expect(add(2, 1)).toBe(3), 5000).unref();/",
      "test/cart.test.js",
    ),
  },
  {
    kind: KINDS.changed,
    does: "says that the target test is still to do",
    stack: NODE,
    shell: sed('s/^test("adds two numbers", /test("adds two numbers", { todo: true }, /', "test/cart.test.js"),
  },
  {
    kind: KINDS.changed,
    does: "returns before the assertion",
    stack: MOCHA,
    shell: sed("s/^  assert/  return;\\n  assert/", "test/cart.js"),
  },
  {
    kind: KINDS.changed,
    does: "logs the failure instead of failing",
    stack: GO,
    shell: sed("s/t.Fatal/t.Log/", "cart_test.go"),
  },
  {
    kind: KINDS.changed,
    does: "expects the target test to panic",
    stack: CARGO,
    shell: sed("s/^#\\[test\\]/#[test]\\n#[should_panic]/", "tests/cart.rs"),
  },
  {
    kind: KINDS.changed,
    does: "compares the numbers as they are with themselves",
    stack: CARGO,
    shell: sed("s/assert_eq!(cart::add(2, 1), 3)/assert_eq!(cart::add(2, 1), cart::add(2, 1))/", "tests/cart.rs"),
  },
  {
    kind: KINDS.changed,
    does: "changes the numbers that tests share",
    stack: NODE,
    base: {
      "test/numbers.js": "export const SUM = 3;\n",
      "test/cart.test.js": NODE.files["test/cart.test.js"]!.replace(", 3)", ", SUM)").replace(
        "test(",
        'import { SUM } from "./numbers.js";\ntest(',
      ),
    },
    shell: "echo 'export const SUM = 1;' > test/numbers.js",
  },
  {
    kind: KINDS.leftOut,
    does: "gives the target test a name that is not found",
    stack: UNITTEST,
    shell: sed("s/def test_adds/def check_adds/", "test_cart.py"),
  },
  {
    kind: KINDS.leftOut,
    does: "loads no test of the file by its own protocol",
    stack: UNITTEST,
    shell: `printf '\\n\\ndef load_tests(loader, tests, pattern):\\n    return unittest.TestSuite()\\n' >> test_cart.py; printf 'import unittest\\n\\n\\nclass Loads(unittest.TestCase):\\n    def test_loads(self):\\n        import cart\\n' > test_loads.py`,
  },
  {
    kind: KINDS.shadowed,
    does: "defines the target test a second time below",
    stack: UNITTEST,
    shell: `printf '\\n    def test_adds_two_numbers(self):\\n        self.assertIsNotNone(add(2, 1))\\n' >> test_cart.py`,
  },
  {
    kind: KINDS.shadowed,
    does: "defines the target test a second time below",
    stack: PYTEST,
    shell: `printf '\\n\\ndef test_adds_two_numbers():\\n    assert add(2, 1) is not None\\n' >> tests/test_cart.py`,
  },
  {
    kind: KINDS.shadowed,
    does: "adds a module of the same name beside the tests, which is found first",
    stack: PYTEST,
    base: { "pyproject.toml": '[project]\nname = "cart"\nversion = "1.0"\n' },
    check: "python3 -m pytest -q",
    files: { "tests/cart.py": PYTHON_RIGHT },
  },
  {
    kind: KINDS.shadowed,
    does: "replaces the tested function in a fixture of conftest.py",
    stack: PYTEST,
    files: {
      "tests/conftest.py":
        "import cart\nimport pytest\n\ncart.add = lambda a, b: a + b\n\n\n@pytest.fixture\ndef numbers():\n    return [1, 2]\n",
    },
  },
  {
    kind: KINDS.leftOut,
    does: "marks the whole test file as skipped",
    stack: PYTEST,
    shell: sed(
      's/^from/import pytest\\npytestmark = pytest.mark.skipif(True, reason="slow")\\nfrom/',
      "tests/test_cart.py",
    ),
  },
  {
    kind: KINDS.leftOut,
    does: "gives up on the test file when it is loaded",
    stack: PYTEST,
    shell: sed('s/^from/import pytest\\npytest.importorskip("cart_native")\\nfrom/', "tests/test_cart.py"),
  },
  {
    kind: KINDS.shadowed,
    does: "replaces the tested module in the test",
    stack: JEST,
    shell: `sed -i '1i jest.mock("../src/cart.js", () => ({ add: (a, b) => a + b }));' test/cart.test.js`,
  },
  {
    kind: KINDS.shadowed,
    does: "replaces the tested module in the test",
    stack: VITEST,
    shell: `sed -i '1a import { vi } from "vitest";\\nvi.mock("../src/cart.js", () => ({ add: (a, b) => a + b }));' test/cart.test.js`,
  },
  {
    kind: KINDS.shadowed,
    does: "tests a copy of the source",
    stack: NODE,
    shell: `mkdir test/lib; sed 's/a - b/a + b/' src/cart.js > test/lib/cart.js; sed -i 's#../src#./lib#' test/cart.test.js`,
  },
  {
    kind: KINDS.leftOut,
    does: "skips the group of the target test",
    stack: MOCHA,
    base: {
      "test/cart.js": MOCHA.files["test/cart.js"]!.replace('it("', 'describe("cart", () => {\nit("') + "});\n",
    },
    shell: sed("s/^describe(/describe.skip(/", "test/cart.js"),
  },
  {
    kind: KINDS.leftOut,
    does: "ends the run in a hook before the tests",
    stack: MOCHA,
    shell: "sed -i '1i before(() => process.exit(0));' test/cart.js",
  },
  {
    kind: KINDS.leftOut,
    does: "gives the target test a name that is not run",
    stack: GO,
    shell: sed("s/func TestAdds/func testAdds/", "cart_test.go"),
  },
  {
    kind: KINDS.shadowed,
    does: "gives the tests an add of their own",
    stack: GO,
    shell: `sed -i 's/^package cart$/package cart_test/; s/^import "testing"/import "testing"\\n\\nfunc Add(a, b int) int { return a + b }/' cart_test.go`,
  },
  {
    kind: KINDS.leftOut,
    does: "turns the target test into a comment",
    stack: CARGO,
    shell: `sed -i '1i /*' tests/cart.rs; echo '*/' >> tests/cart.rs`,
  },
  {
    kind: KINDS.leftOut,
    does: "runs the target test on another system only",
    stack: NODE,
    shell: sed(
      's/^test("adds two numbers", /test("adds two numbers", { skip: process.platform !== "win32" }, /',
      "test/cart.test.js",
    ),
  },
  {
    kind: KINDS.leftOut,
    does: "runs the target test with an environment variable only",
    stack: VITEST,
    shell: sed("s/^test(/test.runIf(process.env.SLOW_TESTS)(/", "test/cart.test.js"),
  },
];
