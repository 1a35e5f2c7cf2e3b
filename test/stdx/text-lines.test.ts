import { describe, expect, it } from "vitest";
import { markdownLines } from "../../src/stdx/text-lines.ts";

const kinds = (text: string): string[] =>
  [...markdownLines(text)].map(
    (line) => `${line.number} ${line.kind} ${line.kind === "heading" ? `${line.level} ${line.title}` : line.text}`,
  );

describe("markdownLines", () => {
  it("distinguishes headings from lines that only look like one", () => {
    expect(kinds("# A\r\n## B ##\n###\n#no\n####### no\n    # no\n   # C #x\n# D##\n")).toEqual([
      "1 heading 1 A",
      "2 heading 2 B",
      "3 heading 3 ",
      "4 text #no",
      "5 text ####### no",
      "6 text     # no",
      "7 heading 1 C #x",
      "8 heading 1 D##",
    ]);
  });

  it("knows code by its fence, and where it ends", () => {
    expect(
      kinds("````md\n```\n# a\n`````\n# b\n~~~\n```\n~~~\n``` not `a` fence\n```\n# open to the end").map((line) =>
        line.split(" ").slice(0, 2).join(" "),
      ),
    ).toEqual([
      "1 code",
      "2 code",
      "3 code",
      "4 code",
      "5 heading",
      "6 code",
      "7 code",
      "8 code",
      "9 text",
      "10 code",
      "11 code",
    ]);
  });

  it("knows comments, of one line and of many", () => {
    expect(kinds("<!-- a -->\nb\n<!--\n# c\n-->\nd").map((line) => line.split(" ")[1])).toEqual([
      "comment",
      "text",
      "comment",
      "comment",
      "comment",
      "text",
    ]);
  });

  it("gives offsets that cut the line out of the text", () => {
    const text = "skip\n# A\r\nb";
    for (const line of markdownLines(text, 5)) expect(text.slice(line.start, line.end)).toBe(line.text);
    expect([...markdownLines(text, 5)].map((line) => line.text)).toEqual(["# A", "b"]);
  });
});
