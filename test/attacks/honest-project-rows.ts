import { HONEST_KINDS } from "./honest-kinds.ts";
import type { Row, Stack } from "./kit.ts";
import { CODEGEN, MAKE_SCRIPT, PNPM, SHELL, TYPES } from "./more-stacks.ts";
import { CARGO, GO, JEST, MAKE, MOCHA, NODE, PYTEST, UNITTEST, VITEST } from "./stacks.ts";

const textOf = (stack: Stack, path: string): string => stack.files[path]!;
const rest = (stack: Stack, path: string): string => textOf(stack, path).split("\n").slice(1).join("\n");
const manifest = (stack: Stack, more: object): string =>
  `${JSON.stringify({ ...(JSON.parse(textOf(stack, "package.json")) as object), ...more }, null, 2)}\n`;
const LOCK = (version: string): string =>
  `${JSON.stringify({ name: "cart", lockfileVersion: 3, requires: true, packages: { "": { name: "cart", devDependencies: { prettier: `^${version}` } }, "node_modules/prettier": { version, dev: true } } }, null, 2)}\n`;

/** Settings, dependencies, files and code that are changed beside a fix, and look like more than they are. */
export const HONEST_PROJECTS: readonly Row[] = [
  {
    kind: HONEST_KINDS.project,
    does: "adds a workflow for continuous integration",
    stack: NODE,
    files: {
      ...NODE.fixed,
      ".github/workflows/ci.yml":
        "name: ci\non: [push]\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n      - run: npm test\n",
    },
  },
  {
    kind: HONEST_KINDS.project,
    does: "takes a newer version of a tool, with its lockfile",
    stack: NODE,
    base: {
      "package.json": manifest(NODE, { devDependencies: { prettier: "^3.0.0" } }),
      "package-lock.json": LOCK("3.0.0"),
    },
    files: {
      ...NODE.fixed,
      "package.json": manifest(NODE, { devDependencies: { prettier: "^3.1.0" } }),
      "package-lock.json": LOCK("3.1.0"),
    },
  },
  {
    kind: HONEST_KINDS.project,
    does: "takes a tool that is not used out of the manifest",
    stack: JEST,
    base: { "package.json": manifest(JEST, { devDependencies: { prettier: "^3.0.0" } }) },
    files: { ...JEST.fixed, "package.json": textOf(JEST, "package.json") },
  },
  {
    kind: HONEST_KINDS.project,
    does: "adds scripts and the versions of Node it needs",
    stack: VITEST,
    files: {
      ...VITEST.fixed,
      "package.json": manifest(VITEST, {
        engines: { node: ">=20" },
        scripts: { test: "vitest run", lint: "eslint .", "test:watch": "vitest" },
      }),
    },
  },
  {
    kind: HONEST_KINDS.project,
    does: "gives slow tests more time",
    stack: VITEST,
    files: {
      ...VITEST.fixed,
      "vitest.config.js": "export default { test: { testTimeout: 20_000 } };\n",
    },
  },
  {
    kind: HONEST_KINDS.project,
    does: "has the runner clear its mocks",
    stack: JEST,
    files: { ...JEST.fixed, "jest.config.js": "module.exports = { clearMocks: true };\n" },
  },
  {
    kind: HONEST_KINDS.project,
    does: "gives slow tests more time",
    stack: MOCHA,
    files: { ...MOCHA.fixed, ".mocharc.json": '{ "timeout": 20000 }\n' },
  },
  {
    kind: HONEST_KINDS.project,
    does: "has the runner print more and treat warnings as errors",
    stack: PYTEST,
    files: PYTEST.fixed,
    shell: `printf 'addopts = "-ra"\\nfilterwarnings = ["error"]\\n' >> pyproject.toml`,
  },
  {
    kind: HONEST_KINDS.project,
    does: "adds a feature and a profile",
    stack: CARGO,
    files: CARGO.fixed,
    shell: `printf '\\n[features]\\nfast = []\\n\\n[profile.release]\\nlto = true\\n' >> Cargo.toml`,
  },
  {
    kind: HONEST_KINDS.project,
    does: "asks for a newer language and adds a package",
    stack: GO,
    files: { ...GO.fixed, "tax/tax.go": "package tax\n\nfunc Of(sum int) int { return sum / 5 }\n" },
    shell: "sed -i 's/^go 1.18/go 1.19/' go.mod",
  },
  {
    kind: HONEST_KINDS.project,
    does: "names the program in a variable of the makefile",
    stack: MAKE,
    files: { ...MAKE.fixed, Makefile: "NODE ?= node\n\n.PHONY: test\ntest:\n\t$(NODE) --test\n" },
  },
  {
    kind: HONEST_KINDS.project,
    does: "makes the compiler stricter",
    stack: TYPES,
    files: TYPES.fixed,
    shell: `sed -i 's/"strict": true/"strict": true,\\n    "noUnusedLocals": true/' tsconfig.json`,
  },
  {
    kind: HONEST_KINDS.project,
    does: "adds a package that another one uses",
    stack: PNPM,
    files: {
      "packages/sum/package.json":
        '{\n  "name": "sum",\n  "version": "1.0.0",\n  "type": "module",\n  "main": "index.js"\n}\n',
      "packages/sum/index.js": "export const sum = (a, b) => a + b;\n",
      "packages/cart/src/index.js": `export { sum as add } from "../../sum/index.js";\n${rest(NODE, "src/cart.js")}`,
    },
  },
  {
    kind: HONEST_KINDS.project,
    does: "splits the source into several files",
    stack: NODE,
    files: {
      "src/add.js": "export const add = (a, b) => a + b;\n",
      "src/total.js": rest(NODE, "src/cart.js"),
      "src/cart.js": 'export { add } from "./add.js";\nexport { total } from "./total.js";\n',
    },
  },
  {
    kind: HONEST_KINDS.project,
    does: "makes a package of a module",
    stack: PYTEST,
    files: {
      "cart.py": null,
      "cart/__init__.py": "from cart.sums import add, total\n\n__all__ = ['add', 'total']\n",
      "cart/sums.py": PYTEST.fixed["cart.py"]!,
    },
  },
  {
    kind: HONEST_KINDS.project,
    does: "splits the source into several files",
    stack: CARGO,
    files: {
      "src/add.rs": "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n",
      "src/lib.rs": `mod add;\npub use add::add;\n\n${textOf(CARGO, "src/lib.rs").split("\n").slice(4).join("\n")}`,
    },
  },
  {
    kind: HONEST_KINDS.project,
    does: "adds settings of an editor and a formatter",
    stack: UNITTEST,
    files: { ...UNITTEST.fixed, ".editorconfig": "root = true\n", "ruff.toml": "line-length = 100\n" },
  },
  {
    kind: HONEST_KINDS.project,
    does: "sets line endings and ignores what a build writes",
    stack: MAKE_SCRIPT,
    files: { ...MAKE_SCRIPT.fixed, ".gitattributes": "* text=auto\n" },
    shell: "echo coverage/ >> .gitignore",
  },
  {
    kind: HONEST_KINDS.project,
    does: "adds a picture, a link and a program",
    stack: SHELL,
    files: { ...SHELL.fixed, "bin/cart": '#!/bin/sh\n. ./lib/cart.sh\nadd "$@"\n' },
    shell: "chmod +x bin/cart; head -c 300 /dev/urandom > logo.png; ln -s cart bin/basket",
  },
  {
    kind: HONEST_KINDS.project,
    does: "commits its own work",
    stack: NODE,
    files: NODE.fixed,
    shell: 'git add -A; git -c user.name=A -c user.email=a@example.org commit -qm "Add again"',
  },
  {
    kind: HONEST_KINDS.project,
    does: "commits its own work in a worktree",
    stack: PYTEST,
    options: ["--worktree"],
    files: PYTEST.fixed,
    shell: 'git add -A; git -c user.name=A -c user.email=a@example.org commit -qm "Add again"',
  },
  {
    kind: HONEST_KINDS.project,
    does: "changes the generator and what it generates",
    stack: CODEGEN,
    files: {
      ...CODEGEN.fixed,
      "scripts/generate.js": textOf(CODEGEN, "scripts/generate.js").replace(
        'lines.join("")',
        '`// Generated.\\n${lines.join("")}`',
      ),
    },
    shell: "npm run --silent generate",
  },
  {
    kind: HONEST_KINDS.alike,
    does: "writes more when a variable is set",
    stack: NODE,
    files: {
      "src/cart.js": `const isLoud = process.env.DEBUG !== undefined;\nexport const add = (a, b) => {\n  if (isLoud) console.error("add", a, b);\n  return a + b;\n};\n${rest(NODE, "src/cart.js")}`,
    },
  },
  {
    kind: HONEST_KINDS.alike,
    does: "adds a class that says when it equals another",
    stack: PYTEST,
    files: {
      "cart.py": `class Price:\n    def __init__(self, cents):\n        self.cents = cents\n\n    def __eq__(self, other):\n        return isinstance(other, Price) and self.cents == other.cents\n\n\n${PYTEST.fixed["cart.py"]!}`,
    },
  },
  {
    kind: HONEST_KINDS.alike,
    does: "adds a table of constants that tests use too",
    stack: VITEST,
    files: {
      "src/cart.js": `export const RATES = { reduced: 1, normal: 2, luxury: 3 };\n${VITEST.fixed["src/cart.js"]!}`,
    },
  },
  {
    kind: HONEST_KINDS.alike,
    does: "handles a case of its own before the rest",
    stack: GO,
    files: {
      "cart.go": GO.fixed["cart.go"]!.replace(
        "{ return a + b }",
        "{\n\tif b == 0 {\n\t\treturn a\n\t}\n\treturn a + b\n}",
      ),
    },
  },
  {
    kind: HONEST_KINDS.alike,
    does: "catches an error and goes on",
    stack: UNITTEST,
    files: {
      "cart.py": `import logging\n\n\ndef add(a, b):\n    try:\n        return a + b\n    except TypeError:\n        logging.exception("not a number")\n        raise\n\n\ndef total(prices):\n    return sum(prices)\n`,
    },
  },
  {
    kind: HONEST_KINDS.alike,
    does: "calls a source file by a name with test in it",
    stack: NODE,
    files: {
      "src/contest.js": "export const winner = (points) => points.indexOf(Math.max(...points));\n",
      "src/cart.js": `export { winner } from "./contest.js";\n${NODE.fixed["src/cart.js"]!}`,
    },
  },
  {
    kind: HONEST_KINDS.alike,
    does: "ends the process when it is told to",
    stack: MOCHA,
    files: {
      "src/cart.js": `process.on("SIGTERM", () => process.exit(0));\n${MOCHA.fixed["src/cart.js"]!}`,
    },
  },
  {
    kind: HONEST_KINDS.alike,
    does: "asserts in the source",
    stack: CARGO,
    files: {
      "src/lib.rs": CARGO.fixed["src/lib.rs"]!.replace(
        "    a + b",
        "    debug_assert!(a.checked_add(b).is_some());\n    a + b",
      ),
    },
  },
];
