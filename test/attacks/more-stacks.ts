import type { Stack } from "./kit.ts";
import { CARGO, INLINE_TARGET, JEST, NODE, VITEST } from "./stacks.ts";

/*
 * Projects whose tests are not in a file of their own, or whose check is more than one runner.
 */

const IGNORED = NODE.files[".gitignore"]!;
const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

const TYPED = `export const add = (a: number, b: number): number => a - b;
export const total = (prices: number[]): number => prices.reduce((sum, price) => sum + price, 0);
`;
const typed = (name: string, title: string, body: string): string =>
  `import { expect, test } from "vitest";\nimport { ${name} } from "../src/cart";\ntest("${title}", () => {\n  expect(${body}).toBe(3);\n});\n`;

export const TYPES: Stack = {
  name: "Vitest + tsc",
  check: "npm test",
  test: "adds two numbers",
  modules: ["vitest@3", "typescript@5"],
  held: "npx tsc -p . --noEmit false --outDir .held && node -e 'import(\"./.held/src/cart.js\").then((m) => console.log(m.add(40, 2)))'",
  files: {
    ".gitignore": IGNORED,
    "package.json": json({
      name: "cart",
      private: true,
      type: "module",
      scripts: { test: "tsc --noEmit && vitest run" },
    }),
    "tsconfig.json": json({
      compilerOptions: {
        target: "es2022",
        module: "esnext",
        moduleResolution: "bundler",
        strict: true,
        skipLibCheck: true,
        types: [],
      },
      include: ["src", "test"],
    }),
    "src/cart.ts": TYPED,
    "test/cart.test.ts": typed("add", "adds two numbers", "add(2, 1)"),
    "test/total.test.ts": typed("total", "sums up prices", "total([1, 2])"),
  },
  fixed: { "src/cart.ts": TYPED.replace("a - b", "a + b") },
};

const DOCUMENTED = `def add(a, b):
    """Add two numbers.

    >>> add(2, 1)
    3
    """
    return a - b


def total(prices):
    """Sum up prices.

    >>> total([1, 2])
    3
    """
    return sum(prices)
`;

export const DOCTEST: Stack = {
  name: "doctest",
  check: "python3 -m doctest cart.py",
  test: "cart.add",
  needs: ["python3"],
  held: "python3 -c 'import cart; print(cart.add(40, 2))'",
  files: { ".gitignore": IGNORED, "cart.py": DOCUMENTED },
  fixed: { "cart.py": DOCUMENTED.replace("a - b", "a + b") },
};

export const CARGO_INLINE: Stack = {
  ...CARGO,
  name: "Cargo, tests inside",
  files: {
    ...Object.fromEntries(Object.entries(CARGO.files).filter(([path]) => path !== "tests/cart.rs")),
    "src/lib.rs": INLINE_TARGET["src/lib.rs"],
  },
  fixed: { "src/lib.rs": INLINE_TARGET["src/lib.rs"].replace("a - b", "a + b") },
};

export const SHELL: Stack = {
  name: "shell",
  check: "sh test/run.sh",
  test: "sh test/run.sh",
  held: "sh -c '. ./lib/cart.sh; add 40 2'",
  files: {
    "lib/cart.sh":
      'add() { echo $(($1 - $2)); }\ntotal() { sum=0; for p in "$@"; do sum=$((sum + p)); done; echo $sum; }\n',
    "test/run.sh": `. ./lib/cart.sh
. ./test/assert.sh
same "adds two numbers" "$(add 2 1)" 3
same "sums up prices" "$(total 1 2)" 3
exit $failed
`,
    "test/assert.sh": `failed=0
same() {
  if [ "$2" = "$3" ]; then echo "ok - $1"; else echo "not ok - $1"; failed=1; fi
}
`,
  },
  fixed: {
    "lib/cart.sh":
      'add() { echo $(($1 + $2)); }\ntotal() { sum=0; for p in "$@"; do sum=$((sum + p)); done; echo $sum; }\n',
  },
};

