import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  readGitDiff,
  readNameStatus,
  readTrailers,
  readWorktreeList,
  touchedPaths,
} from "../../../src/parse/code/git-output.ts";

describe("names and statuses", () => {
  test("each letter has its status, and renames and copies have two names", () => {
    const text = "M\0a\0A\0b\nc\0D\0d\0T\0e\0R087\0old\0new\0C100\0from\0to\0X\0odd\0";
    expect(readNameStatus(text)).toEqual([
      { status: "modified", path: "a" },
      { status: "added", path: "b\nc" },
      { status: "deleted", path: "d" },
      { status: "type-changed", path: "e" },
      { status: "renamed", from: "old", path: "new" },
      { status: "copied", from: "from", path: "to" },
      { status: "other", path: "odd" },
    ]);
  });

  test("both ends of a rename are touched, and only the end of a copy; each path once", () => {
    const changed = readNameStatus("R100\0z\0y\0C100\0m\0n\0M\0y\0");
    expect(touchedPaths(changed)).toEqual(["n", "y", "z"]);
  });

  test("empty and cut texts are read as far as possible", () => {
    expect(readNameStatus("")).toEqual([]);
    expect(readNameStatus("M\0a\0M")).toEqual([{ status: "modified", path: "a" }]);
    expect(readNameStatus("M\0a\0R100\0old")).toEqual([{ status: "modified", path: "a" }]);
  });

  test("whatever it is given, it does not throw", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("\0", "R", "C", "M", "a", "\n") }),
        (text) => touchedPaths(readNameStatus(text)).length >= 0,
      ),
    );
  });
});

describe("trailers", () => {
  test("are the last paragraph, if every line of it is one", () => {
    const message = "subject: not one\n\nbody\n\nRemand-Story: S-1\nRemand-Attempt:  2 \n";
    expect([...readTrailers(message)]).toEqual([
      ["Remand-Story", "S-1"],
      ["Remand-Attempt", "2"],
    ]);
    expect(readTrailers("s\r\n\r\nA: 1\r\nB: x: y\r\n")).toEqual(
      new Map([
        ["A", "1"],
        ["B", "x: y"],
      ]),
    );
  });

  test.each([
    "",
    "Remand-Story: S-1",
    "subject\n\nRemand-Story: S-1\nand some prose",
    "subject\n\nRemand-Story: S-1\n\nmore",
  ])("%j has none", (message) => expect(readTrailers(message).size).toBe(0));
});

describe("worktrees", () => {
  test("have a path, and a branch where one is checked out", () => {
    const text =
      "worktree /a b/c\nHEAD 1\nbranch refs/heads/main\n\nworktree /d\nHEAD 2\ndetached\n\nworktree /e\nbare\nprunable gone\n\n";
    expect(readWorktreeList(text)).toEqual([
      { path: "/a b/c", branch: "refs/heads/main" },
      { path: "/d", branch: null },
      { path: "/e", branch: null },
    ]);
    expect(readWorktreeList("")).toEqual([]);
  });
});

describe("diffs", () => {
  const DIFF = [
    "diff --git a/src/a.ts b/src/a.ts",
    "index 1..2 100644",
    "--- a/src/a.ts",
    "+++ b/src/a.ts",
    "@@ -1,3 +1,4 @@ export function f() {",
    " one",
    "--- two",
    "+++ 2",
    "+diff --git a/x b/x",
    " three",
    "@@ -10 +12,0 @@",
    "-gone",
    "\\ No newline at end of file",
    "diff --git a/old name.ts b/new name.ts",
    "similarity index 90%",
    "rename from old name.ts",
    "rename to new name.ts",
    "--- a/old name.ts\t",
    "+++ b/new name.ts\t",
    "@@ -5,0 +6 @@",
    "+added",
    "diff --git a/a b/c.png b/a b/c.png",
    "new file mode 100644",
    "index 0..1",
    "Binary files /dev/null and b/a b/c.png differ",
    "diff --git a/run.sh b/run.sh",
    "old mode 100644",
    "new mode 100755",
    'diff --git "a/l\\nf\\303\\274.ts" "b/l\\nf\\303\\274.ts"',
    "deleted file mode 100644",
    '--- "a/l\\nf\\303\\274.ts"',
    "+++ /dev/null",
    "@@ -1 +0,0 @@",
    "-x",
    "diff --git a/c b/d",
    "similarity index 100%",
    "copy from c",
    "copy to d",
    "",
  ].join("\n");

  test("files with their names, changes and lines", () => {
    const [a, renamed, png, mode, deleted, copied, ...rest] = readGitDiff(DIFF);
    expect(rest).toEqual([]);
    expect(a).toEqual({
      change: "modified",
      path: "src/a.ts",
      oldPath: "src/a.ts",
      isBinary: false,
      hunks: [
        {
          oldStart: 1,
          newStart: 1,
          heading: "export function f() {",
          lines: [
            { kind: "same", text: "one", line: 1 },
            { kind: "removed", text: "-- two", line: 2 },
            { kind: "added", text: "++ 2", line: 2 },
            { kind: "added", text: "diff --git a/x b/x", line: 3 },
            { kind: "same", text: "three", line: 4 },
          ],
        },
        { oldStart: 10, newStart: 12, heading: "", lines: [{ kind: "removed", text: "gone", line: 10 }] },
      ],
    });
    expect(renamed).toMatchObject({ change: "renamed", oldPath: "old name.ts", path: "new name.ts" });
    expect(renamed?.hunks[0]?.lines).toEqual([{ kind: "added", text: "added", line: 6 }]);
    expect(png).toEqual({ change: "added", path: "a b/c.png", oldPath: "a b/c.png", isBinary: true, hunks: [] });
    expect(mode).toMatchObject({ change: "modified", path: "run.sh", hunks: [] });
    expect(deleted).toMatchObject({ change: "deleted", path: "l\nfü.ts" });
    expect(copied).toMatchObject({ change: "copied", path: "d", oldPath: "c" });
  });

  test("a diff with its middle cut out gives the rest", () => {
    const cut = DIFF.replace(" three\n", "\n[999 bytes were cut here]\n@@ not a header\n");
    const files = readGitDiff(cut);
    expect(files.map(({ path }) => path)).toEqual(readGitDiff(DIFF).map(({ path }) => path));
    expect(files[0]?.hunks).toHaveLength(2);
    expect(readGitDiff("no diff at all\n")).toEqual([]);
    expect(readGitDiff("diff --git nonsense\n@@ -1 +1 @@\n-a\n+b\n")).toEqual([]);
  });

  test("names with escapes", () => {
    const nameIn = (side: string): string | undefined => readGitDiff(`diff --git a/x b/x\n+++ ${side}\n`)[0]?.path;
    expect(nameIn('"b/a\\tb\\"c\\\\d\\303\\274ß"')).toBe('a\tb"c\\düß');
    expect(nameIn("b/plain name\t")).toBe("plain name");
    expect(nameIn('b/"')).toBe('"');
    expect(nameIn('"b/end\\"')).toBe("end\\");
  });

  test("whatever it is given, it does not throw", () => {
    const piece = fc.constantFrom(...DIFF.split("\n"), "@@ -0,0 +1,99999 @@", "\\", '"', "+");
    fc.assert(fc.property(fc.array(piece), (pieces) => readGitDiff(pieces.join("\n")).length <= pieces.length));
  });
});
