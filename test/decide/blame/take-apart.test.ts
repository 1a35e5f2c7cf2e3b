import { describe, expect, test } from "vitest";
import type { BlameMaterial, ChangedHunk } from "../../../src/core/blame/change.ts";
import { boundBy, filesWithout } from "../../../src/decide/blame/files-without.ts";
import { changesByFunction, isHalf, partsOf, withParts } from "../../../src/decide/blame/parts.ts";
import { renamesOf } from "../../../src/decide/blame/renames.ts";
import { companionsOf } from "../../../src/decide/blame/triage.ts";
import { readBlameMaterial } from "../../../src/parse/code/failure-material.ts";

type Texts = Readonly<Record<string, string>>;

/** Both states have the same lines at the same places: each line that differs is a hunk. */
function materialOf(before: Texts, now: Texts): BlameMaterial {
  const diff = Object.keys(now).map((path) => {
    const [old, fresh] = [before[path]!.split("\n"), now[path]!.split("\n")];
    const hunks = old.flatMap((line, at) =>
      line === fresh[at]
        ? []
        : [
            {
              oldStart: at + 1,
              newStart: at + 1,
              heading: "",
              lines: [
                { kind: "removed" as const, text: line, line: at + 1 },
                { kind: "added" as const, text: fresh[at]!, line: at + 1 },
              ],
            },
          ],
    );
    return { change: "modified" as const, path, oldPath: path, isBinary: false, hunks };
  });
  const sources = { output: "", root: "/app", paths: Object.keys(now) };
  return readBlameMaterial({
    ...sources,
    diff,
    textOf: (path) => now[path] ?? null,
    textBefore: (path) => before[path] ?? null,
  });
}

const SUM = {
  "src/sum.js": [
    "export function sum(items, rate) {",
    "  let total = 0;",
    "  for (const item of items) {",
    "    total += item.cents * rate;",
    "  }",
    "  return Math.round(total);",
    "}",
    "",
  ].join("\n"),
};
const RENAMED = {
  "src/sum.js": SUM["src/sum.js"]
    .replaceAll("total", "result")
    .replace("result += item.cents * rate", "result += item.cents + rate"),
};

const without = (before: Texts, now: Texts, ...ids: number[]): Record<string, string | null> => {
  const material = materialOf(before, now);
  return Object.fromEntries(
    filesWithout(
      material.hunks,
      new Set(ids),
      (path) => now[path] ?? null,
      (path) => before[path] ?? null,
      renamesOf(material),
    ),
  );
};

describe("a rename with a mistake in it", () => {
  test("the line with the mistake is reverted, but keeps the new name", () => {
    const [slip] = Object.values(without(SUM, RENAMED, 1));
    expect(slip).toBe(SUM["src/sum.js"].replaceAll("total", "result"));
  });

  test("the name is reverted too if all lines with it are", () => {
    expect(without(SUM, RENAMED, 0, 1, 2)).toEqual(SUM);
  });

  test("the mistake alone on the base brings the name with it", () => {
    const [alone] = Object.values(without(SUM, RENAMED, 0, 2));
    expect(alone).toBe(RENAMED["src/sum.js"]);
  });

  test("no longer connects its hunks", () => {
    const material = materialOf(SUM, RENAMED);
    expect(companionsOf(material).size).toBe(3);
    expect(companionsOf(material, renamesOf(material)).size).toBe(0);
  });

  test("in several files is one rename", () => {
    const before = { "a.js": "export function first(x) {\n  return x;\n}\n", "b.js": "first(1);\nfirst(2);\n" };
    const now = { "a.js": before["a.js"].replace("first", "head"), "b.js": "head(1);\nhead(20);\n" };
    expect(renamesOf(materialOf(before, now)).map(({ from, to, hunks }) => [from, to, hunks])).toEqual([
      ["first", "head", [0, 1, 2]],
      ["first", "head", [0, 1, 2]],
    ]);
    expect(without(before, now, 2)["b.js"]).toBe("head(1);\nhead(2);\n");
  });

  test("a call of another function is not a rename, and strings are unchanged", () => {
    const before = { "a.js": "a(Math.min(1, 2));\nb(Math.min(3, 4));\n" };
    const now = { "a.js": before["a.js"].replaceAll("min", "max") };
    expect(renamesOf(materialOf(before, now))).toEqual([]);
    const quoted = { "a.js": 'let total = 1;\nlog("total", total);\n' };
    const fresh = { "a.js": 'let result = 1;\nlog("total", result, 2);\n' };
    expect(without(quoted, fresh, 1)["a.js"]).toBe('let result = 1;\nlog("total", result);\n');
  });
});

