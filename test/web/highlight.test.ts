import { describe, expect, it } from "vitest";
import type { ShownLine } from "../../src/views/story/diff-document.ts";
import { createHighlighter, highlightDiff, mergeParts } from "../../web/src/highlight.ts";

const kinds = (path: string, ...lines: string[]): string[] => {
  const highlight = createHighlighter(path);
  return lines.map((line) =>
    highlight(line)
      .filter(({ kind, text }) => kind !== "plain" || text.trim() === "never")
      .map(({ kind, text }) => `${kind} ${text}`)
      .join(" | "),
  );
};

describe("code in colors", () => {
  it.each([
    ["a.ts", 'const a = "x // \\" y"; // say', 'keyword const | string "x // \\" y" | comment // say'],
    ["a.go", "return 0x1F + 2.5e3", "keyword return | number 0x1F | number 2.5e3"],
    ["a.rs", "fn f<'a>(x: &'a str) {}", "keyword fn"],
    ["a.py", "def f(): # it's", "keyword def | comment # it's"],
    ["a.yaml", "color: '#fff' # c", "string '#fff' | comment # c"],
    ["a.yaml", "url: http://x/#top", ""],
    ["a.sql", "select 'it' -- no", "keyword select | string 'it' | comment -- no"],
    ["Dockerfile", "# from", "comment # from"],
    ["a.unknown", "const a = 1", ""],
    ["a.json", '{"a": true}', 'string "a" | keyword true'],
  ])("%s: %s", (path, line, expected) => {
    expect(kinds(path, line)).toEqual([expected]);
  });

  it("continues comments and strings that a line leaves open", () => {
    expect(kinds("a.js", "/* one", "two */ let", "`a", "b` + if")).toEqual([
      "comment /* one",
      "comment two */ | keyword let",
      "string `a",
      "string b` | keyword if",
    ]);
    expect(kinds("a.py", 'x = """a', 'b"""; None')).toEqual(['string """a', 'string b""" | keyword None']);
  });

  it("loses no character of any text", () => {
    const texts = ["'", '"', "`", "\\", "/*", "*/", "//", "#", "a", "9", " ", "é", "😀", "<!--"];
    for (const path of ["a.ts", "a.py", "a.sh", "a.html", "a.sql", "a.rs"]) {
      const highlight = createHighlighter(path);
      for (let seed = 1; seed < 400; seed++) {
        const line = Array.from({ length: 12 }, (_, at) => texts[(seed * (at + 3) * 7 + at * at) % texts.length]).join(
          "",
        );
        const tokens = highlight(line);
        expect(tokens.map(({ text }) => text).join("")).toBe(line);
      }
    }
  });

  it("highlights the old and the new text of a diff separately", () => {
    const line = (kind: ShownLine["kind"], text: string): ShownLine => ({
      kind,
      text,
      line: 1,
      attempt: null,
      findings: [],
      blames: [],
    });
    const lines = [line("removed", "/* open"), line("added", "let a"), line("same", "let b")];
    const [, added, same] = [...highlightDiff("a.ts", lines).values()];
    expect(added?.[0]).toEqual({ text: "let", kind: "keyword" });
    expect(same?.[0]).toEqual({ text: "let", kind: "keyword" });
  });

  it("splits tokens where changed words start and end", () => {
    const tokens = [
      { text: "let ", kind: "keyword" },
      { text: '"abc"', kind: "string" },
    ] as const;
    const parts = [
      { text: 'let "a', isChanged: false },
      { text: "b", isChanged: true },
      { text: 'c"', isChanged: false },
    ];
    expect(mergeParts(tokens, parts)).toEqual([
      { text: "let ", kind: "keyword", isChanged: false },
      { text: '"a', kind: "string", isChanged: false },
      { text: "b", kind: "string", isChanged: true },
      { text: 'c"', kind: "string", isChanged: false },
    ]);
  });
});
