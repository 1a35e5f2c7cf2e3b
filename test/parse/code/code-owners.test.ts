import { describe, expect, test } from "vitest";
import { ownerText, ownersOf, readCodeOwners } from "../../../src/core/gates/code-owners.ts";

const owners = (text: string, path: string): string[] => ownersOf(readCodeOwners(text), path).map(ownerText);

describe("CODEOWNERS", () => {
  test.each([
    ["*", "a/b.js", true],
    ["*.js", "a/b.js", true],
    ["*.js", "a/b.jsx", false],
    ["test", "a/test/b.js", true],
    ["test/", "a/test/b.js", true],
    ["test/", "test", false],
    ["/test/", "a/test/b.js", false],
    ["/test", "test/deep/b.js", true],
    ["test/rates.test.js", "a/test/rates.test.js", false],
    ["docs/*", "docs/a.md", true],
    ["docs/*", "docs/deep/a.md", false],
    ["/*", "a.md", true],
    ["/*", "docs/a.md", false],
    ["**/logs", "build/logs/a.txt", true],
    ["a/**/b", "a/b", true],
    ["a/**/b", "a/x/y/b/c.js", true],
    ["a/**", "a/x/y.js", true],
    ["a/**", "a", false],
    ["te??/a.js", "test/a.js", true],
    ["Test/a.js", "test/a.js", false],
    ["{a,b}.js", "a.js", false],
    ["{a,b}.js", "{a,b}.js", true],
    ["a**.js", "a/b.js", false],
    ["/", "a.js", false],
  ])("%s of %s: %s", (pattern, path, expected) => {
    expect(owners(`${pattern} @ada`, path)).toEqual(expected ? ["@ada"] : []);
  });

  test("only the last matching pattern counts, and a pattern without owners removes them", () => {
    const text = "* @org/all\ntest/ @ada ben@example.org # an inline comment @eve\ntest/free/\n";
    expect(owners(text, "src/a.js")).toEqual(["@org/all"]);
    expect(owners(text, "test/a.js")).toEqual(["@ada", "ben@example.org"]);
    expect(owners(text, "test/free/a.js")).toEqual([]);
  });

  test("spaces of a path are escaped; comments, empty and invalid lines are skipped", () => {
    const text = "# * @eve\r\n\r\nmy\\ test/ @ada\r\n!my\\ test/ @eve\r\n[a-z]* @eve\r\nmy\\ test/ eve\r\n";
    expect(readCodeOwners(text)).toEqual([{ pattern: "my test/", owners: [{ kind: "person", name: "ada" }] }]);
    expect(owners(text, "my test/a.js")).toEqual(["@ada"]);
  });
});
