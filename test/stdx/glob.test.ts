import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchesAnyGlob, matchesGlob } from "../../src/stdx/glob.ts";
import { expectLinearCost } from "../cpu-cost.ts";

describe("matchesGlob", () => {
  it.each([
    ["src/a.ts", "src/a.ts", true],
    ["src/a.ts", "src/b.ts", false],
    ["src/a.ts", "src/*.ts", true],
    ["src/deep/a.ts", "src/*.ts", false],
    ["src/deep/a.ts", "src/**/*.ts", true],
    ["src/a.ts", "src/**/*.ts", true],
    ["a.ts", "**/*.ts", true],
    ["x/y/z/a.ts", "**/*.ts", true],
    ["src/a.tsx", "**/*.ts", false],
    ["src/deep/a", "src/**", true],
    ["src", "src/**", false],
    ["src/a.ts", "**", true],
    ["mysrc/a.ts", "**/src/**", false],
    ["my/src/a.ts", "**/src/**", true],
    ["src/a.ts", "src/?.ts", true],
    ["src/ab.ts", "src/?.ts", false],
    ["src//ts", "src/?ts", false],
    ["test/a.ts", "**/{test,spec}/**", true],
    ["spec/a.ts", "**/{test,spec}/**", true],
    ["specs/a.ts", "**/{test,spec}/**", false],
    ["a.test.ts", "**/*.{test,spec}.*", true],
    ["a{b", "a{b", true],
    ["a.b", "a?b", true],
    ["a+b", "a+b", true],
    ["aab", "a+b", false],
    ["a.ts", "", false],
    ["", "", true],
    ["", "**", true],
    ["README.md", "**/*.md", true],
    ["docs/LICENSE", "**/LICENSE", true],
  ])("%s against %s: %s", (path, pattern, matches) => {
    expect(matchesGlob(path, pattern)).toBe(matches);
  });

  it("reads brackets literally, because files have such names", () => {
    expect(matchesGlob("pages/[id].tsx", "pages/[id].tsx")).toBe(true);
    expect(matchesGlob("pages/[id].tsx", "pages/*.tsx")).toBe(true);
    expect(matchesGlob("pages/i.tsx", "pages/[id].tsx")).toBe(false);
  });

  it("any of several", () => {
    expect(matchesAnyGlob("a.md", ["*.ts", "*.md"])).toBe(true);
    expect(matchesAnyGlob("a.md", ["*.ts"])).toBe(false);
    expect(matchesAnyGlob("a.md", [])).toBe(false);
  });

  it("matches a path without wild cards with itself and with no other", () => {
    const plain = fc.stringMatching(/^[a-z./]{0,12}$/);
    fc.assert(fc.property(plain, plain, (path, other) => matchesGlob(path, other) === (path === other)));
  });

  it.each([
    ["stars", "*a".repeat(100), (n: number) => "a".repeat(n) + "b"],
    ["double stars", "**/".repeat(100) + "x", (n: number) => "a/".repeat(n / 2) + "b"],
    ["stars and folders", "**/*".repeat(50), (n: number) => "a/".repeat(n / 2)],
  ])("costs in proportion to the path, whatever the pattern is: %s", (_name, pattern, pathOf) => {
    expectLinearCost(8000, (n) => {
      const path = pathOf(n);
      return () => matchesGlob(path, pattern);
    });
  });

  it("takes time in proportion to the pattern, not to its alternatives", () => {
    expectLinearCost(400, (n) => () => matchesGlob("a".repeat(n), "{a,b}".repeat(n)));
  });
});
