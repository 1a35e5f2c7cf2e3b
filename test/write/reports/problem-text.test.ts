import { describe, expect, it } from "vitest";
import type { Problem } from "../../../src/core/events/error.ts";
import { problemText } from "../../../src/write/reports/problem-text.ts";

const problem: Problem = {
  file: "remand.yaml",
  line: 7,
  column: 3,
  message: 'unknown key "presett"',
  hint: 'did you mean "preset"?',
  severity: "error",
  source: "  presett: goal",
  length: 7,
};
const plain = (changes: Partial<Problem>): string[] =>
  problemText({ ...problem, ...changes }, { color: false }).split("\n");

describe("problemText", () => {
  it("shows the location, the line and a caret below the error", () => {
    expect(plain({})).toEqual([
      'remand.yaml:7:3: error: unknown key "presett"',
      "  7 |   presett: goal",
      "    |   ^^^^^^^",
      '  did you mean "preset"?',
    ]);
  });

  it("works without a line and without a hint", () => {
    const { source: _source, length: _length, ...bare } = problem;
    expect(problemText({ ...bare, hint: "", severity: "warning" }, { color: false })).toBe(
      'remand.yaml:7:3: warning: unknown key "presett"',
    );
  });

  it("keeps the caret in the right column after tabs, wide characters and control characters", () => {
    expect(plain({ line: 12, source: "\tx: 日本\u001b[31m y", column: 4, length: 2 }).slice(1, 3)).toEqual([
      "  12 |  x: 日本\uFFFD[31m y",
      "     |    ^^^",
    ]);
    expect(plain({ source: "日本: x", column: 5, length: 1 })[2]).toBe("    |       ^");
    expect(plain({ source: "、。: x", column: 5, length: 1 })[2]).toBe("    |       ^");
    expect(plain({ source: "a", column: 9, length: 0 })[2]).toBe("    |  ^");
  });

  it("prints code without backticks on a terminal", () => {
    expect(plain({ message: "`a` is wrong", hint: "Run `remand init`; a single ` stays" })).toMatchObject({
      0: "remand.yaml:7:3: error: a is wrong",
      3: "  Run remand init; a single ` stays",
    });
  });

  it("passes no control codes of the file to the terminal", () => {
    const shown = plain({ file: "a\u001b]0;x\u0007.md", message: "\u001b[2J\n\u202e", hint: "\u0000" }).join("");
    expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  });

  it("colors where colors are wanted", () => {
    expect(problemText(problem, { color: true })).toContain("\u001b[31merror:\u001b[39m");
  });
});
