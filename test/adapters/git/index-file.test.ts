import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { entriesOf, idBytesOf, makeIndex, replaceEntries } from "../../../src/adapters/git/index-file.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

type Listed = Readonly<Record<string, string>>;

describe.each(["sha1", "sha256"])("an index with names of objects by %s", (format) => {
  function makeGit() {
    const folder = mkdtempSync(join(tmpdir(), "remand-index-"));
    folders.push(folder);
    const git = (args: readonly string[], stdin = ""): string =>
      execFileSync("git", args, {
        cwd: folder,
        input: stdin,
        encoding: "utf8",
        stdio: ["pipe", "pipe", "pipe"],
        env: { PATH: process.env["PATH"], GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
      });
    git(["init", "--quiet", `--object-format=${format}`]);
    const blob = (text: string): string => git(["hash-object", "-w", "--stdin"], text).trim();
    /** Lets git make the index, including the ids of its trees. */
    const setIndex = (files: Listed): Buffer => {
      git(["read-tree", "--empty"]);
      const lines = Object.entries(files).map(([path, id]) => `100644 ${id}\t${path}\n`);
      git(["update-index", "--index-info"], lines.join(""));
      git(["write-tree"]);
      return readFileSync(join(folder, ".git/index"));
    };
    /** Returns what git reads in an index made by Remand. */
    const look = (index: Buffer) => {
      writeFileSync(join(folder, ".git/index"), index);
      // Only this command verifies the checksum at the end.
      git(["fsck", "--no-dangling"]);
      return { listed: git(["ls-files", "--stage"]), tree: git(["write-tree"]) };
    };
    return { git, blob, setIndex, look };
  }

  const change = (index: Buffer, { gone, written }: { gone: readonly string[]; written: Listed }): Buffer | null => {
    const idBytes = format === "sha1" ? 20 : 32;
    const files = Object.entries(written).map(([path, id]) => ({ path, mode: "100644", id }));
    const removed = gone.map((path) => ({ path: Buffer.from(path), bytes: null }));
    return replaceEntries(index, [...removed, ...entriesOf(makeIndex(files, idBytes), idBytes)!], idBytes);
  };

  test.each([
    ["changed", { written: ["b/c.txt", "z"], gone: [] }],
    ["added first, between and last", { written: ["0", "b/c/d/new", "b/ca", "zz/z"], gone: [] }],
    ["removed first, between and last", { written: [], gone: ["a", "b/c.txt", "z"] }],
    ["a file that becomes a folder", { written: ["a/1", "a/2"], gone: ["a"] }],
    ["a folder that becomes a file", { written: ["b"], gone: ["b/c.txt", "b/c/d/e", "b/c/f", "b/ö"] }],
    ["a name longer than its length can say", { written: ["n".repeat(5000), `${"n".repeat(5000)}o`], gone: ["a"] }],
    ["a name of other letters", { written: ["b/ä ü\t.txt", "日本"], gone: ["b/ö"] }],
    ["removed and never there", { written: [], gone: ["nothing/here"] }],
  ])("equals git's own: %s", (_what, { written, gone }) => {
    const { blob, setIndex, look } = makeGit();
    const [one, two] = [blob("one\n"), blob("two\n")];
    const before = Object.fromEntries(["a", "b/c.txt", "b/c/d/e", "b/c/f", "b/ö", "e/f/g", "z"].map((p) => [p, one]));
    const changes = { gone, written: Object.fromEntries(written.map((path) => [path, two])) };
    const kept = Object.fromEntries(Object.entries(before).filter(([path]) => !gone.includes(path)));
    const quoted = Object.fromEntries(Object.entries({ ...kept, ...changes.written }).map(([p, id]) => [quote(p), id]));
    const expected = look(setIndex(quoted));
    const made = change(setIndex(before), changes)!;
    expect(look(made)).toEqual(expected);
    expect(made.includes("TREE")).toBe(true);
  });

  test("that is cut or missing is left to git", () => {
    const { blob, setIndex } = makeGit();
    const index = setIndex({ a: blob("one\n"), b: blob("two\n") });
    const none = Buffer.from("this is not an index, however long it may be");
    for (const each of [index.subarray(0, 100), none]) expect(change(each, { gone: ["a"], written: {} })).toBeNull();
  });
});

test.each([
  ["a split one", ["update-index", "--split-index"]],
  ["one with compressed names", ["update-index", "--index-version=4"]],
  ["one with a file that is not to be looked at", ["update-index", "--skip-worktree", "a"]],
])("%s is left to git", (_what, args) => {
  const folder = mkdtempSync(join(tmpdir(), "remand-index-"));
  folders.push(folder);
  const git = (...all: readonly string[]): string => execFileSync("git", all, { cwd: folder, encoding: "utf8" });
  git("init", "--quiet");
  writeFileSync(join(folder, "a"), "one\n");
  git("add", "a");
  const read = (): Buffer => readFileSync(join(folder, ".git/index"));
  const id = git("rev-parse", ":a").trim();
  expect(replaceEntries(read(), [], idBytesOf(id))).not.toBeNull();
  git(...args);
  expect(replaceEntries(read(), [], idBytesOf(id))).toBeNull();
});

const quote = (path: string): string => (path.includes("\t") ? JSON.stringify(path) : path);
