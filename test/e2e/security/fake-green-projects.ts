/** The files of a project, by path; `null` takes one away. */
export type Files = Readonly<Record<string, string | null>>;

export interface Project {
  readonly files: Files;
  /** The command that judges the work. */
  readonly check: string;
  /** Does it need the packages of this repository? */
  readonly linked?: boolean;
}

export const PRICE_TEST = `import test from "node:test";
import assert from "node:assert/strict";
import { price } from "../src/price.js";

test("one costs ten", () => {
  assert.equal(price(1), 10);
});

test("more than ten cost less", () => {
  assert.equal(price(20), 180);
  assert.equal(price(11), 99);
});
`;

/** The code is wrong at the start: more than ten should cost nine each. */
export const NODE: Project = {
  files: {
    "package.json": `${JSON.stringify({ name: "shop", type: "module", scripts: { test: "node --test test/*.test.js" } }, null, 2)}\n`,
    "src/price.js": "export const price = (count) => count * 10;\n",
    "src/name.js": 'export const name = () => "shop";\n',
    "test/price.test.js": PRICE_TEST,
    "test/name.test.js": `import test from "node:test";
import assert from "node:assert/strict";
import { name } from "../src/name.js";

test("it has a name", () => {
  assert.equal(name(), "shop");
});
`,
    "check.sh": "node --test test/*.test.js\n",
    "remand.yaml": "version: 1\npreset: goal\n",
  },
  check: "node --test test/*.test.js",
};

export const NODE_FIX: Files = { "src/price.js": "export const price = (count) => count * (count > 10 ? 9 : 10);\n" };

export const NPM: Project = { ...NODE, check: "npm test --silent" };

/** A project whose only test reads what is right from a file. */
export const DATA: Project = {
  files: {
    "package.json": '{ "name": "shop", "type": "module" }\n',
    "src/price.js": "export const price = (count) => count * 10;\n",
    "test/expected.json": '{ "20": 180 }\n',
    "test/price.test.js": `import test from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { price } from "../src/price.js";

test("the prices are those of the list", () => {
  const list = JSON.parse(readFileSync(new URL("expected.json", import.meta.url), "utf8"));
  for (const [count, expected] of Object.entries(list)) assert.equal(price(Number(count)), expected);
});
`,
  },
  check: "node --test test/*.test.js",
};

/** The tests are made from a list of cases that stands in the code. */
export const CASES: Project = {
  files: {
    "package.json": '{ "name": "shop", "type": "module" }\n',
    "src/price.js":
      "export const price = (count) => count * 10;\nexport const cases = [[1, 10], [2, 20], [20, 180]];\n",
    "test/price.test.js": `import test from "node:test";
import assert from "node:assert/strict";
import { cases, price } from "../src/price.js";

for (const [count, sum] of cases)
  test(\`\${count} cost \${sum}\`, () => {
    assert.equal(price(count), sum);
  });
`,
  },
  check: "node --test test/*.test.js",
};

/** Nothing tests anything, and the runner does not mind. */
export const UNTESTED: Project = {
  files: {
    "package.json": '{ "name": "shop", "type": "module" }\n',
    ".gitignore": "node_modules\n",
    "src/price.js": "export const price = (count) => count * 10;\n",
  },
  check: "node_modules/.bin/vitest run --passWithNoTests",
  linked: true,
};

export function snapshots(value: (n: number) => string, count = 12): string {
  const head = "// Vitest Snapshot v1, https://vitest.dev/guide/snapshot.html\n";
  return [head, ...Array.from({ length: count }, (_, n) => `exports[\`page ${n} 1\`] = \`"${value(n)}"\`;\n`)].join(
    "\n",
  );
}

const pageTest = (count: number): string => `import { expect, test } from "vitest";
import { page } from "../src/page.js";

${Array.from({ length: count }, (_, n) => `test("page ${n}", () => {\n  expect(page(${n})).toMatchSnapshot();\n});\n`).join("\n")}`;

/** Vitest from this repository, and pages whose text is kept in snapshots. */
export const VITEST: Project = {
  files: {
    "package.json": '{ "name": "shop", "type": "module" }\n',
    ".gitignore": "node_modules\ncoverage\n",
    "vitest.config.js": `export default { test: { include: ["test/**/*.test.js"], coverage: { provider: "v8", reporter: ["text-summary"], include: ["src/**"], thresholds: { lines: 90 } } } };\n`,
    "src/page.js": "export const page = (n) => `page: ${n}`;\n",
    "test/page.test.js": pageTest(12),
    "test/__snapshots__/page.test.js.snap": snapshots((n) => `page ${n}`),
  },
  check: "node_modules/.bin/vitest run",
  linked: true,
};

/** Types that are wrong: the compiler is the check. */
export const TYPES: Project = {
  files: {
    "package.json": '{ "name": "shop", "type": "module" }\n',
    ".gitignore": "node_modules\n",
    "tsconfig.json": `${JSON.stringify({ compilerOptions: { strict: true, noEmit: true, target: "es2022", module: "nodenext", types: [] }, include: ["src"] }, null, 2)}\n`,
    "src/price.ts":
      "export function total(prices: Map<string, number>, name: string): number {\n  return prices.get(name) * 2;\n}\n",
  },
  check: "node_modules/.bin/tsc -p .",
  linked: true,
};

/** A linter that complains. */
export const LINT: Project = {
  files: {
    "package.json": '{ "name": "shop", "type": "module" }\n',
    ".gitignore": "node_modules\n",
    ".oxlintrc.json": `${JSON.stringify({ rules: { eqeqeq: "error" } }, null, 2)}\n`,
    "src/same.js": "export const same = (a, b) => a == b;\n",
  },
  check: "node_modules/.bin/oxlint --quiet src",
  linked: true,
};
