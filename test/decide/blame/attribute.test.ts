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

describe("the step that added lines", () => {
  test("is the one that wrote them, even if later ones changed the file", () => {
    const steps = [[hunk(10, 1, 1)], [hunk(40, 1, 1)]];
    expect(stepOf({ file: "a.js", line: 10 }, steps)).toBe(0);
    expect(stepOf({ file: "a.js", line: 40 }, steps)).toBe(1);
  });

  test("is found when other lines were added above them", () => {
    const steps = [[hunk(10, 0, 2)], [hunk(3, 0, 5)], [hunk(1, 2, 0)]];
    expect(stepOf({ file: "a.js", line: 13, endLine: 14 }, steps)).toBe(0);
    expect(stepOf({ file: "a.js", line: 2 }, steps)).toBe(1);
    expect(stepOf({ file: "a.js", line: 20 }, steps)).toBeNull();
  });

  test("is the last one if several steps wrote them", () => {
    expect(stepOf({ file: "a.js", line: 10 }, [[hunk(10, 0, 1)], [hunk(10, 1, 1)]])).toBe(1);
  });

  test("is found when the file was renamed", () => {
    const steps = [[hunk(5, 0, 1, { file: "old.js", oldFile: "old.js" })], [hunk(1, 1, 1, { oldFile: "old.js" })]];
    expect(stepOf({ file: "a.js", line: 5 }, steps)).toBe(0);
  });

  test("is found by position for deleted lines", () => {
    expect(stepOf({ file: "a.js", line: 7 }, [[hunk(7, 2, 0)], [hunk(30, 1, 1)]])).toBe(0);
    expect(stepOf({ file: "b.js", line: 7 }, [[hunk(7, 2, 0)]])).toBeNull();
  });
});
