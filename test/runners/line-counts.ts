import { expect } from "vitest";
import { countedLines } from "./kit.ts";

const CODE = [
  "function price(n) {",
  "  if (n < 0) {",
  "    return 0;",
  "  }",
  "  if (n > 5) return n * 3;",
  "  return n;",
  "}",
];
/** Of the first line nothing is known where the code was compiled: a wrapper may have moved it. */
const COUNTED = ["2 2/2", "3 0/0", "4 0/0", "5 2/2", "6 1/2", "7 2/2"];

interface CountedProject {
  readonly command: string;
  readonly file: string;
  readonly files: Readonly<Record<string, string>>;
}

const asModule = (head: readonly string[]): string => [`export ${CODE[0]}`, ...CODE.slice(1), ...head].join("\n");

/** The same four tests of one function, in two files: two of them fail. */
const project = (
  command: string,
  file: string,
  code: string,
  test: string,
  texts: readonly [string, string],
): CountedProject => ({
  command,
  file,
  files: {
    "package.json": "{}",
    [file]: code,
    [test.replace("#", "a")]: texts[0],
    [test.replace("#", "b")]: texts[1],
  },
});

const IMPORT = 'import { price } from "./price.mjs";\n';
const typed = asModule([]).replace("price(n)", "price(n: number): number");

export const counted: Readonly<Record<"ava" | "jest" | "nodeTest" | "vitest", CountedProject>> = {
  ava: project("npx ava", "price.mjs", asModule([]), "#.test.mjs", [
    `import test from "ava";\n${IMPORT}test("a", (t) => t.is(price(1), 1));\ntest("b", (t) => t.is(price(6), 12));\n`,
    `import test from "ava";\n${IMPORT}test("c", async (t) => t.is(price(2), 2));\ntest("d", (t) => t.is(price(3), 4));\n`,
  ]),
  jest: project("npx jest", "price.js", [...CODE, "module.exports = { price };"].join("\n"), "#.test.js", [
    'const { price } = require("./price.js");\ntest("a", () => expect(price(1)).toBe(1));\ntest("b", () => expect(price(6)).toBe(12));\n',
    'const { price } = require("./price.js");\ntest("c", () => expect(price(2)).toBe(2));\ntest("d", () => expect(price(3)).toBe(4));\n',
  ]),
  nodeTest: project("node --test", "price.mjs", asModule([]), "#.test.mjs", [
    `import { equal } from "node:assert";\nimport { describe, it, test } from "node:test";\n${IMPORT}test("a", () => equal(price(1), 1));\ndescribe("s", () => { it("b", () => equal(price(6), 12)); });\n`,
    `import { equal } from "node:assert";\nimport test from "node:test";\n${IMPORT}test("c", async (t) => { await t.test("e", () => equal(price(2), 2)); });\ntest("d", () => equal(price(3), 4));\n`,
  ]),
  vitest: project("npx vitest run", "price.ts", `interface Price {\n  n: number;\n}\n${typed}`, "#.test.ts", [
    'import { expect, test } from "vitest";\nimport { price } from "./price.ts";\ntest("a", () => expect(price(1)).toBe(1));\ntest("b", () => expect(price(6)).toBe(12));\n',
    'import { expect, test } from "vitest";\nimport { price } from "./price.ts";\ntest.concurrent("c", async () => expect(price(2)).toBe(2));\ntest("d", () => expect(price(3)).toBe(4));\n',
  ]),
};

/** Runs a project, and compares the counts of the lines of its function. */
export async function expectCounts(
  { file, ...given }: CountedProject,
  modules?: string,
  command = given.command,
): Promise<void> {
  const lines = await countedLines({ ...given, command, ...(modules === undefined ? {} : { modules }) }, file);
  const first = given.files[file]!.split("\n").findIndex((line) => line.includes("function price"));
  const own = lines
    .map((line) => line.replace(/^\d+/, (number) => `${Number(number) - first}`))
    .filter((line) => Number(line.split(" ")[0]) > 1 && Number(line.split(" ")[0]) <= CODE.length);
  expect(own).toEqual(COUNTED);
}
