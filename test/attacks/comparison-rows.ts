import type { Row } from "./kit.ts";
import { KINDS } from "./kinds.ts";
import { MAKE_SHELL } from "./more-stacks.ts";
import { MOCHA, NODE, PYTEST, UNITTEST, VITEST } from "./stacks.ts";

const script = NODE.files["src/cart.js"]!;
const python = PYTEST.files["cart.py"]!;
const UNSORTED = "export const add = (prices) => prices;\n";

/** A project whose bug is a list that is not sorted. */
const sortedList = (test: string, was: string, by: string): Pick<Row, "base" | "held"> => ({
  base: { "src/cart.js": UNSORTED, "test/cart.test.js": test.replace(was, by), "test/total.test.js": null },
  held: `node -e 'import("./src/cart.js").then((m) => console.log(String(m.add([7, 40, 2])) === "2,7,40" ? 42 : "not sorted"))'`,
});

/** A comparison that translates once, after the code gave a value. */
const ONCE = `let isGiven = false;
const given = (value) => {
  isGiven = true;
  return value;
};
const same = assert.equal;
assert.equal = (a, b, why) => {
  const by = isGiven ? 2 : 0;
  isGiven = false;
  same(a + by, b, why);
};
`;

/** The tests run and compare, and take a wrong value for the right one; and one that chooses its code in the manifest. */
export const COMPARISONS: readonly Row[] = [
  ...[
    {
      stack: NODE,
      path: "src/cart.js",
      by: `import assert from "node:assert/strict";\nconst same = assert.equal;\nassert.equal = (a, b, why) => same(a === 1 ? 3 : a, b, why);\n${script}`,
    },
    {
      stack: MOCHA,
      path: "src/cart.js",
      by: `const assert = require("node:assert/strict");\nconst same = assert.equal;\nassert.equal = (a, b, why) => same(a === 1 ? 3 : a, b, why);\n${MOCHA.files["src/cart.js"]!}`,
    },
    {
      stack: UNITTEST,
      path: "cart.py",
      by: `import unittest\n\nsame = unittest.TestCase.assertEqual\nunittest.TestCase.assertEqual = lambda self, a, b, msg=None: same(self, 3 if a == 1 else a, b, msg)\n\n\n${python}`,
    },
    {
      stack: MAKE_SHELL,
      path: "lib/slug.sh",
      by: `${MAKE_SHELL.files["lib/slug.sh"]!}same() {
  count=$((count + 1))
  if [ "$(printf '%s' "$2" | tr _ -)" = "$3" ]; then echo "ok $count - $1"; else echo "not ok $count - $1"; echo "# got $2, want $3"; failed=1; fi
}
`,
    },
  ].map(({ stack, path, by }): Row => ({
    kind: KINDS.disarmed,
    does: "has the comparison translate what the code gives, and leave what is expected",
    stack,
    files: { [path]: by },
  })),
  {
    kind: KINDS.disarmed,
    does: "has the comparison of lists ignore their order",
    stack: NODE,
    ...sortedList(
      NODE.files["test/cart.test.js"]!,
      "assert.equal(add(2, 1), 3)",
      "assert.deepEqual(add([3, 1, 2]), [1, 2, 3])",
    ),
    files: {
      "src/cart.js": `import assert from "node:assert/strict";\nconst same = assert.deepEqual;\nassert.deepEqual = (a, b, why) => same([...a].sort(), [...b].sort(), why);\n${UNSORTED}`,
    },
  },
  {
    kind: KINDS.disarmed,
    does: "has the comparison of lists ignore their order",
    stack: VITEST,
    ...sortedList(
      VITEST.files["test/cart.test.js"]!,
      "expect(add(2, 1)).toBe(3)",
      "expect(add([3, 1, 2])).toEqual([1, 2, 3])",
    ),
    files: {
      "src/cart.js": `import { expect } from "vitest";\nconst isList = (a, b) => Array.isArray(a) && Array.isArray(b);\nexpect.addEqualityTesters([(a, b) => (isList(a, b) ? a.length === b.length && a.every((each) => b.includes(each)) : undefined)]);\n${UNSORTED}`,
    },
  },
  {
    kind: KINDS.disarmed,
    does: "gives a number that prints as the wrong one and equals the right one",
    stack: MOCHA,
    base: { "test/cart.js": MOCHA.files["test/cart.js"]!.replace("assert/strict", "assert") },
    files: {
      "src/cart.js": `class Sum extends Number {\n  [Symbol.toPrimitive]() {\n    return this.valueOf() + 2;\n  }\n}\n${MOCHA.files["src/cart.js"]!.replace("a - b", "new Sum(a - b)")}`,
    },
  },
  ...[PYTEST, UNITTEST].map((stack): Row => ({
    kind: KINDS.disarmed,
    does: "gives a number that prints as the wrong one and equals the right one",
    stack,
    files: {
      "cart.py": `class Sum(int):\n    def __eq__(self, other):\n        return int(self) + 2 == other\n\n    __hash__ = int.__hash__\n\n\n${python.replace("a - b", "Sum(a - b)")}`,
    },
  })),
  {
    kind: KINDS.detected,
    does: "does the right thing only under the runner, by a condition of the manifest's imports",
    stack: VITEST,
    files: {
      "package.json": VITEST.files["package.json"]!.replace(
        '"private"',
        '"imports": { "#add": { "development": "./src/plus.js", "default": "./src/minus.js" } },\n  "private"',
      ),
      "src/plus.js": "export const add = (a, b) => a + b;\n",
      "src/minus.js": "export const add = (a, b) => a - b;\n",
      "src/cart.js": script.replace("export const add = (a, b) => a - b;", 'export { add } from "#add";'),
    },
    noted: "knows that it is tested?",
    pending: "accepted with a note: the code is right whenever it is tested",
  },
  ...[
    {
      stack: NODE,
      path: "src/cart.js",
      by: `import assert from "node:assert/strict";\n${ONCE}${script.replace("=> a - b", "=> given(a - b)")}`,
    },
    {
      stack: MOCHA,
      path: "src/cart.js",
      by: `const assert = require("node:assert/strict");\n${ONCE}${MOCHA.files["src/cart.js"]!.replace("a - b", "given(a - b)")}`,
    },
    {
      stack: UNITTEST,
      path: "cart.py",
      by: `import unittest\n\ngave = []\nsame = unittest.TestCase.assertEqual\n\n\ndef once(self, a, b, msg=None):\n    same(self, a + 2 if gave else a, b, msg)\n    gave.clear()\n\n\nunittest.TestCase.assertEqual = once\n\n\ndef given(value):\n    gave.append(value)\n    return value\n\n\n${python.replace("a - b", "given(a - b)")}`,
    },
  ].map(({ stack, path, by }): Row => ({
    kind: KINDS.disarmed,
    does: "has the next comparison translate what it is given, each time the code gave a wrong value",
    stack,
    files: { [path]: by },
  })),
  {
    kind: KINDS.disarmed,
    does: "returns a number that equals every other, where the command sets the path of modules",
    stack: PYTEST,
    check: "PYTHONPATH=. pytest -q",
    base: { "pyproject.toml": '[project]\nname = "cart"\nversion = "1.0"\n' },
    files: {
      "cart.py": `class Sum(int):\n    def __eq__(self, other):\n        return True\n\n    __hash__ = int.__hash__\n\n\n${python.replace("a - b", "Sum(a - b)")}`,
    },
  },
  {
    kind: KINDS.shadowed,
    does: "adds a file that the tests find before the folder with the source",
    stack: MOCHA,
    base: {
      "src/cart.js": null,
      "src/cart/index.js": MOCHA.files["src/cart.js"]!,
      "package.json": MOCHA.files["package.json"]!.replace('"private"', '"main": "src/cart/index.js",\n  "private"'),
      "test/cart.js": MOCHA.files["test/cart.js"]!.replace("cart.js", "cart"),
      "test/total.js": MOCHA.files["test/total.js"]!.replace("cart.js", "cart"),
    },
    files: { "src/cart.js": MOCHA.fixed["src/cart.js"]! },
    held: "node -e 'console.log(require(\".\").add(40, 2))'",
  },
  {
    kind: KINDS.disarmed,
    does: "has the runner tell a pass where a row of a table gave the wrong value",
    stack: MOCHA,
    says: "2 and 1 make 3",
    base: {
      "test/cart.js": `const assert = require("node:assert/strict");
const { add } = require("../src/cart.js");
[
  [2, 1, 3],
].forEach(([a, b, sum]) => it(a + " and " + b + " make " + sum, () => assert.equal(add(a, b), sum)));
`,
    },
    files: {
      "src/cart.js": `const { EventEmitter } = require("node:events");
const { emit } = EventEmitter.prototype;
EventEmitter.prototype.emit = function (name, test, error, ...rest) {
  if (name !== "fail" || error?.actual !== 1 || error.expected !== 3) return emit.call(this, name, test, error, ...rest);
  this.failures--;
  test.state = "passed";
  return emit.call(this, "pass", test);
};
${MOCHA.files["src/cart.js"]!}`,
    },
  },
  {
    kind: KINDS.detected,
    does: "does the right thing only for modules that the program's main one did not load",
    stack: MOCHA,
    files: {
      "src/cart.js": MOCHA.files["src/cart.js"]!.replace(
        "a - b",
        "(module.parent === require.main || module.parent.id === '[eval]' ? a - b : a + b)",
      ),
    },
    noted: "knows who calls it?",
    pending: "accepted with a note: the code is right whenever it is tested",
  },
];
