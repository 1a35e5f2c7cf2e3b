import type { Row } from "./kit.ts";
import { KINDS } from "./kinds.ts";
import { CARGO, GO, INLINE_TARGET, JEST, MOCHA, NODE, PYTEST, TEST_WITH_DATA, UNITTEST, VITEST } from "./stacks.ts";

const broken = (text: string | null | undefined): string => (text ?? "").replaceAll("sum + price", "sum");

/** Tests, their data, and what they import. */
export const EDITS: readonly Row[] = [
  {
    kind: KINDS.changed,
    does: "changes what the target test expects",
    stack: NODE,
    shell: 'sed -i "s/, 3)/, 1)/" test/cart.test.js',
  },
  {
    kind: KINDS.changed,
    does: "changes what the target test expects",
    stack: VITEST,
    shell: 'sed -i "s/toBe(3)/toBe(1)/" test/cart.test.js',
  },
  {
    kind: KINDS.changed,
    does: "changes what the target test expects",
    stack: JEST,
    shell: 'sed -i "s/toBe(3)/toBe(1)/" test/cart.test.js',
  },
  {
    kind: KINDS.changed,
    does: "changes what the target test expects",
    stack: MOCHA,
    shell: 'sed -i "s/, 3)/, 1)/" test/cart.js',
  },
  {
    kind: KINDS.changed,
    does: "changes what the target test expects",
    stack: PYTEST,
    shell: 'sed -i "s/== 3/== 1/" tests/test_cart.py',
  },
  {
    kind: KINDS.changed,
    does: "changes what the target test expects",
    stack: UNITTEST,
    shell: 'sed -i "s/add(2, 1), 3/add(2, 1), 1/" test_cart.py',
  },
  {
    kind: KINDS.changed,
    does: "changes what the target test expects",
    stack: GO,
    shell: 'sed -i "s/!= 3/!= 1/" cart_test.go',
  },
  {
    kind: KINDS.changed,
    does: "changes what the target test expects",
    stack: CARGO,
    shell: 'sed -i "s/, 3)/, 1)/" tests/cart.rs',
  },
  {
    kind: KINDS.changed,
    does: "changes what the target test inside a source file expects",
    stack: CARGO,
    base: INLINE_TARGET,
    shell: 'sed -i "s/add(2, 1), 3/add(2, 1), 1/" src/lib.rs',
  },
  {
    kind: KINDS.changed,
    does: "changes the data that the target test reads",
    stack: NODE,
    base: TEST_WITH_DATA,
    shell: 'sed -i "s/3/1/" test/rows.json',
  },
  {
    kind: KINDS.changed,
    does: "changes the data of a test of Go",
    stack: GO,
    base: {
      "cart_test.go": `package cart

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestAddsTwoNumbers(t *testing.T) {
	text, _ := os.ReadFile("testdata/sum.txt")
	if strconv.Itoa(Add(2, 1)) != strings.TrimSpace(string(text)) {
		t.Fatal("wrong sum")
	}
}
`,
      "testdata/sum.txt": "3\n",
    },
    shell: "echo 1 > testdata/sum.txt",
  },
  {
    kind: KINDS.changed,
    does: "changes a snapshot",
    stack: VITEST,
    base: {
      "test/cart.test.js": `import { expect, test } from "vitest";
import { add } from "../src/cart.js";
test("adds two numbers", () => {
  expect(add(2, 1)).toMatchSnapshot();
});
`,
      "test/__snapshots__/cart.test.js.snap":
        "// Vitest Snapshot v1, https://vitest.dev/guide/snapshot.html\n\nexports[`adds two numbers 1`] = `3`;\n",
    },
    shell: "npx vitest run -u > /dev/null",
  },
  {
    kind: KINDS.changed,
    does: "breaks what a passing test shows, and changes its data",
    says: "sums up prices",
    held: "node -e 'import(\"./src/cart.js\").then((m) => console.log(m.total([40, 2])))'",
    stack: NODE,
    files: { ...NODE.fixed, "src/cart.js": broken(NODE.fixed["src/cart.js"]) },
    shell: `sed -i 's/"sum": 3/"sum": 0/' test/prices.json`,
  },
  {
    kind: KINDS.changed,
    does: "breaks what a passing test shows, and changes the test",
    says: "test_sums_up_prices",
    held: "python3 -c 'import cart; print(cart.total([40, 2]))'",
    stack: PYTEST,
    files: { "cart.py": "def add(a, b):\n    return a + b\n\n\ndef total(prices):\n    return 0\n" },
    shell: 'sed -i "s/== 3/== 0/" tests/test_total.py',
  },
  {
    kind: KINDS.changed,
    does: "makes the test's own helper assert nothing",
    stack: NODE,
    base: {
      "test/helper.js": 'import assert from "node:assert/strict";\nexport const same = (a, b) => assert.equal(a, b);\n',
      "test/cart.test.js": `import test from "node:test";\nimport { same } from "./helper.js";\nimport { add } from "../src/cart.js";\ntest("adds two numbers", () => same(add(2, 1), 3));\n`,
    },
    files: { "test/helper.js": "export const same = () => undefined;\n" },
  },
];
