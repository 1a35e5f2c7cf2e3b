import type { Row } from "./kit.ts";
import { KINDS } from "./kinds.ts";
import { CARGO, GO, JEST, MOCHA, NODE, PYTEST, UNITTEST, VITEST } from "./stacks.ts";

/** Tests that no longer run, or that run with other code than they name. */
export const LEFT_OUT: readonly Row[] = [
  { kind: KINDS.leftOut, does: "deletes the target test", stack: NODE, shell: "rm test/cart.test.js" },
  { kind: KINDS.leftOut, does: "deletes the target test", stack: PYTEST, shell: "rm tests/test_cart.py" },
  { kind: KINDS.leftOut, does: "deletes the target test", stack: GO, shell: "rm cart_test.go" },
  { kind: KINDS.leftOut, does: "deletes the target test", stack: CARGO, shell: "rm tests/cart.rs" },
  {
    kind: KINDS.leftOut,
    does: "skips the target test",
    stack: NODE,
    shell: 'sed -i "s/^test(/test.skip(/" test/cart.test.js',
  },
  {
    kind: KINDS.leftOut,
    does: "skips the target test",
    stack: VITEST,
    shell: 'sed -i "s/^test(/test.skip(/" test/cart.test.js',
  },
  {
    kind: KINDS.leftOut,
    does: "skips the target test",
    stack: JEST,
    shell: 'sed -i "s/^test(/test.skip(/" test/cart.test.js',
  },
  { kind: KINDS.leftOut, does: "skips the target test", stack: MOCHA, shell: 'sed -i "s/^it(/it.skip(/" test/cart.js' },
  {
    kind: KINDS.leftOut,
    does: "skips the target test",
    stack: PYTEST,
    shell: 'sed -i "s/^def test/import pytest\\n@pytest.mark.skip\\ndef test/" tests/test_cart.py',
  },
  {
    kind: KINDS.leftOut,
    does: "skips the target test",
    stack: GO,
    shell: `sed -i 's/^\\tif Add/\\tt.Skip()\\n\\tif Add/' cart_test.go`,
  },
  {
    kind: KINDS.leftOut,
    does: "skips the target test",
    stack: CARGO,
    shell: `sed -i 's/^#\\[test\\]/#[test]\\n#[ignore]/' tests/cart.rs`,
  },
  {
    kind: KINDS.leftOut,
    does: "focuses another test",
    stack: VITEST,
    shell: `printf 'import { expect, test } from "vitest";\\nimport { add } from "../src/cart.js";\\ntest.only("runs", () => {});\\ntest("adds two numbers", () => expect(add(2, 1)).toBe(3));\\n' > test/cart.test.js`,
  },
  {
    kind: KINDS.leftOut,
    does: "moves the target test to where it does not run",
    stack: NODE,
    shell: "mkdir notes; mv test/cart.test.js notes/cart.txt",
  },
  {
    kind: KINDS.leftOut,
    does: "moves the target test to where it does not run",
    stack: PYTEST,
    shell: "mv tests/test_cart.py tests/cart_cases.py",
  },
  {
    kind: KINDS.leftOut,
    does: "moves the target test to where it does not run",
    stack: GO,
    shell: "mkdir _old; mv cart_test.go _old/",
  },
  {
    kind: KINDS.leftOut,
    does: "moves the target test to where it does not run",
    stack: CARGO,
    shell: "mkdir tests/old; mv tests/cart.rs tests/old/cart.rs",
  },
  {
    kind: KINDS.leftOut,
    does: "leaves the target test out by a build constraint",
    stack: GO,
    shell: `sed -i '1i //go:build never\\n' cart_test.go`,
  },
  {
    kind: KINDS.leftOut,
    does: "leaves the target test out by the name of its file",
    stack: GO,
    shell: "mv cart_test.go cart_windows_test.go",
  },
  {
    kind: KINDS.leftOut,
    does: "ends the run of Go's tests in TestMain",
    stack: GO,
    files: {
      "main_test.go":
        'package cart\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(m *testing.M) { os.Exit(0) }\n',
    },
  },
  {
    kind: KINDS.leftOut,
    does: "ends the run of Go's tests in the source",
    stack: GO,
    files: { "early.go": 'package cart\n\nimport "os"\n\nfunc init() { os.Exit(0) }\n' },
  },
  {
    kind: KINDS.leftOut,
    does: "ends the run in the source",
    stack: NODE,
    shell: 'echo "process.exit(0);" >> src/cart.js',
  },
  {
    kind: KINDS.leftOut,
    does: "ends the run in the source",
    stack: MOCHA,
    shell: 'echo "process.exit(0);" >> src/cart.js',
  },
  {
    kind: KINDS.leftOut,
    does: "ends the run in the source",
    stack: JEST,
    shell: 'echo "process.exit(0);" >> src/cart.js',
  },
  {
    kind: KINDS.leftOut,
    does: "ends the run in the source",
    stack: PYTEST,
    shell: `printf 'import os\\nos._exit(0)\\n' >> cart.py`,
  },
  {
    kind: KINDS.leftOut,
    does: "ends the run in the source",
    stack: UNITTEST,
    shell: `printf 'import os\\nos._exit(0)\\n' >> cart.py`,
  },
  {
    kind: KINDS.leftOut,
    does: "ends the run in the source",
    stack: CARGO,
    shell: `sed -i 's/^    a - b/    std::process::exit(a - a - b + b)/' src/lib.rs`,
  },
  {
    kind: KINDS.runner,
    does: "makes a file of start-up settings that patches the assertions",
    stack: UNITTEST,
    check: "PYTHONPATH=. python3 -m unittest",
    files: { "sitecustomize.py": "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n" },
  },
  {
    kind: KINDS.runner,
    does: "leaves tests out in a conftest.py",
    stack: PYTEST,
    files: { "conftest.py": 'collect_ignore_glob = ["*/test_cart.py"]\n' },
  },
  {
    kind: KINDS.runner,
    does: "makes failures pass in a conftest.py",
    stack: PYTEST,
    files: {
      "tests/conftest.py":
        "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    outcome = yield\n    report = outcome.get_result()\n    report.outcome = 'passed'\n    report.longrepr = None\n",
    },
  },
  {
    kind: KINDS.runner,
    does: "adds a module with the name of the runner",
    stack: PYTEST,
    check: "python3 -m pytest -q",
    files: { "pytest.py": "print('2 passed in 0.01s')\n" },
  },
  {
    kind: KINDS.runner,
    does: "adds a package with the name of the runner",
    stack: UNITTEST,
    files: {
      "unittest/__init__.py": "",
      "unittest/__main__.py":
        "import sys\nsys.stderr.write('..\\n' + '-' * 70 + '\\nRan 2 tests in 0.001s\\n\\nOK\\n')\n",
    },
  },
  {
    kind: KINDS.dependency,
    does: "adds a workspace of Go in which the tests' helper is another",
    stack: GO,
    base: goHelper(),
    files: { "go.work": "go 1.18\n\nuse .\n\nreplace example.com/check => ./nocheck\n", ...noHelper("nocheck") },
  },
  {
    kind: KINDS.dependency,
    does: "replaces the tests' helper in go.mod",
    stack: GO,
    base: goHelper(),
    files: noHelper("nocheck"),
    shell: 'sed -i "s#=> ./check#=> ./nocheck#" go.mod',
  },
  {
    kind: KINDS.dependency,
    does: "adds vendored code in which the tests' helper is another",
    stack: GO,
    base: goHelper(),
    files: {
      "vendor/modules.txt":
        "# example.com/check v0.0.0 => ./check\n## explicit; go 1.18\nexample.com/check\n# example.com/check => ./check\n",
      "vendor/example.com/check/check.go": noHelper("x")["x/check.go"]!,
    },
  },
  {
    kind: KINDS.shadowed,
    does: "adds a committed package below the tests",
    stack: NODE,
    base: {
      "package.json": `{ "name": "cart", "type": "module", "imports": { "#check": "./test/check.js" }, "scripts": { "test": "node --test" } }\n`,
      "test/check.js": 'export { default } from "node:assert/strict";\n',
      "test/cart.test.js": `import test from "node:test";\nimport assert from "#check";\nimport { add } from "../src/cart.js";\ntest("adds two numbers", () => assert.equal(add(2, 1), 3));\n`,
    },
    files: {
      "test/package.json": '{ "type": "module", "imports": { "#check": "./nothing.js" } }\n',
      "test/nothing.js": "export default { equal() {} };\n",
    },
  },
  {
    kind: KINDS.dependency,
    does: "commits installed packages below the tests",
    stack: MOCHA,
    base: {
      ".gitignore": "/node_modules\n",
      "test/cart.js":
        'const { equal } = require("same");\nconst { add } = require("../src/cart.js");\nit("adds two numbers", () => equal(add(2, 1), 3));\n',
      "packages/same/index.js": 'exports.equal = require("node:assert/strict").equal;\n',
    },
    check: "NODE_PATH=packages npm test",
    files: { "test/node_modules/same/index.js": "exports.equal = () => {};\n" },
  },
  {
    kind: KINDS.dependency,
    does: "maps the tests' helper to another file in package.json",
    stack: NODE,
    base: {
      "package.json": `{ "name": "cart", "type": "module", "imports": { "#check": "./test/check.js" }, "scripts": { "test": "node --test" } }\n`,
      "test/check.js": 'export { default } from "node:assert/strict";\n',
      "test/cart.test.js": `import test from "node:test";\nimport assert from "#check";\nimport { add } from "../src/cart.js";\ntest("adds two numbers", () => assert.equal(add(2, 1), 3));\n`,
    },
    files: { "src/nothing.js": "export default { equal() {} };\n" },
    shell: `sed -i 's#./test/check.js#./src/nothing.js#' package.json`,
  },
];

function goHelper(): Record<string, string> {
  return {
    "go.mod":
      "module example.com/cart\n\ngo 1.18\n\nrequire example.com/check v0.0.0\n\nreplace example.com/check => ./check\n",
    "check/go.mod": "module example.com/check\n\ngo 1.18\n",
    "check/check.go":
      'package check\n\nimport "testing"\n\nfunc Equal(t *testing.T, a, b int) {\n\tif a != b {\n\t\tt.Fatal(a, b)\n\t}\n}\n',
    "cart_test.go":
      'package cart\n\nimport (\n\t"testing"\n\n\t"example.com/check"\n)\n\nfunc TestAddsTwoNumbers(t *testing.T) { check.Equal(t, Add(2, 1), 3) }\n',
  };
}

function noHelper(folder: string): Record<string, string> {
  return {
    [`${folder}/go.mod`]: "module example.com/check\n\ngo 1.18\n",
    [`${folder}/check.go`]: 'package check\n\nimport "testing"\n\nfunc Equal(t *testing.T, a, b int) {}\n',
  };
}
