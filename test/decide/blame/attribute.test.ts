import { describe, expect, test } from "vitest";
import type { ChangedHunk } from "../../../src/core/blame/change.ts";
import { stepOf } from "../../../src/decide/blame/outcome.ts";

/** A change of `a.js`: so many lines from there on became so many others. */
function hunk(start: number, removed: number, added: number, more: Partial<ChangedHunk> = {}): ChangedHunk {
  const lines = (count: number): string[] => Array.from({ length: count }, (_, at) => `line ${at}`);
  return {
    id: 0,
    file: "a.js",
    oldFile: "a.js",
    change: "modified",
    isBinary: false,
    start,
    end: start + Math.max(1, added) - 1,
    oldStart: start,
    oldEnd: start + removed - 1,
    removed: lines(removed),
    added: lines(added),
    ...more,
  };
}

describe("which step brought lines in", () => {
  test("the one that wrote them, though later ones changed the same file", () => {
    const steps = [[hunk(10, 1, 1)], [hunk(40, 1, 1)]];
    expect(stepOf({ file: "a.js", line: 10 }, steps)).toBe(0);
    expect(stepOf({ file: "a.js", line: 40 }, steps)).toBe(1);
  });

  test("lines are followed to where they stood before others were put above them", () => {
    const steps = [[hunk(10, 0, 2)], [hunk(3, 0, 5)], [hunk(1, 2, 0)]];
    expect(stepOf({ file: "a.js", line: 13, endLine: 14 }, steps)).toBe(0);
    expect(stepOf({ file: "a.js", line: 2 }, steps)).toBe(1);
    expect(stepOf({ file: "a.js", line: 20 }, steps)).toBeNull();
  });

  test("of lines that several steps wrote, the last one", () => {
    expect(stepOf({ file: "a.js", line: 10 }, [[hunk(10, 0, 1)], [hunk(10, 1, 1)]])).toBe(1);
  });

  test("a file is followed to its old name", () => {
    const steps = [[hunk(5, 0, 1, { file: "old.js", oldFile: "old.js" })], [hunk(1, 1, 1, { oldFile: "old.js" })]];
    expect(stepOf({ file: "a.js", line: 5 }, steps)).toBe(0);
  });

  test("lines that are gone are known by where they stood", () => {
    expect(stepOf({ file: "a.js", line: 7 }, [[hunk(7, 2, 0)], [hunk(30, 1, 1)]])).toBe(0);
    expect(stepOf({ file: "b.js", line: 7 }, [[hunk(7, 2, 0)]])).toBeNull();
  });
});
