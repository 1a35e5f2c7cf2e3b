import { describe, expect, it } from "vitest";
import { readYaml } from "../../../src/parse/data/yaml-text.ts";
import { expectLinearCost } from "../../cpu-cost.ts";

const problems = (text: string) =>
  readYaml("f.yaml", text).problems.map(({ line, column, message, severity }) => ({ line, column, message, severity }));

describe("readYaml", () => {
  it("reads values and knows their locations in the whole file", () => {
    const text = "---\r\nlist:\r\n  - a\r\n  - { b: 2 }\r\n---\r\n";
    const yaml = readYaml("f.md", text, 5, text.length - 5);
    expect(yaml.value).toEqual({ list: ["a", { b: 2 }] });
    expect(yaml.problems).toEqual([]);
    expect(yaml.keyPlace(["list"])).toEqual({ file: "f.md", line: 2, column: 1, source: "list:", length: 4 });
    expect(yaml.valuePlace(["list", 1, "b"])).toEqual({
      file: "f.md",
      line: 4,
      column: 10,
      source: "  - { b: 2 }",
      length: 1,
    });
    expect(yaml.valuePlace(["list", 0])).toMatchObject({ line: 3, column: 5, length: 1 });
  });

  it("knows the nearest location of a missing value", () => {
    const yaml = readYaml("f.yaml", "a:\n  b: 1\n");
    expect(yaml.valuePlace(["a", "x", "y"])).toMatchObject({ line: 1, column: 1 });
    expect(readYaml("f.yaml", "").keyPlace(["x"])).toMatchObject({ line: 1, column: 1, length: 1 });
  });

  it.each([
    ["a tab for indentation", "a:\n\tb: 1\n", 2, 1],
    ["an open list", "a: [1\nb: 2\n", 2, 1],
    ["an open quote", "a: 'x\n", 1, 5],
    ["text that looks like a map", "a: b: c\n", 1, 4],
    ["a second document", "a: 1\n---\nb: 2\n", 2, 1],
    ["a key given twice", "a: 1\na: 2\n", 2, 1],
    ["an unknown alias", "a: *x\n", 1, 4],
  ])("knows the location of %s", (_what, text, line, column) => {
    expect(problems(text)[0]).toMatchObject({ line, column, severity: "error" });
  });

  it("continues after a duplicate key, and after an unknown tag", () => {
    expect(readYaml("f", "a: 1\na: 2\nb: 3\n").value).toEqual({ a: 2, b: 3 });
    const tagged = readYaml("f", "a: !secret x\n");
    expect(tagged.value).toEqual({ a: "x" });
    expect(tagged.problems).toMatchObject([{ severity: "warning", column: 4 }]);
  });

  it("follows an alias, and stops at too many", () => {
    expect(readYaml("f", "a: &x [1]\nb: *x\n").value).toEqual({ a: [1], b: [1] });
    const bomb = [
      "a0: &a0 [x, x]",
      ...Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`),
    ].join("\n");
    // Were the aliases followed first, their 2 to the power of 30 values would fill the memory.
    const read = readYaml("f", bomb);
    expect(read.value).toBeNull();
    expect(read.problems).toMatchObject([{ message: "more than 100 aliases are not read" }]);
    expect(readYaml("f", "a: &a [*a]\n").problems[0]).toMatchObject({ severity: "error" });
  });

  it("keeps `__proto__` as an ordinary key", () => {
    const { value } = readYaml("f", "__proto__: { polluted: true }\na: 1\n");
    expect(Object.keys(value as object)).toEqual(["__proto__", "a"]);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it.each([
    ["brackets", (n: number) => "a: " + "[".repeat(n)],
    ["closed brackets", (n: number) => "a: " + "[".repeat(n) + "]".repeat(n)],
    ["maps", (n: number) => "{a: ".repeat(n / 2)],
    ["lists in lists", (n: number) => "- ".repeat(n) + "a"],
    ["sixty levels", () => "a: " + "[".repeat(60) + "]".repeat(60)],
    ["a huge file", (n: number) => "a: " + "x".repeat(12 * n)],
    ["very many values", (n: number) => "- 1\n".repeat(n)],
  ])("refuses %s with a problem, at a cost in proportion to the text", (_what, textOf) => {
    expectLinearCost(100_000, (n) => {
      const text = textOf(n);
      return () => {
        const read = readYaml("f", text);
        expect(read.value).toBeNull();
        expect(read.problems.length).toBeGreaterThan(0);
        expect(read.problems.length).toBeLessThanOrEqual(20);
      };
    });
  });

  it("reads very many keys in a time that grows with them", () => {
    const keys = (count: number): string => Array.from({ length: count }, (_, i) => `k${i}: 1\n`).join("");
    expect(Object.keys(readYaml("f", keys(15_000)).value as object)).toHaveLength(15_000);
    expect(problems(`${keys(15_000)}k0: 2\n`)).toMatchObject([
      { line: 15_001, message: 'the key "k0" is given twice' },
    ]);
  });

  it("refuses a key that is not text, and shows no unreadable line", () => {
    expect(problems("? [a]\n: 1\nb: 2\n")).toMatchObject([{ line: 1, message: "a key must be plain text" }]);
    const long = readYaml("f", `a: "${"x".repeat(3000)}"\n`).valuePlace(["a"]);
    expect(long).toEqual({ file: "f", line: 1, column: 4 });
  });

  it("reads half a surrogate pair unchanged", () => {
    expect(readYaml("f", "a: \ud800\n").value).toEqual({ a: "\ud800" });
  });
});
