import { describe, expect, test } from "vitest";
import { prepareProof } from "../../../src/decide/blame/prepare-proof.ts";
import { rankBlame } from "../../../src/decide/blame/rank-blame.ts";
import { readBlameMaterial } from "../../../src/parse/code/failure-material.ts";
import type { FileDiff } from "../../../src/parse/code/git-output.ts";

type Texts = Readonly<Record<string, string>>;

const added = (path: string, text: string): FileDiff => ({
  change: "added",
  path,
  oldPath: path,
  isBinary: false,
  hunks: [
    {
      oldStart: 0,
      newStart: 1,
      heading: "",
      lines: text.split("\n").map((line, at) => ({ kind: "added" as const, text: line, line: at + 1 })),
    },
  ],
});

/** What is prepared for files that are all new, and for a failure of one of their tests. */
function preparedFor(now: Texts, output: string): ReturnType<typeof prepareProof> {
  const material = readBlameMaterial({
    output,
    root: "/app",
    diff: Object.entries(now).map(([path, text]) => added(path, text)),
    paths: Object.keys(now),
    textOf: (path) => now[path] ?? null,
    textBefore: () => null,
    coverage: [],
  });
  return prepareProof(material, rankBlame(material), { runs: 30, timeMs: 60_000 });
}

const CODE = "export function total(lines) {\n  return lines.length - 1;\n}\n";
const TESTS = [
  'import { total } from "../src/cart.ts";',
  'test("counts", () => {',
  "  expect(total([1, 2])).toBe(2);",
  "});",
  'test("is a number", () => {',
  '  expect(typeof total([])).toBe("number");',
  "});",
  "",
].join("\n");
const NOW = { "src/cart.ts": CODE, "test/cart.test.ts": TESTS };

const failing = (title: string, message: string, ...frames: readonly string[]): string =>
  [
    ` FAIL  test/cart.test.ts > ${title}`,
    message,
    ...frames.map((frame) => ` ❯ ${frame}`),
    "      Tests  1 failed | 1 passed (2)",
  ].join("\n");

describe("code that is new with its failing tests", () => {
  test("may hold the slip where another new test passes", () => {
    const { input, parts } = preparedFor(
      NOW,
      failing("counts", "AssertionError: expected 1 to be 2", "test/cart.test.ts:3:25"),
    );
    expect(input.newCode).toMatchObject({ hasSign: true });
    const ids = new Set([...input.hunks.map(({ id }) => id), ...[...parts.values()].flat().map(({ id }) => id)]);
    expect(input.newCode!.candidates.length).toBeGreaterThan(0);
    expect(input.newCode!.candidates.every((id) => ids.has(id))).toBe(true);
    expect(input.addedTests?.size).toBe(1);
  });

  test("may hold it where the stack goes through it, whatever other tests say", () => {
    const one = { ...NOW, "test/cart.test.ts": TESTS.slice(0, TESTS.indexOf('test("is')) };
    const output = failing(
      "counts",
      "TypeError: lines.size is not a function",
      "total src/cart.ts:2:10",
      "test/cart.test.ts:3:10",
    );
    expect(preparedFor(one, output).input.newCode).toMatchObject({ hasSign: true });
  });

  test("is not finished where the test itself misses a name", () => {
    const output = failing("counts", "ReferenceError: sum is not defined", "test/cart.test.ts:3:10");
    expect(preparedFor(NOW, output).input.newCode).toBeNull();
  });
});

describe("changes that only turn to new code", () => {
  const [isList, line] = [
    "export const isList = (x) => typeof x === 'object' && x.length > 1;",
    "  if (!Array.isArray(lines)) throw 1;",
  ];
  const changed = (to: string, now: string): FileDiff => ({
    ...added(to, now),
    change: "modified",
    hunks: [
      {
        oldStart: 2,
        newStart: 2,
        heading: "",
        lines: [
          { kind: "removed", text: line, line: 2 },
          { kind: "added", text: now, line: 2 },
        ],
      },
    ],
  });
  const usesWith = (now: string): ReadonlyMap<number, readonly number[]> => {
    const code = (text: string): string => `export function total(lines) {\n${text}\n}\n`;
    const texts: Texts = { "src/list.ts": isList, "src/cart.ts": code(now), "test/cart.test.ts": TESTS };
    const material = readBlameMaterial({
      output: failing("counts", "Error: 1"),
      root: "/app",
      diff: [added("src/list.ts", isList), changed("src/cart.ts", now)],
      paths: Object.keys(texts),
      textOf: (path) => texts[path] ?? null,
      textBefore: (path) => (path === "src/cart.ts" ? code(line) : path === "test/cart.test.ts" ? TESTS : null),
      coverage: [],
    });
    return prepareProof(material, rankBlame(material), { runs: 30, timeMs: 60_000 }).input.uses!;
  };

  test("are those to which nothing came but its name", () => {
    expect([...usesWith("  if (!isList(lines)) throw 1;")]).toEqual([[1, [0]]]);
    for (const other of [
      "  if (isList(lines)) throw 1;",
      "  if (!isList(line)) throw 1;",
      "  if (!isList(lines)) throw 2;",
      "  if (!Array.isArray(lines) || isList(lines)) throw 1;",
    ])
      expect([...usesWith(other)]).toEqual([]);
  });
});
