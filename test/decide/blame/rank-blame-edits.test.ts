import { describe, expect, test } from "vitest";
import type { ChangedHunk, CodeFile } from "../../../src/core/blame/change.ts";
import { editKind, tokensOf, type EditKind } from "../../../src/decide/blame/edits.ts";
import { readSymbols } from "../../../src/parse/code/symbols.ts";

const HEAD = ["const limit = 3;", "function work(value, items) {", "  const rate = 2;"];
const TAIL = ["  return rate;", "}"];

/** One change of lines in the middle of a function, and what kind of edit it is. */
function kindOf(
  removed: readonly string[],
  added: readonly string[],
  path = "src/a.ts",
  changes: Partial<ChangedHunk> = {},
): EditKind {
  const fileOf = (lines: readonly string[]): CodeFile => ({
    path,
    isTest: false,
    imports: [],
    ...readSymbols([...HEAD, ...lines, ...TAIL].join("\n"), path),
  });
  const start = HEAD.length + 1;
  const hunk: ChangedHunk = {
    id: 0,
    file: path,
    oldFile: path,
    change: "modified",
    isBinary: false,
    start,
    end: start + Math.max(1, added.length) - 1,
    oldStart: start,
    oldEnd: start + removed.length - 1,
    removed,
    added,
    ...changes,
  };
  return editKind(
    hunk,
    { removed: tokensOf(removed, path), added: tokensOf(added, path) },
    fileOf(added),
    fileOf(removed),
  );
}

describe("kinds of edits", () => {
  test.each<[string, readonly string[], readonly string[], string?]>([
    ["a comment", [], ["  // why"]],
    ["a comment over several lines", ["  go();"], ["  /**", "   * why", "   */", "  go();"]],
    ["layout", ["  go(value,items);"], ["  go(", "    value,", "    items,", "  );"]],
    ["a comment in Python", ["    go()"], ["    # why", "    go()"], "a.py"],
  ])("neutral: %s", (_name, removed, added, path) => {
    expect(kindOf(removed, added, path).isNeutral).toBe(true);
  });

  test.each<[string, readonly string[], readonly string[]]>([
    ["braces around a guard", ["  if (value) return 1;"], ["  if (value) {", "    return 1;", "  }"]],
    ["a mirrored comparison", ["  if (value > limit) return 1;"], ["  if (limit < value) return 1;"]],
    ["a value that got a name", ["  return value * 2;"], ["  const doubled = value * 2;", "  return doubled;"]],
    ["a name that was taken away", ["  const doubled = value * 2;", "  return doubled;"], ["  return value * 2;"]],
    ["a number written otherwise", ["  go(100);"], ["  go(1e2);"]],
    ["one more, in two ways", ["  value++;"], ["  value += 1;"]],
    ["a type", ["type A = string;"], ["type A = string | number;"]],
  ])("restated: %s", (_name, removed, added) => {
    expect(kindOf(removed, added)).toMatchObject({ isRestated: true, isNeutral: false });
  });

  test.each<[string, readonly string[], readonly string[]]>([
    ["a comparison turned round", ["  if (value > limit) return 1;"], ["  if (value < limit) return 1;"]],
    [
      "two names for one value",
      ["  const doubled = value * 2;", "  return doubled + doubled;"],
      ["  return value * 2;"],
    ],
    ["arguments swapped", ["  go(value, items, 1);"], ["  go(items, value, 1);"]],
    ["Python's division is no comment", ["    return rate // 2"], ["    return rate // 3"]],
  ])("not restated: %s", (name, removed, added) => {
    expect(kindOf(removed, added, name.startsWith("Python") ? "a.py" : "a.ts")).toMatchObject({
      isRestated: false,
      isNeutral: false,
      isRename: false,
    });
  });

  test("a rename leaves nothing of the old name, and the new one is new", () => {
    expect(kindOf(["  go(amount);"], ["  go(quantity);"])).toMatchObject({ isRename: true, isFresh: false });
    expect(kindOf(["  go(value);"], ["  go(quantity);"]).isRename).toBe(false);
    expect(kindOf(["  go(amount);"], ["  go(rate);"]).isRename).toBe(false);
    expect(kindOf(["    go(flag=True)"], ["    go(flag=False)"], "a.py").isRename).toBe(false);
    expect(kindOf(["  go(amount, amount);"], ["  go(quantity, number);"]).isRename).toBe(false);
  });

  test("edits that only use new names are recognized", () => {
    expect(kindOf(["  go(value);"], ["  go(value, options = {});"]).isFresh).toBe(true);
    expect(kindOf(["  go(value);"], ["  go(value, rate);"]).isFresh).toBe(false);
    expect(kindOf(["  go(value);"], ["  go(value + 1);"]).isFresh).toBe(false);
  });

  test("likely mistakes are small edits of operators, numbers, strings and short words", () => {
    expect(kindOf(["  if (value < limit) go();"], ["  if (value <= limit) go();"])).toMatchObject({
      isSlipLike: true,
      small: 1,
    });
    expect(kindOf(["  await go();"], ["  go();"])).toMatchObject({ isSlipLike: true, small: 1 });
    expect(kindOf(["  go(value);"], ["  stop(items);"]).isSlipLike).toBe(false);
    expect(kindOf(["  one();"], ["  two(three, four, five, six, seven, eight);"]).small).toBeLessThan(0.4);
  });

  test("recognizes removed lines, added lines, new parts and imports", () => {
    expect(kindOf(["  if (!value) return 0;"], [])).toMatchObject({ isRemoval: true, isInsertion: false });
    expect(kindOf([], ["  if (!value) return 0;"])).toMatchObject({ isInsertion: true, isNew: false });
    expect(kindOf([], ["function other() {", "  return 1;", "}"])).toMatchObject({ isNew: true, isInsertion: false });
    expect(kindOf([], ["go();"], "src/a.ts", { change: "added" }).isNew).toBe(true);
    expect(kindOf(['import a from "a";'], ['import b from "b";']).isImport).toBe(true);
  });

  test("recognizes documents and data by their names", () => {
    expect(kindOf(["a"], ["b"], "docs/a.md")).toMatchObject({ isDocument: true, isData: false });
    expect(kindOf(["a"], ["b"], "config/a.yaml")).toMatchObject({ isDocument: false, isData: true });
    expect(kindOf(["a"], ["b"], "package-lock.json")).toMatchObject({ isDocument: true, isData: false });
    for (const path of [".github/workflows/ci.yml", ".gitignore", "sub/.editorconfig", "renovate.json"])
      expect(kindOf(["a: 1"], ["a: 2"], path)).toMatchObject({ isDocument: true, isData: false });
    expect(kindOf(["a"], ["b"], ".cargo/config.toml")).toMatchObject({ isDocument: false, isData: true });
  });
});