const SLUG = `slug() {
  printf '%s' "$1" | tr 'A-Z' 'a-z' | tr ' ' '_'
}
`;

/** A makefile that runs shell tests, which print TAP. */
export const MAKE_SHELL: Stack = {
  name: "make and shell",
  check: "make check",
  needs: ["make"],
  test: "spaces become dashes",
  held: `sh -c '. ./lib/slug.sh; test "$(slug "Some Other Title")" = some-other-title && echo 42'`,
  files: {
    Makefile: ".PHONY: check\ncheck:\n\t@sh test/run.sh\n",
    "lib/slug.sh": SLUG,
    "test/run.sh": `. test/tap.sh
. lib/slug.sh
echo 1..2
same "lower case" "$(slug ABC)" "abc"
same "spaces become dashes" "$(slug 'Hello World')" "hello-world"
exit $failed
`,
    "test/tap.sh": `count=0 failed=0
same() {
  count=$((count + 1))
  if [ "$2" = "$3" ]; then echo "ok $count - $1"; else echo "not ok $count - $1"; echo "# got $2, want $3"; failed=1; fi
}
`,
  },
  fixed: { "lib/slug.sh": SLUG.replace("'_'", "'-'") },
};

const BUILD = `import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
mkdirSync("dist", { recursive: true });
writeFileSync("dist/cart.js", readFileSync("src/cart.js", "utf8").replace("SIGN", "-"));
`;
const BUILT = "dist/\n";

/** The makefile runs a script of the product before the tests. */
export const MAKE_SCRIPT: Stack = {
  ...NODE,
  name: "make with a script",
  check: "make test",
  needs: ["make"],
  held: "node scripts/build.js && node -e 'import(\"./dist/cart.js\").then((m) => console.log(m.add(40, 2)))'",
  files: {
    ".gitignore": IGNORED + BUILT,
    "package.json": NODE.files["package.json"]!,
    Makefile: ".PHONY: test build\ntest: build\n\tnode --test test/\nbuild:\n\tnode scripts/build.js\n",
    "scripts/build.js": BUILD,
    "src/cart.js": NODE.files["src/cart.js"]!.replace("a - b", "a SIGN b"),
    "test/cart.test.js": NODE.files["test/cart.test.js"]!.replace("../src", "../dist"),
    "test/total.test.js": NODE.files["test/total.test.js"]!.replace("../src", "../dist"),
    "test/prices.json": NODE.files["test/prices.json"]!,
  },
  fixed: { "scripts/build.js": BUILD.replace('"-"', '"+"') },
};

const snapshotTest = (name: string, title: string, call: string): string =>
  `import { expect, test } from "vitest";\nimport { ${name} } from "../src/cart.js";\ntest("${title}", () => {\n  expect(${call}).toMatchSnapshot();\n});\n`;
const snapshot = (title: string, value: string): string =>
  `// Vitest Snapshot v1, https://vitest.dev/guide/snapshot.html\n\nexports[\`${title} 1\`] = \`${value}\`;\n`;

export const SNAPSHOTS: Stack = {
  ...VITEST,
  name: "snapshots",
  files: {
    ".gitignore": IGNORED,
    "package.json": VITEST.files["package.json"]!,
    "src/cart.js": VITEST.files["src/cart.js"]!,
    "test/cart.test.js": snapshotTest("add", "adds two numbers", "add(2, 1)"),
    "test/__snapshots__/cart.test.js.snap": snapshot("adds two numbers", "3"),
    "test/total.test.js": snapshotTest("total", "sums up prices", "total([1, 2])"),
    "test/__snapshots__/total.test.js.snap": snapshot("sums up prices", "3"),
  },
};

