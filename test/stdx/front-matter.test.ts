import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findFrontMatter, lineEndOf } from "../../src/stdx/text-lines.ts";

function parts(text: string): string[] {
  const found = findFrontMatter(text);
  if (found.kind !== "closed") return [found.kind, text.slice(found.bodyStart)];
  return [text.slice(found.yamlStart, found.yamlEnd), text.slice(found.bodyStart)];
}

describe("findFrontMatter", () => {
  it.each([
    ["---\na: 1\n---\nbody", ["a: 1\n", "body"]],
    ["\uFEFF---\r\na: 1\r\n---\r\nbody\r\n", ["a: 1\r\n", "body\r\n"]],
    ["---  \na: 1\n---\t\n---\nmore", ["a: 1\n", "---\nmore"]],
    ["---\n---\n", ["", ""]],
    ["---\na: 1\n---", ["a: 1\n", ""]],
    ["---\na: |\n  ---\n---\nx", ["a: |\n  ---\n", "x"]],
    ["# T\n\n---\n\ntext\n---\n", ["none", "# T\n\n---\n\ntext\n---\n"]],
    ["", ["none", ""]],
    ["\uFEFF", ["none", ""]],
    ["----\na\n----\n", ["none", "----\na\n----\n"]],
    ["--- a\nb\n---\n", ["none", "--- a\nb\n---\n"]],
    ["---\na: 1\n", ["unterminated", "---\na: 1\n"]],
    ["---", ["unterminated", "---"]],
  ])("splits %j", (text, expected) => {
    expect(parts(text)).toEqual(expected);
  });

  it("finds the parts of any file", () => {
    fc.assert(
      fc.property(fc.string(), fc.boolean(), (body, bom) => {
        const text = `${bom ? "\uFEFF" : ""}---\nkey: value\n---\n${body}`;
        expect(parts(text)).toEqual(["key: value\n", body]);
      }),
    );
  });

  it("takes the line end of the first line", () => {
    expect([lineEndOf("a\r\nb\n"), lineEndOf("a\nb\r\n"), lineEndOf("a"), lineEndOf("\n")]).toEqual([
      "\r\n",
      "\n",
      "\n",
      "\n",
    ]);
  });
});
