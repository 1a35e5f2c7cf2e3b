import { expect, test } from "vitest";
import { diffBlameText } from "../../src/cli/blame-text.ts";
import { paintFor } from "../../src/cli/terminal-kind.ts";
import type { DiffDocument, ShownLine } from "../../src/views/story/diff-document.ts";
import type { FindingCard } from "../../src/views/story/finding-text.ts";

const line = (
  kind: ShownLine["kind"],
  text: string,
  attempt: number | null,
  more: Partial<ShownLine> = {},
): ShownLine => ({
  kind,
  text,
  line: 1,
  attempt,
  findings: [],
  blames: [],
  ...more,
});
const card = (message: string): FindingCard => ({ severity: "major", message }) as FindingCard;
const mark = {
  gate: "checks",
  basis: "proven",
  explanation: "without it the tests pass",
  attempt: 2,
  role: "developer",
  phase: "implement",
} as ShownLine["blames"][number];

const document: DiffDocument = {
  from: "a",
  to: "b",
  attempts: [1, 2],
  files: [
    {
      path: "src/new.js",
      oldPath: "src/old.js",
      change: "renamed",
      isBinary: false,
      added: 2,
      removed: 1,
      hunks: [
        { heading: "", lines: [line("same", "one", null), line("removed", "two", null)] },
        { heading: "", lines: [line("added", "\u001b[31mthree", 2, { blames: [mark], findings: [card("no name")] })] },
      ],
    },
    { path: "x.png", oldPath: "x.png", change: "added", isBinary: true, added: 0, removed: 0, hunks: [] },
  ],
  leftOut: 7,
  elsewhere: [card("nowhere to be seen")],
};

test("each line shows the attempt that wrote it, its findings, and the blame", () => {
  expect(diffBlameText(document, paintFor(false))).toBe(
    [
      "src/old.js → src/new.js  +2 −1",
      "       one",
      "     - two",
      "    ⋯",
      "  #2 + three",
      "     └ blamed by checks, proven: without it the tests pass (attempt 2 by developer in implement)",
      "     └ major: no name",
      "",
      "x.png  +0 −0",
      "  (binary)",
      "",
      "… 7 more lines",
      "Found elsewhere:",
      "  nowhere to be seen",
      "",
    ].join("\n"),
  );
  expect(diffBlameText({ ...document, files: [], leftOut: 0, elsewhere: [] }, paintFor(false))).toBe("");
});
