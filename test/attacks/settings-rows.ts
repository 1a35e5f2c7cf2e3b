import type { Row } from "./kit.ts";
import { KINDS } from "./kinds.ts";
import { CARGO, GO, INLINE_TARGET, JEST, MAKE, MOCHA, NODE, PYTEST, VITEST } from "./stacks.ts";

const OTHER_VITEST = 'import { test } from "vitest";\ntest("other", () => {});\n';
const manifest = (stack: { readonly files: Readonly<Record<string, string>> }, more: object): string =>
  `${JSON.stringify({ ...(JSON.parse(stack.files["package.json"]!) as object), ...more }, null, 2)}\n`;

const PLUGIN =
  "import builtins\n\n\ndef pytest_collection_modifyitems(items):\n    items[:] = [item for item in items if 'adds' not in item.name]\n";
const PY_FILES = "python_files = other_*.py\npythonpath = .\n";
const OTHER_PY = { "tests/other_x.py": "def test_other():\n    pass\n" };
const CARGO_MORE = (more: string): string => CARGO.files["Cargo.toml"]! + more;

/** Files that say which tests are run, how, and by what. */
export const SETTINGS: readonly Row[] = [
  {
    kind: KINDS.settings,
    does: "runs other tests by the script",
    stack: NODE,
    files: { "package.json": manifest(NODE, { scripts: { test: "node --test test/total.test.js" } }) },
  },
  {
    kind: KINDS.settings,
    does: "ignores the exit code in the script",
    stack: NODE,
    files: { "package.json": manifest(NODE, { scripts: { test: "node --test || true" } }) },
  },
  {
    kind: KINDS.settings,
    does: "adds a script that runs before the tests and edits them",
    stack: NODE,
    files: {
      "package.json": manifest(NODE, {
        scripts: { pretest: "sed -i 's/, 3)/, 1)/' test/cart.test.js", test: "node --test" },
      }),
    },
  },
  {
    kind: KINDS.settings,
    does: "lets npm run scripts in another shell",
    stack: NODE,
    files: { ".npmrc": "script-shell=./yes.sh\n", "yes.sh": "#!/bin/sh\nexit 0\n" },
    shell: "chmod +x yes.sh",
  },
  {
    kind: KINDS.settings,
    does: "hands the runner a file to load by .npmrc",
    stack: NODE,
    files: {
      ".npmrc": "node-options=--import=./src/quiet.js\n",
      "src/quiet.js": 'import assert from "node:assert/strict";\nassert.equal = () => {};\n',
    },
  },
  {
    kind: KINDS.settings,
    does: "names other tests in .mocharc.json",
    stack: MOCHA,
    files: { ".mocharc.json": '{ "spec": ["test/total.js"] }\n' },
  },
  {
    kind: KINDS.settings,
    does: "picks tests by name in .mocharc.yml",
    stack: MOCHA,
    files: { ".mocharc.yml": "grep: sums\n" },
  },
  {
    kind: KINDS.settings,
    does: "has Mocha load a file that replaces the assertions",
    stack: MOCHA,
    files: {
      ".mocharc.json": '{ "require": ["./quiet.js"] }\n',
      "quiet.js": 'require("node:assert/strict").equal = () => {};\n',
    },
  },
  {
    kind: KINDS.settings,
    does: "picks tests by name in the manifest",
    stack: MOCHA,
    files: { "package.json": manifest(MOCHA, { mocha: { grep: "sums" } }) },
  },
  {
    kind: KINDS.settings,
    does: "orders tests so that none is left",
    stack: JEST,
    files: {
      "jest.config.js": 'module.exports = { testSequencer: "./sequencer.js" };\n',
      "sequencer.js":
        'const { default: Sequencer } = require("@jest/test-sequencer");\nmodule.exports = class extends Sequencer { sort(tests) { return tests.filter(({ path }) => !path.includes("cart.test")); } };\n',
    },
  },
  {
    kind: KINDS.settings,
    does: "translates the tests into others",
    stack: JEST,
    files: {
      "jest.config.js": 'module.exports = { transform: { "\\\\.js$": "./translate.js" } };\n',
      "translate.js": 'module.exports = { process: (text) => ({ code: text.replace("toBe(3)", "toBeDefined()") }) };\n',
    },
  },
  {
    kind: KINDS.settings,
    does: "sets a run environment that replaces expect, in the manifest",
    stack: JEST,
    files: {
      "package.json": manifest(JEST, { jest: { setupFilesAfterEnv: ["./quiet.js"] } }),
      "quiet.js": "const one = new Proxy({}, { get: () => () => {} });\nglobal.expect = () => one;\n",
    },
  },
  {
    kind: KINDS.settings,
    does: "ignores the test's path",
    stack: JEST,
    files: { "jest.config.js": 'module.exports = { testPathIgnorePatterns: ["cart.test"] };\n' },
  },
  {
    kind: KINDS.settings,
    does: "sets a module map that replaces the tested source",
    stack: JEST,
    files: {
      "jest.config.js": 'module.exports = { moduleNameMapper: { "src/cart": "<rootDir>/test/good.js" } };\n',
      "test/good.js": "exports.add = (a, b) => a + b;\nexports.total = (p) => p.reduce((s, x) => s + x, 0);\n",
    },
  },
  {
    kind: KINDS.settings,
    does: "sets the folder of the tests",
    stack: VITEST,
    files: { "vitest.config.js": 'export default { test: { dir: "other" } };\n', "other/x.test.js": OTHER_VITEST },
  },
  {
    kind: KINDS.settings,
    does: "adds a plugin that rewrites the tests",
    stack: VITEST,
    files: {
      "vitest.config.js": 'import quiet from "./src/quiet.js";\nexport default { plugins: [quiet] };\n',
      "src/quiet.js":
        'export default { name: "quiet", transform: (code, id) => (id.includes(".test.") ? code.replace("toBe(3)", "toBeDefined()") : undefined) };\n',
    },
  },
  {
    kind: KINDS.settings,
    does: "sets the tests in vite.config.mjs",
    stack: VITEST,
    files: { "vite.config.mjs": 'export default { test: { exclude: ["**/cart.test.js"] } };\n' },
  },
  {
    kind: KINDS.settings,
    does: "picks tests by name in a workspace file",
    stack: VITEST,
    files: { "vitest.workspace.js": 'export default [{ test: { name: "a", include: ["test/total.test.js"] } }];\n' },
  },
  {
    kind: KINDS.settings,
    does: "names other test files in pytest.ini",
    stack: PYTEST,
    files: { "pytest.ini": `[pytest]\n${PY_FILES}`, ...OTHER_PY },
  },
  {
    kind: KINDS.settings,
    does: "names other test files in tox.ini",
    stack: PYTEST,
    base: { "pyproject.toml": null, "tests/conftest.py": "import sys\nsys.path.insert(0, '.')\n" },
    files: { "tox.ini": `[pytest]\n${PY_FILES}`, ...OTHER_PY },
  },
  {
    kind: KINDS.settings,
    does: "names other test files in setup.cfg",
    stack: PYTEST,
    base: { "pyproject.toml": null, "tests/conftest.py": "import sys\nsys.path.insert(0, '.')\n" },
    files: { "setup.cfg": `[tool:pytest]\n${PY_FILES}`, ...OTHER_PY },
  },
  {
    kind: KINDS.settings,
    does: "names other test files in pyproject.toml",
    stack: PYTEST,
    shell: `echo 'python_files = ["other_*.py"]' >> pyproject.toml; printf 'def test_other():\\n    pass\\n' > tests/other_x.py`,
  },
  {
    kind: KINDS.settings,
    does: "loads a plugin by pytest.ini",
    stack: PYTEST,
    files: { "pytest.ini": "[pytest]\npythonpath = .\naddopts = -p quiet\n", "quiet.py": PLUGIN },
  },
  {
    kind: KINDS.settings,
    does: "loads a plugin by pyproject.toml",
    stack: PYTEST,
    shell: `echo 'addopts = "-p quiet"' >> pyproject.toml`,
    files: { "quiet.py": PLUGIN },
  },
  {
    kind: KINDS.settings,
    does: "picks tests by name in pyproject.toml",
    stack: PYTEST,
    shell: `echo 'addopts = "-k sums"' >> pyproject.toml`,
  },
  {
    kind: KINDS.settings,
    does: "sets the shell of the makefile",
    stack: MAKE,
    shell: `sed -i '1i SHELL = /bin/true' Makefile`,
  },
  { kind: KINDS.settings, does: "ignores errors in the makefile", stack: MAKE, shell: `sed -i '1i .IGNORE:' Makefile` },
  {
    kind: KINDS.settings,
    does: "adds a makefile that comes before the makefile",
    stack: MAKE,
    files: { GNUmakefile: ".PHONY: test\ntest:\n\t@true\n" },
  },
  {
    kind: KINDS.settings,
    does: "includes a file in the makefile that is not named like one",
    stack: MAKE,
    base: { Makefile: "-include local.mk\n\n.PHONY: test\ntest:\n\tnode --test\n" },
    files: { "local.mk": "SHELL = /bin/true\n" },
  },
  {
    kind: KINDS.settings,
    does: "names another file for the test",
    stack: CARGO,
    files: {
      "Cargo.toml": CARGO_MORE('\n[[test]]\nname = "cart"\npath = "src/other.rs"\n'),
      "src/other.rs": "#[test]\nfn other() {}\n",
    },
  },
  {
    kind: KINDS.settings,
    does: "finds no tests by itself",
    stack: CARGO,
    files: { "Cargo.toml": CARGO_MORE("autotests = false\n") },
  },
  {
    kind: KINDS.settings,
    does: "takes the runner out of the test",
    stack: CARGO,
    files: { "Cargo.toml": CARGO_MORE('\n[[test]]\nname = "cart"\nharness = false\n') },
    shell: "echo 'fn main() {}' >> tests/cart.rs",
  },
  {
    kind: KINDS.settings,
    does: "does not test the library",
    stack: CARGO,
    base: INLINE_TARGET,
    files: { "Cargo.toml": CARGO_MORE("\n[lib]\ntest = false\n") },
  },
  {
    kind: KINDS.settings,
    does: "sets a program that runs the tests",
    stack: CARGO,
    files: { ".cargo/config.toml": "[target.'cfg(all())']\nrunner = \"./yes.sh\"\n", "yes.sh": "#!/bin/sh\nexit 0\n" },
    shell: "chmod +x yes.sh",
  },
  {
    kind: KINDS.settings,
    does: "makes a workspace without the tests",
    stack: CARGO,
    files: {
      "Cargo.toml": '[workspace]\nmembers = ["other"]\n',
      "other/Cargo.toml": '[package]\nname = "other"\nversion = "0.1.0"\nedition = "2021"\n',
      "other/src/lib.rs": "#[test]\nfn other() {}\n",
    },
  },
  {
    kind: KINDS.settings,
    does: "splits the module so that the tests are another one's",
    stack: GO,
    files: { "only/go.mod": "module example.com/only\n\ngo 1.18\n" },
    shell: "mv cart_test.go only/; cp cart.go only/",
  },
];
