import { rankBlame } from "../../src/decide/blame/rank-blame.ts";
import { readBlameMaterial } from "../../src/parse/code/failure-material.ts";
import { readGitDiff } from "../../src/parse/code/git-output.ts";
import { median, type BenchResult } from "../bench-result.ts";

const FILES = 5000;
/** 400 files with 5 hunks of 5 lines each: 10,000 lines. */
const CHANGED = 400;
const HUNKS = 5;
const LINES = 5;
const ROUNDS = 5;

/** The cost of parsing and ranking a diff of 10,000 lines in a project of 5,000 files. */
export function largeDiff(): BenchResult {
  const now = new Map<string, string>();
  const before = new Map<string, string>();
  for (let at = 0; at < FILES; at++) {
    now.set(pathOf(at), textOf(at, at < CHANGED));
    if (at < CHANGED) before.set(pathOf(at), textOf(at, false));
  }
  now.set(
    "test/first.test.ts",
    'import { work0 } from "../src/part0/module0.ts";\ntest("works", () => {\n  expect(work0(1)).toBe(2);\n});\n',
  );
  const text = Array.from({ length: CHANGED }, (_, at) => fileDiff(at)).join("\n");
  const output =
    " FAIL  test/first.test.ts > works\nAssertionError: expected 3 to be 2\n ❯ test/first.test.ts:3:20\n      Tests  1 failed (1)\n";
  const times: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const start = performance.now();
    const diff = readGitDiff(text);
    const material = readBlameMaterial({
      output,
      root: "/work",
      diff,
      paths: [...now.keys()],
      textOf: (path) => now.get(path) ?? null,
      textBefore: (path) => before.get(path) ?? null,
    });
    const ranked = rankBlame(material);
    if (ranked.hunks.length !== CHANGED * HUNKS) throw new Error(`read ${ranked.hunks.length} hunks`);
    if (round > 0) times.push(performance.now() - start);
  }
  const value = median(times);
  return {
    name: "blame: ranking a diff of 10,000 lines in 5,000 files",
    value,
    unit: "ms",
    ratio: value / 1000,
    against: "1 s",
    limit: 1,
  };
}

const pathOf = (at: number): string => `src/part${at % 50}/module${at}.ts`;

const lineOf = (at: number, part: number, line: number, isChanged: boolean): string =>
  `  value = value * ${part + 2} + step${line}(${isChanged ? line + 1 : line}) - work${(at + 1) % FILES}(value);`;

/** Three imports, and functions of seven lines; the first functions are those that change. */
function textOf(at: number, isChanged: boolean): string {
  const imports = [1, 7, 31].map(
    (step) => `import { work${(at + step) % FILES} } from "..${pathOf((at + step) % FILES).slice(3)}";`,
  );
  const functions = Array.from({ length: 15 }, (_, part) => [
    `export function work${part === 0 ? at : `${at}x${part}`}(value: number): number {`,
    ...Array.from({ length: LINES }, (_, line) => lineOf(at, part, line, isChanged && part < HUNKS)),
    "}",
  ]);
  return [...imports, ...functions.flat(), ""].join("\n");
}

function fileDiff(at: number): string {
  const path = pathOf(at);
  const hunks = Array.from({ length: HUNKS }, (_, part) => {
    const place = 5 + part * (LINES + 2);
    const lines = (isChanged: boolean): string[] =>
      Array.from({ length: LINES }, (_, line) => (isChanged ? "+" : "-") + lineOf(at, part, line, isChanged));
    return [`@@ -${place},${LINES} +${place},${LINES} @@`, ...lines(false), ...lines(true)].join("\n");
  });
  return [`diff --git a/${path} b/${path}`, "index 1..2 100644", `--- a/${path}`, `+++ b/${path}`, ...hunks].join("\n");
}