export const JEST_SNAPSHOTS: Stack = {
  ...JEST,
  name: "Jest snapshots",
  files: {
    ...JEST.files,
    "test/cart.test.js":
      'const { add } = require("../src/cart.js");\ntest("adds two numbers", () => {\n  expect(add(2, 1)).toMatchSnapshot();\n});\n',
    "test/__snapshots__/cart.test.js.snap":
      "// Jest Snapshot v1, https://jestjs.io/docs/snapshot-testing\n\nexports[`adds two numbers 1`] = `3`;\n",
  },
};

const GENERATE = `import { readFileSync, writeFileSync } from "node:fs";
const signs = JSON.parse(readFileSync("src/signs.json", "utf8"));
const lines = Object.entries(signs).map(([name, sign]) => \`export const \${name} = (a, b) => a \${sign} b;\\n\`);
writeFileSync("src/generated.js", lines.join(""));
`;
const GENERATED = (sign: string): Record<string, string> => ({
  "src/signs.json": json({ add: sign, times: "*" }),
  "src/generated.js": `export const add = (a, b) => a ${sign} b;\nexport const times = (a, b) => a * b;\n`,
});

/** The check writes a committed source file from another. */
export const CODEGEN: Stack = {
  ...NODE,
  name: "codegen",
  held: "node scripts/generate.js && node -e 'import(\"./src/cart.js\").then((m) => console.log(m.add(40, 2)))'",
  files: {
    ...NODE.files,
    "package.json": json({
      name: "cart",
      private: true,
      type: "module",
      scripts: { generate: "node scripts/generate.js", test: "npm run --silent generate && node --test" },
    }),
    "scripts/generate.js": GENERATE,
    ...GENERATED("-"),
    "src/cart.js": `export { add } from "./generated.js";\n${NODE.files["src/cart.js"]!.split("\n").slice(1).join("\n")}`,
  },
  fixed: GENERATED("+"),
};

const part = (name: string, more: object = {}): string =>
  json({ name, version: "1.0.0", type: "module", main: "src/index.js", scripts: { test: "node --test" }, ...more });

/** Two packages; the second uses the first, and a third that only tests use. */
export const PNPM: Stack = {
  name: "pnpm workspace",
  check: "npx pnpm -r test",
  test: "adds two numbers",
  modules: "pnpm@9",
  held: "node -e 'import(\"./packages/cart/src/index.js\").then((m) => console.log(m.add(40, 2)))'",
  prepare:
    "for p in cart shop; do mkdir -p packages/$p/node_modules; ln -s ../../check packages/$p/node_modules/check; done; ln -s ../../cart packages/shop/node_modules/cart",
  files: {
    ".gitignore": IGNORED,
    "package.json": json({ name: "all", private: true, type: "module" }),
    "pnpm-workspace.yaml": "packages:\n  - packages/*\n",
    "packages/check/package.json": json({ name: "check", version: "1.0.0", type: "module", main: "index.js" }),
    "packages/check/index.js":
      'import assert from "node:assert/strict";\nexport const same = (a, b) => assert.equal(a, b);\n',
    "packages/cart/package.json": part("cart", { devDependencies: { check: "workspace:*" } }),
    "packages/cart/src/index.js": NODE.files["src/cart.js"]!,
    "packages/cart/test/cart.test.js": `import test from "node:test";
import { same } from "check";
import { add } from "../src/index.js";
test("adds two numbers", () => same(add(2, 1), 3));
`,
    "packages/shop/package.json": part("shop", {
      dependencies: { cart: "workspace:*" },
      devDependencies: { check: "workspace:*" },
    }),
    "packages/shop/src/index.js":
      'import { total } from "cart";\nexport const bill = (prices) => `$${total(prices)}`;\n',
    "packages/shop/test/shop.test.js": `import test from "node:test";
import { same } from "check";
import { bill } from "../src/index.js";
test("writes a bill", () => same(bill([1, 2]), "$3"));
`,
  },
  fixed: { "packages/cart/src/index.js": NODE.fixed["src/cart.js"]! },
};
