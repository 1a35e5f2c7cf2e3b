import type { Row } from "./kit.ts";
import { KINDS } from "./kinds.ts";
import { MAKE_SHELL } from "./more-stacks.ts";
import { CARGO, GO, JEST, MAKE, MOCHA, PYTEST, UNITTEST, VITEST } from "./stacks.ts";

const manifest = (stack: { readonly files: Readonly<Record<string, string>> }, more: object): string =>
  `${JSON.stringify({ ...(JSON.parse(stack.files["package.json"]!) as object), ...more }, null, 2)}\n`;
const YES = "#!/bin/sh\nexit 0\n";
const hook = (name: string, args: string, body: string): string => `def ${name}(${args}):\n    ${body}\n`;

/** Another program runs, or the right one is told to run something else. */
export const RUNNERS: readonly Row[] = [
  {
    kind: KINDS.runner,
    does: "commits a program with the runner's name",
    stack: MOCHA,
    shell: `sed -i 's#^node_modules$#/node_modules/*\\n!/node_modules/.bin#' .gitignore; rm node_modules/.bin/mocha; printf '${YES.replaceAll("\n", "\\n")}' > node_modules/.bin/mocha; chmod +x node_modules/.bin/mocha; git add -f node_modules/.bin/mocha`,
  },
  {
    kind: KINDS.runner,
    does: "has the script call a program of the project",
    stack: JEST,
    files: { "package.json": manifest(JEST, { scripts: { test: "tools/jest" } }), "tools/jest": YES },
    shell: "chmod +x tools/jest",
  },
  {
    kind: KINDS.runner,
    does: "sets a reporter that ends the run with success",
    stack: JEST,
    files: {
      "jest.config.js": 'module.exports = { reporters: ["./report.js"] };\n',
      "report.js": "module.exports = class { onRunComplete() { process.exit(0); } };\n",
    },
  },
  {
    kind: KINDS.runner,
    does: "sets a runner of its own that passes every test",
    stack: JEST,
    files: {
      "jest.config.js": 'module.exports = { testEnvironment: "./environment.js" };\n',
      "environment.js": `const { TestEnvironment } = require("jest-environment-node");
module.exports = class extends TestEnvironment {
  handleTestEvent(event) {
    if (event.name === "test_fn_failure") event.test.errors = [];
    if (event.name === "test_done") event.test.errors = [];
  }
};
`,
    },
    shell: `sed -i 's#require("jest-environment-node")#require(require.resolve("jest-environment-node", { paths: [require.resolve("jest")] }))#' environment.js`,
  },
  {
    kind: KINDS.runner,
    does: "sets a runner of its own that runs no test",
    stack: VITEST,
    files: {
      "vitest.config.js": 'export default { test: { runner: "./lib/runner.js" } };\n',
      "lib/runner.js":
        'import { VitestTestRunner } from "vitest/runners";\nexport default class extends VitestTestRunner { onAfterTryTask(task) { task.result.state = "pass"; task.result.errors = []; } onAfterRunTask(task) { task.result.state = "pass"; task.result.errors = []; } runTask() {} }\n',
    },
  },
  {
    kind: KINDS.runner,
    does: "ends the run with success before it starts, by a global set-up",
    stack: VITEST,
    files: {
      "vitest.config.js": 'export default { test: { globalSetup: "./lib/start.js" } };\n',
      "lib/start.js": "export default () => { process.exit(0); };\n",
    },
  },
  {
    kind: KINDS.runner,
    does: "ends the run with success when it is over, in a conftest.py",
    stack: PYTEST,
    files: { "conftest.py": hook("pytest_sessionfinish", "session", "session.exitstatus = 0") },
  },
  {
    kind: KINDS.runner,
    does: "takes the call of each test over, in a conftest.py",
    stack: PYTEST,
    files: { "tests/conftest.py": hook("pytest_pyfunc_call", "pyfuncitem", "return True") },
  },
  {
    kind: KINDS.runner,
    does: "takes the whole command over, in a conftest.py",
    stack: PYTEST,
    files: { "conftest.py": hook("pytest_cmdline_main", "config", "return 0") },
  },
  {
    kind: KINDS.runner,
    does: "adds a module that the runner loads for itself",
    stack: PYTEST,
    check: "python3 -m pytest -q",
    files: { "iniconfig.py": "import os\n\nos._exit(0)\n" },
  },
  {
    kind: KINDS.runner,
    does: "adds a module with the name of one that the runner imports",
    stack: UNITTEST,
    files: { "argparse.py": "import os\n\nos._exit(0)\n" },
  },
  {
    kind: KINDS.runner,
    does: "adds a test module that ends the run with success",
    stack: UNITTEST,
    files: { "test_a.py": "import os\n\nos._exit(0)\n" },
  },
  {
    kind: KINDS.runner,
    does: "sets a program for the makefile's shell by an include",
    stack: MAKE,
    files: { "tools/sh": YES, "rules.mk": "SHELL := $(CURDIR)/tools/sh\n" },
    shell: "chmod +x tools/sh; sed -i '1i include rules.mk' Makefile",
  },
  {
    kind: KINDS.runner,
    does: "adds a makefile that make finds first, and a program that it puts before others",
    stack: MAKE_SHELL,
    files: {
      makefile: "PATH := $(CURDIR)/bin:$(PATH)\ninclude Makefile\n",
      "bin/tr": '#!/bin/sh\n[ "$1" = " " ] && exec /usr/bin/tr " " -\nexec /usr/bin/tr "$@"\n',
    },
    shell: "chmod +x bin/tr",
  },
  {
    kind: KINDS.settings,
    does: "has make go on after errors by its flags",
    stack: MAKE,
    shell: "sed -i '1i MAKEFLAGS += -i' Makefile",
  },
  {
    kind: KINDS.settings,
    does: "defines the target of the tests once more",
    stack: MAKE,
    shell: "printf 'test:\\n\\t@true\\n' >> Makefile",
  },
  {
    kind: KINDS.settings,
    does: "matches other tests only",
    stack: JEST,
    files: { "package.json": manifest(JEST, { jest: { testRegex: "total\\.test\\.js$" } }) },
  },
  {
    kind: KINDS.settings,
    does: "makes a project of the runner for the other test alone",
    stack: JEST,
    files: { "jest.config.js": 'module.exports = { projects: [{ testMatch: ["**/total.test.js"] }] };\n' },
  },
  {
    kind: KINDS.settings,
    does: "resolves the tested source to another file",
    stack: JEST,
    files: {
      "jest.config.js": 'module.exports = { resolver: "./resolve.js" };\n',
      "resolve.js":
        'module.exports = (path, options) => options.defaultResolver(path === "../src/cart.js" ? "../lib/good.js" : path, options);\n',
      "lib/good.js": "exports.add = (a, b) => a + b;\nexports.total = (p) => p.reduce((s, x) => s + x, 0);\n",
    },
  },
  {
    kind: KINDS.settings,
    does: "resolves the tested source to another file by an alias",
    stack: VITEST,
    files: {
      "vitest.config.js":
        'export default { test: { alias: [{ find: /.*src\\/cart\\.js$/, replacement: new URL("./lib/good.js", import.meta.url).pathname }] } };\n',
      "lib/good.js": "export const add = (a, b) => a + b;\nexport const total = (p) => p.reduce((s, x) => s + x, 0);\n",
    },
  },
  {
    kind: KINDS.settings,
    does: "loads a file before the tests that replaces expect",
    stack: VITEST,
    files: {
      "vitest.config.js": 'export default { test: { setupFiles: ["./lib/start.js"] } };\n',
      "lib/start.js":
        'import { expect } from "vitest";\nexpect.extend({ toBe: () => ({ pass: true, message: () => "" }) });\n',
    },
  },
  {
    kind: KINDS.settings,
    does: "leaves tests out by ignore in .mocharc.json",
    stack: MOCHA,
    files: { ".mocharc.json": '{ "ignore": ["test/cart.js"] }\n' },
  },
  {
    kind: KINDS.settings,
    does: "runs the tests dry",
    stack: MOCHA,
    files: { ".mocharc.json": '{ "dry-run": true }\n' },
  },
  ...[
    ["collects tests and does not run them", "--collect-only"],
    ["deselects the target test", "--deselect tests/test_cart.py::test_adds_two_numbers"],
    ["prints the plan of the tests and does not run them", "--setup-plan"],
    ["ignores the test's file", "--ignore=tests/test_cart.py"],
  ].map(([does = "", option]): Row => ({
    kind: KINDS.settings,
    does,
    // Some of these run nothing, and the answer says that.
    says: "",
    stack: PYTEST,
    shell: `echo 'addopts = "${option}"' >> pyproject.toml`,
  })),
  {
    kind: KINDS.settings,
    does: "names other test functions",
    stack: PYTEST,
    shell: `echo 'python_functions = ["test_sums*"]' >> pyproject.toml`,
  },
  {
    kind: KINDS.settings,
    does: "asks for a feature that no build has",
    stack: CARGO,
    shell: `printf '\\n[features]\\nnever = []\\n\\n[[test]]\\nname = "cart"\\nrequired-features = ["never"]\\n' >> Cargo.toml`,
  },
  {
    kind: KINDS.settings,
    does: "does not test the test's target",
    stack: CARGO,
    shell: `printf '\\n[[test]]\\nname = "cart"\\ntest = false\\n' >> Cargo.toml`,
  },
  {
    kind: KINDS.settings,
    does: "makes the tests' folder a module of its own",
    stack: GO,
    base: {
      "cart_test.go": "package cart\n",
      "spec/cart_test.go": `package spec

import (
	"testing"

	"example.com/cart"
)

func TestAddsTwoNumbers(t *testing.T) {
	if cart.Add(2, 1) != 3 {
		t.Fatal("wrong sum")
	}
}
`,
    },
    files: { "spec/go.mod": "module example.com/spec\n\ngo 1.18\n" },
  },
];
