import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { markdown, type MarkdownBlock } from "../../../src/views/text/markdown.ts";

const inline = (text: string) => {
  const [block] = markdown(text);
  return block?.type === "paragraph" ? block.inline : [];
};

describe("markdown", () => {
  it("parses the syntax of stories and briefs", () => {
    const blocks = markdown(
      [
        "# Title",
        "",
        "Some",
        "words",
        "",
        "- [ ] one",
        "  - [x] two",
        "1. three",
        "",
        "> said",
        "---",
        "```js",
        "a < b",
        "```",
      ].join("\n"),
    );
    expect(blocks.map(({ type }) => type)).toEqual(["heading", "paragraph", "list", "quote", "rule", "code"]);
    expect(blocks[1]).toEqual({ type: "paragraph", inline: [{ type: "text", text: "Some\nwords" }] });
    expect(blocks[2]).toMatchObject({
      items: [{ ticked: false, depth: 0 }, { ticked: true, depth: 1 }, { ticked: null }],
    });
    expect(blocks[5]).toEqual({ type: "code", info: "js", text: "a < b" });
  });

  it("parses marks within a line, and keeps other text unchanged", () => {
    expect(inline("a `b` **c** *d* 2 * 3 * 4")).toEqual([
      { type: "text", text: "a " },
      { type: "code", text: "b" },
      { type: "text", text: " " },
      { type: "strong", text: "c" },
      { type: "text", text: " " },
      { type: "em", text: "d" },
      { type: "text", text: " 2 * 3 * 4" },
    ]);
  });

  it("links only to the web", () => {
    expect(inline("[x](https://a.example/b)")).toEqual([{ type: "link", text: "x", href: "https://a.example/b" }]);
    for (const href of [
      "javascript:alert(1)",
      "data:text/html,x",
      "file:///etc/passwd",
      "//a.example",
      "/story/x",
      " https://x y",
    ])
      expect(inline(`[x](${href})`).some(({ type }) => type === "link")).toBe(false);
    expect(inline("<b onclick=alert(1)>x</b>")).toEqual([{ type: "text", text: "<b onclick=alert(1)>x</b>" }]);
  });

  it("an unclosed fence extends to the end", () => {
    expect(markdown("~~~\nx\n```\ny")).toEqual([{ type: "code", info: "", text: "x\n```\ny" }]);
  });

  it("parses any text without losing a word, and terminates", () => {
    const pieces = fc.constantFrom(
      "# ",
      "- ",
      "> ",
      "```",
      "\n",
      "\n\n",
      "*",
      "**",
      "`",
      "word",
      "[a](https://b)",
      "1. ",
      "<i>",
      "  ",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
        const text = parts.join("");
        const words = (source: string): number => source.split("word").length - 1;
        expect(words(JSON.stringify(markdown(text).map(plain)))).toBe(words(text));
      }),
    );
  });
});

/** The text of a block. */
function plain(block: MarkdownBlock): string {
  if (block.type === "code") return block.info + block.text;
  if (block.type === "rule") return "";
  if (block.type === "list") return block.items.map((item) => item.inline.map(({ text }) => text).join("")).join("\n");
  return block.inline.map(({ text }) => text).join("");
}
