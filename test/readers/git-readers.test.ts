import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readNameStatus, touchedPaths } from "../../src/readers/git-name-status.ts";
import { readTrailers } from "../../src/readers/git-trailers.ts";
import { readWorktreeList } from "../../src/readers/git-worktree-list.ts";

describe("names and statuses", () => {
  test("each letter has its word, and renames and copies have two names", () => {
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

  test("what a rename left is touched, what a copy came from is not; each path once", () => {
    const changed = readNameStatus("R100\0z\0y\0C100\0m\0n\0M\0y\0");
    expect(touchedPaths(changed)).toEqual(["n", "y", "z"]);
  });

  test("nothing, and a text that was cut off, are read as far as they go", () => {
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
