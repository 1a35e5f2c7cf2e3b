import { describe, expect, it } from "vitest";
import type { ShownLine } from "../../src/views/story/diff-document.ts";
import { changedWords, pairLines, wordDiff } from "../../web/src/word-diff.ts";

const line = (kind: ShownLine["kind"], number: number, text: string): ShownLine => ({
  kind,
  line: number,
  text,
  attempt: null,
  findings: [],
  blames: [],
});

describe("a line that was changed", () => {
  it("shows the words that differ", () => {
    expect(wordDiff("const wait = 100 * tries;", "const wait = 200 * tries;")).toEqual([
      [
        { text: "const wait = ", isChanged: false },
        { text: "100", isChanged: true },
        { text: " * tries;", isChanged: false },
      ],
      [
        { text: "const wait = ", isChanged: false },
        { text: "200", isChanged: true },
        { text: " * tries;", isChanged: false },
      ],
    ]);
  });

  it("is treated as another line if little is the same", () => {
    expect(wordDiff("return a;", "throw new Error(message)")).toEqual([
      [{ text: "return a;", isChanged: false }],
      [{ text: "throw new Error(message)", isChanged: false }],
    ]);
  });

  it("is shown next to the line that it replaces", () => {
    const [same, old, one, two] = [
      line("same", 1, "a"),
      line("removed", 2, "let b = 1;"),
      line("added", 2, "let b = 2;"),
      line("added", 3, "let c = 3;"),
    ];
    expect(pairLines([same, old, one, two])).toEqual([
      { old: same, new: same },
      { old, new: one },
      { old: null, new: two },
    ]);
    expect([...changedWords([same, old, one, two]).keys()]).toEqual([old, one]);
  });
});
