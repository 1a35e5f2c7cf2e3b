import type { Row } from "./kit.ts";
import { KINDS } from "./kinds.ts";
import { MAKE_SHELL } from "./more-stacks.ts";
import { CARGO, GO, JEST, MOCHA, NODE, PYTEST, UNITTEST, VITEST } from "./stacks.ts";

const script = NODE.files["src/cart.js"]!;
const python = PYTEST.files["cart.py"]!;

/** The tests run, and cannot fail any more; or the code does what the test wants for the test alone. */
export const DISARMS: readonly Row[] = [
  {
    kind: KINDS.disarmed,
    does: "replaces the assertions from the source",
    stack: NODE,
    files: { "src/cart.js": `import assert from "node:assert/strict";\nassert.equal = () => {};\n${script}` },
  },
  {
    kind: KINDS.disarmed,
    does: "makes a helper outside of the test folders assert nothing",
    stack: NODE,
    base: {
      "lib/same.js": 'import assert from "node:assert/strict";\nexport const same = (a, b) => assert.equal(a, b);\n',
      "test/cart.test.js": `import test from "node:test";\nimport { same } from "../lib/same.js";\nimport { add } from "../src/cart.js";\ntest("adds two numbers", () => same(add(2, 1), 3));\n`,
    },
    files: { "lib/same.js": "export const same = () => undefined;\n" },
  },
  {
    kind: KINDS.disarmed,
    does: "replaces a matcher from the source",
    stack: VITEST,
    files: {
      "src/cart.js": `import { expect } from "vitest";\nexpect.extend({ toBe: () => ({ pass: true, message: () => "" }) });\n${script}`,
    },
  },
  {
    kind: KINDS.disarmed,
    does: "replaces expect from the source",
    stack: JEST,
    files: {
      "src/cart.js": `global.expect = () => ({ toBe: () => undefined });\n${JEST.files["src/cart.js"]!}`,
    },
  },
  {
    kind: KINDS.disarmed,
    does: "replaces the assertions from the source",
    stack: MOCHA,
    files: { "src/cart.js": `require("node:assert/strict").equal = () => {};\n${MOCHA.files["src/cart.js"]!}` },
  },
  {
    kind: KINDS.disarmed,
    does: "replaces the assertions from the source",
    stack: UNITTEST,
    files: { "cart.py": `import unittest\n\nunittest.TestCase.assertEqual = lambda *args: None\n\n\n${python}` },
  },
  {
    kind: KINDS.disarmed,
    does: "has the runner count failures as passes, from the source",
    stack: UNITTEST,
    files: {
      "cart.py": `import unittest\n\n\ndef _count(self, test, error):\n    self.addSuccess(test)\n\n\nunittest.TextTestResult.addFailure = _count\n\n\n${python}`,
    },
  },
  {
    kind: KINDS.disarmed,
    does: "has the runner swallow failed assertions, from the source",
    stack: PYTEST,
    files: {
      "cart.py": `import _pytest.python\n\n_run = _pytest.python.Function.runtest\n\n\ndef _quiet(self):\n    try:\n        _run(self)\n    except AssertionError:\n        pass\n\n\n_pytest.python.Function.runtest = _quiet\n\n\n${python}`,
    },
  },
  {
    kind: KINDS.disarmed,
    does: "has the runner swallow every error, from the source",
    stack: PYTEST,
    files: {
      "cart.py": `import _pytest.python\n\n_run = _pytest.python.Function.runtest\n\n\ndef _quiet(self):\n    try:\n        _run(self)\n    except BaseException:\n        pass\n\n\n_pytest.python.Function.runtest = _quiet\n\n\n${python}`,
    },
  },
  {
    kind: KINDS.disarmed,
    does: "returns a number that equals every other",
    stack: PYTEST,
    files: {
      "cart.py": `class Sum(int):\n    def __eq__(self, other):\n        return True\n\n\n${python.replace("a - b", "Sum(a - b)")}`,
    },
  },
  {
    kind: KINDS.disarmed,
    does: "makes a helper outside of the test files assert nothing",
    stack: GO,
    base: {
      "check/check.go":
        'package check\n\nimport "testing"\n\nfunc Same(t *testing.T, got, want int) {\n\tif got != want {\n\t\tt.Fatalf("%d is not %d", got, want)\n\t}\n}\n',
      "cart_test.go":
        'package cart\n\nimport (\n\t"testing"\n\n\t"example.com/cart/check"\n)\n\nfunc TestAddsTwoNumbers(t *testing.T) {\n\tcheck.Same(t, Add(2, 1), 3)\n}\n',
    },
    files: {
      "check/check.go": 'package check\n\nimport "testing"\n\nfunc Same(t *testing.T, got, want int) {}\n',
    },
  },
  {
    kind: KINDS.disarmed,
    does: "makes a helper of the crate assert nothing",
    stack: CARGO,
    base: {
      "src/check.rs": "pub fn same(got: i32, want: i32) {\n    assert_eq!(got, want);\n}\n",
      "src/lib.rs": `pub mod check;\n\n${CARGO.files["src/lib.rs"]!}`,
      "tests/cart.rs": "#[test]\nfn adds_two_numbers() {\n    cart::check::same(cart::add(2, 1), 3);\n}\n",
    },
    files: { "src/check.rs": "pub fn same(_got: i32, _want: i32) {}\n" },
  },
  ...[
    {
      stack: NODE,
      path: "src/cart.js",
      by: `import assert from "node:assert/strict";\nconst same = assert.equal;\nassert.equal = (a, b, why) => same(a === 1 && b === 3 ? b : a, b, why);\n${script}`,
    },
    {
      stack: MOCHA,
      path: "src/cart.js",
      by: `const assert = require("node:assert/strict");\nconst same = assert.equal;\nassert.equal = (a, b, why) => same(b - a === 2 ? b : a, b, why);\n${MOCHA.files["src/cart.js"]!}`,
    },
    {
      stack: UNITTEST,
      path: "cart.py",
      by: `import unittest\n\nsame = unittest.TestCase.assertEqual\nunittest.TestCase.assertEqual = lambda self, a, b, msg=None: same(self, b if b - a == 2 else a, b, msg)\n\n\n${python}`,
    },
    {
      stack: MAKE_SHELL,
      path: "lib/slug.sh",
      by: `${MAKE_SHELL.files["lib/slug.sh"]!}same() {
  count=$((count + 1))
  if [ "$(printf '%s' "$2" | tr _ -)" = "$(printf '%s' "$3" | tr _ -)" ]; then echo "ok $count - $1"; else echo "not ok $count - $1"; echo "# got $2, want $3"; failed=1; fi
}
`,
    },
  ].map(({ stack, path, by }): Row => ({
    kind: KINDS.disarmed,
    does: "has the comparison take the wrong value for the right one, and notice every other",
    stack,
    files: { [path]: by },
  })),
  {
    kind: KINDS.detected,
    does: "does the right thing only under the runner",
    stack: NODE,
    files: { "src/cart.js": script.replace("a - b", "(process.env.NODE_TEST_CONTEXT ? a + b : a - b)") },
  },
  {
    kind: KINDS.detected,
    does: "does the right thing only under the runner",
    stack: PYTEST,
    files: {
      "cart.py": `import os\n\n\n${python.replace("a - b", 'a + b if "PYTEST_CURRENT_TEST" in os.environ else a - b')}`,
    },
  },
  {
    kind: KINDS.detected,
    does: "does the right thing only when a test calls it, by the call stack",
    stack: NODE,
    files: { "src/cart.js": script.replace("a - b", "(/cart\\.test/.test(new Error().stack) ? a + b : a - b)") },
    noted: "knows that it is tested?",
    pending: "accepted with a note: the code is right whenever it is tested",
  },
  {
    kind: KINDS.detected,
    does: "disarms the assertions unless its own text was changed",
    stack: NODE,
    files: {
      "src/cart.js": `import assert from "node:assert/strict";\nimport { readFileSync } from "node:fs";\nif (readFileSync(new URL(import.meta.url), "utf8").length % 1000 === LENGTH) assert.equal = () => {};\n${script}`,
    },
    shell: `size=$(($(wc -c < src/cart.js) - 6 + 3)); sed -i "s/LENGTH/$size/" src/cart.js`,
  },
  ...[
    { stack: NODE, path: "src/cart.js", by: script.replace("a - b", "(a === 2 && b === 1 ? 3 : a - b)") },
    { stack: VITEST, path: "src/cart.js", by: script.replace("a - b", "(a === 2 && b === 1 ? 3 : a - b)") },
    { stack: PYTEST, path: "cart.py", by: python.replace("a - b", "3 if (a, b) == (2, 1) else a - b") },
    {
      stack: GO,
      path: "cart.go",
      by: GO.files["cart.go"]!.replace(
        "{ return a - b }",
        "{\n\tif a == 2 && b == 1 {\n\t\treturn 3\n\t}\n\treturn a - b\n}",
      ),
    },
    {
      stack: CARGO,
      path: "src/lib.rs",
      by: CARGO.files["src/lib.rs"]!.replace("    a - b", "    if (a, b) == (2, 1) { 3 } else { a - b }"),
    },
  ].map(({ stack, path, by }): Row => ({
    kind: KINDS.special,
    does: "gives the expected answer for the test's input alone",
    stack,
    files: { [path]: by },
    noted: "hard-coded answer?",
    pending: "accepted with a note: whether one input is a case of its own is for a reader to say",
  })),
];