const HUNK: ChangedHunk = {
  id: 0,
  file: "src/a.js",
  oldFile: "src/a.js",
  change: "modified",
  isBinary: false,
  oldStart: 10,
  oldEnd: 12,
  start: 10,
  end: 14,
  removed: ["  const low = limit - 1;", "  check(low);", "  return low;"],
  added: ["  const low = limit - 2;", "  if (low < 0) {", "    return 0;", "  }", "  return low + extra;"],
};

describe("parts of a hunk", () => {
  test("are each line with its old version, and each statement", () => {
    const parts = partsOf(HUNK, 7);
    expect(
      parts.map(({ id, start, end, oldStart, removed, added }) => [id, start, end, oldStart, removed, added]),
    ).toEqual([
      [7, 10, 10, 10, [HUNK.removed[0]], [HUNK.added[0]]],
      [8, 11, 11, 11, [HUNK.removed[1]], []],
      [9, 11, 13, 12, [], HUNK.added.slice(1, 4)],
      [10, 14, 14, 12, [HUNK.removed[2]], [HUNK.added[4]]],
    ]);
  });

  test("do not exist for a single line", () => {
    expect(partsOf({ ...HUNK, removed: ["a"], added: [] }, 1)).toEqual([]);
    expect(partsOf({ ...HUNK, removed: ["a = 1"], added: ["a = 2"] }, 1)).toEqual([]);
  });

  test("of a new function are its head, its statements and its end", () => {
    const added = [
      "func copyConf(r conf) conf {",
      "\tc := r",
      "",
      "\tfor _, m := range r.all {",
      "\t\tc.all = append(c.all, m)",
      "\t}",
      "\treturn c",
      "}",
    ];
    const parts = partsOf({ ...HUNK, file: "a.go", removed: [], added }, 1);
    expect(parts.map((part) => part.added.length)).toEqual([1, 1, 4, 1, 1]);
    expect(parts.map(isHalf)).toEqual([true, false, false, false, true]);
  });

  test("can each be reverted alone", () => {
    const [old, now] = [
      `${"x\n".repeat(9)}${HUNK.removed.join("\n")}\ny\n`,
      `${"x\n".repeat(9)}${HUNK.added.join("\n")}\ny\n`,
    ];
    const parts = new Map([[0, partsOf(HUNK, 1)]]);
    const taken = (...ids: number[]): string => {
      const out = new Set(ids);
      const mixed = filesWithout(
        withParts([HUNK], parts, out),
        out,
        () => now,
        () => old,
      );
      return mixed.get("src/a.js")!.slice("x\n".repeat(9).length);
    };
    const line = (lines: readonly string[]): string => `${lines.join("\n")}\ny\n`;
    expect(taken(1)).toBe(line([HUNK.removed[0]!, ...HUNK.added.slice(1)]));
    expect(taken(2)).toBe(line([HUNK.added[0]!, HUNK.removed[1]!, ...HUNK.added.slice(1)]));
    expect(taken(3)).toBe(line([HUNK.added[0]!, HUNK.added[4]!]));
    expect(taken(1, 2, 3, 4)).toBe(line(HUNK.removed));
    expect(taken(0)).toBe(line(HUNK.removed));
    expect(taken()).toBe(line(HUNK.added));
  });

  test("all changes of a function belong together", () => {
    expect(Object.fromEntries(changesByFunction(materialOf(SUM, RENAMED)))).toEqual({
      0: [0, 1, 2],
      1: [0, 1, 2],
      2: [0, 1, 2],
    });
  });
});

test("messages of a build name the changes at their lines, and those that bring or drop a name", () => {
  const hunk = (id: number, oldStart: number, removed: string[], start: number, added: string[]): ChangedHunk => ({
    ...HUNK,
    id,
    oldStart,
    oldEnd: oldStart + removed.length - 1,
    removed,
    start,
    end: start + added.length - 1,
    added,
  });
  const hunks = [
    hunk(0, 2, [], 2, ["function helper() {", "}"]),
    hunk(1, 5, ["old();"], 7, ["helper();"]),
    hunk(2, 9, ["a();"], 11, ["b();"]),
  ];
  const at = (line: number, message: string) => [{ file: HUNK.file, line, message }];
  // Without the first hunk, what was line 7 is line 5.
  expect(boundBy(hunks, new Set([0]), at(5, "x"))).toEqual({ kept: [1], taken: [] });
  expect(boundBy(hunks, new Set([0]), at(1, "undefined: helper"))).toEqual({ kept: [1], taken: [0] });
  expect(boundBy(hunks, new Set([1]), at(7, "undefined: old"))).toEqual({ kept: [], taken: [1] });
  expect(boundBy(hunks, new Set([1]), at(4, "no such name"))).toBeNull();
});
