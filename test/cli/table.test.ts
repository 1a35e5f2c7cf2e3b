import { describe, expect, test } from "vitest";
import { type Output, tableLines } from "../../src/cli/table.ts";
import { fitText, textWidth, wrapText } from "../../src/stdx/plain-text.ts";

const terminal = (columns: number, more: Partial<Output> = {}): Output => ({
  terminal: true,
  columns: () => columns,
  color: false,
  env: {},
  ...more,
});
const pipe: Output = { ...terminal(20), terminal: false };
const COLUMNS = [
  { title: "STORY", least: 6 },
  { title: "SPENT", align: "right" as const },
  { title: "WHAT", least: 20 },
  { title: "GATES", extra: 2 },
  { title: "QUESTION", extra: 1 },
];
const ROWS = [
  ["billing-export", "$0.62", "which separator does the importer want for decimals?", "checks ok", "esc-1"],
  ["表を書く", "", "幅の広い文字と絵文字 👩 を含む長い題名がここにあります", "", ""],
];

describe("a table", () => {
  test.each([40, 60, 80, 120, 200])("prints one line per row within %i columns", (columns) => {
    const lines = tableLines(terminal(columns), COLUMNS, ROWS);
    expect(lines).toHaveLength(3);
    for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(columns);
    const at = lines.map((line) => textWidth(line.slice(0, line.search(/WHAT|which|幅/))));
    expect(new Set(at).size).toBe(1);
  });

  test("leaves out the least important column first, and cuts texts after that", () => {
    expect(tableLines(terminal(120), COLUMNS, ROWS)[0]).toMatch(/^STORY +SPENT {2}WHAT +GATES +QUESTION$/);
    expect(tableLines(terminal(50), COLUMNS, ROWS)[0]).toMatch(/^STORY +SPENT {2}WHAT +QUESTION$/);
    expect(tableLines(terminal(40), COLUMNS, ROWS)[0]).toMatch(/^STORY +SPENT {2}WHAT$/);
    expect(tableLines(terminal(40, { env: { TERM: "dumb" } }), COLUMNS, ROWS)[1]).toContain("...");
  });

  test("is not cut in a pipe, and prints a dash for an empty cell", () => {
    const lines = tableLines(pipe, COLUMNS, ROWS);
    expect(lines[1]).toContain("which separator does the importer want for decimals?");
    expect(lines[2]).toMatch(/^表を書く +- {2}.* {2}- +-$/);
  });

  test("paints words, never the gaps", () => {
    const rows = [[{ text: "a", paint: "warn" as const }, "1", "", "", ""]];
    expect(tableLines(terminal(80, { color: true }), COLUMNS, rows)[1]).toBe("\u001b[33ma\u001b[39m          1");
  });
});

test("texts are cut and wrapped by their width in terminal cells", () => {
  expect(textWidth("e\u0301")).toBe(1);
  expect(textWidth("表👩")).toBe(4);
  expect(fitText("表を書く", 5)).toBe("表を…");
  expect(wrapText("one two three", 7)).toEqual(["one two", "three"]);
  expect(wrapText("表を書く人", 4)).toEqual(["表を", "書く", "人"]);
});
