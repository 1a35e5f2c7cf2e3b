import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createInPlace, type InPlace } from "../../../../src/adapters/git/worktree/in-place.ts";
import type { RemandError } from "../../../../src/core/events/error.ts";
import { storyId } from "../../../../src/core/events/ids.ts";
import { note } from "../../../contract/workspace.ts";
import { filesIn, gitIn, makeRepository, type TestRepository } from "../../../kit/git-repository.ts";

const LOOP = storyId("loop-1");
let repository: TestRepository;
let workspace: InPlace;

function start(files?: Record<string, string>): void {
  repository = makeRepository(files ?? { "README.md": "hello\n", "src/a.ts": "one\n", ".gitignore": "*.log\n" });
  workspace = createInPlace({ root: repository.root, state: join(repository.root, ".remand"), env: repository.env });
}
beforeEach(() => start());
afterEach(() => repository.clear());

const git = (...args: string[]): string => repository.git(...args);

test("the workspace is the checkout itself, on any branch", async () => {
  expect(await workspace.prepare(LOOP)).toMatchObject({ path: repository.root, branch: "main" });
  git("checkout", "--quiet", "--detach");
  expect((await workspace.prepare(LOOP)).branch).toBe("HEAD");
});

test("the user's uncommitted work is the start: it is not charged to the agent, and it can be restored", async () => {
  repository.write("src/a.ts", "the user's\n");
  repository.write("notes.txt", "untracked\n");
  git("add", "src/a.ts");
  const before = {
    files: filesIn(repository.root),
    standing: repository.standing(),
    status: git("status", "--porcelain"),
  };
  const place = await workspace.prepare(LOOP);
  expect(place.base).not.toBe(git("rev-parse", "HEAD").trim());
  repository.write("src/a.ts", "the agent's\n");
  repository.write("agent.ts", "new\n");
  rmSync(join(repository.root, "notes.txt"));
  repository.write("run.log", "ignored\n");
  const kept = await workspace.keep(LOOP, note(1));
  expect(await workspace.changedPaths(LOOP, place.base, kept.commit)).toEqual(["agent.ts", "notes.txt", "src/a.ts"]);
  await workspace.undo(LOOP);
  expect(filesIn(repository.root)).toEqual({ ...before.files, "run.log": "- ignored\n" });
  expect(repository.standing()).toEqual(before.standing);
  expect(git("status", "--porcelain")).toBe(before.status);
});

test("attempts have their own refs, and one history", async () => {
  await workspace.prepare(LOOP);
  repository.write("src/a.ts", "1\n");
  const one = await workspace.keep(LOOP, note(1));
  repository.write("src/a.ts", "2\n");
  const two = await workspace.keep(LOOP, note(2));
  expect(git("rev-parse", "refs/remand/loop/loop-1/1").trim()).toBe(one.commit);
  expect(git("rev-parse", "refs/remand/loop/loop-1/2").trim()).toBe(two.commit);
  expect(await workspace.undo(LOOP)).toEqual([]);
  expect(git("rev-list", "refs/remand/loop/loop-1/last")).toContain(two.commit);
  expect(git("rev-parse", "refs/remand/loop/loop-1/2").trim()).toBe(two.commit);
  expect(readFileSync(join(repository.root, "src/a.ts"), "utf8")).toBe("one\n");
  // An undo can be undone.
  await workspace.restore(LOOP, two.tree, note(2));
  expect(readFileSync(join(repository.root, "src/a.ts"), "utf8")).toBe("2\n");
  expect(git("branch", "--all").trim()).toBe("* main");
});

test("two loops in one checkout do not mix", async () => {
  await workspace.prepare(LOOP);
  repository.write("src/a.ts", "1\n");
  await workspace.keep(LOOP, note(1));
  const second = await workspace.prepare(storyId("loop-2"));
  repository.write("src/a.ts", "2\n");
  await workspace.keep(storyId("loop-2"), note(1));
  await workspace.undo(storyId("loop-2"));
  expect(readFileSync(join(repository.root, "src/a.ts"), "utf8")).toBe("1\n");
  expect(await workspace.fileAt(LOOP, second.base, "src/a.ts")).toBe("1\n");
});

test("a repository without commits works", async () => {
  repository.clear();
  start({});
  repository.write("src/a.ts", "one\n");
  const place = await workspace.prepare(LOOP);
  repository.write("src/a.ts", "two\n");
  const kept = await workspace.keep(LOOP, note(1));
  expect(await workspace.changedPaths(LOOP, place.base, kept.tree)).toEqual(["src/a.ts"]);
  await workspace.undo(LOOP);
  expect(readFileSync(join(repository.root, "src/a.ts"), "utf8")).toBe("one\n");
  expect(existsSync(join(repository.root, ".git/index"))).toBe(false);
});

test("commits and branches that the user makes meanwhile stay theirs", async () => {
  await workspace.prepare(LOOP);
  repository.write("src/a.ts", "1\n");
  await workspace.keep(LOOP, note(1));
  git("checkout", "--quiet", "-b", "mine");
  git("commit", "--quiet", "-am", "mine");
  const head = git("rev-parse", "HEAD");
  await workspace.undo(LOOP);
  expect(git("rev-parse", "HEAD")).toBe(head);
  expect(git("status", "--porcelain")).toBe(" M src/a.ts\n");
});

test("leftovers of an interrupted attempt stay", async () => {
  await workspace.prepare(LOOP);
  repository.write("src/a.ts", "half\n");
  await workspace.forget(LOOP);
  expect(readFileSync(join(repository.root, "src/a.ts"), "utf8")).toBe("half\n");
});

test("an untracked file that would be overwritten by a restore stops it, and nothing else is changed", async () => {
  await workspace.prepare(LOOP);
  repository.write("out", "tracked by the first attempt\n");
  repository.write("src/a.ts", "1\n");
  const one = await workspace.keep(LOOP, note(1));
  rmSync(join(repository.root, "out"));
  repository.write(".gitignore", "out\n*.log\n");
  await workspace.keep(LOOP, note(2));
  repository.write("out", "the user's, and ignored\n");
  const files = filesIn(repository.root);
  const error = await workspace.restore(LOOP, one.tree, note(2)).then(
    () => null,
    (reason: unknown) => reason as RemandError,
  );
  expect(error).toMatchObject({ code: "workspace-broken", message: expect.stringContaining("out") });
  expect(filesIn(repository.root)).toEqual(files);
});

test("a sparse checkout keeps the files that it does not show", async () => {
  repository.write("docs/d.md", "d\n");
  git("add", ".");
  git("commit", "--quiet", "-m", "docs");
  git("sparse-checkout", "set", "--cone", "src");
  expect(existsSync(join(repository.root, "docs"))).toBe(false);
  const { tree, base } = await workspace.prepare(LOOP);
  expect(tree).toBe(git("rev-parse", "HEAD^{tree}").trim());
  repository.write("src/a.ts", "1\n");
  const kept = await workspace.keep(LOOP, note(1));
  expect(await workspace.changedPaths(LOOP, base, kept.commit)).toEqual(["src/a.ts"]);
  await workspace.undo(LOOP);
  expect(existsSync(join(repository.root, "docs"))).toBe(false);
});

test("a nested repository is rejected before a story begins, later linked, and left alone", async () => {
  await workspace.prepare(LOOP);
  repository.write("inner/file.txt", "x\n");
  gitIn(join(repository.root, "inner"), repository.env, "init", "--quiet");
  const error = await workspace.prepare(storyId("another")).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "workspace-broken", hint: expect.stringContaining("inner/.git") as string });
  const listed = async (): Promise<string> =>
    repository.git("ls-tree", "-r", (await workspace.currentState(LOOP)).tree, "inner");
  expect(await listed()).toMatch(/^160000 commit [0-9a-f]+\tinner\n$/);
  expect(existsSync(join(repository.root, "inner/.git"))).toBe(true);
  rmSync(join(repository.root, "inner/.git"), { recursive: true });
  expect(await listed()).toMatch(/^100644 blob [0-9a-f]+\tinner\/file\.txt\n$/);
});

test("a submodule is left unchanged, and named if it has changes", async () => {
  git("init", "--quiet", "library");
  repository.write("library/a.txt", "one\n");
  for (const args of [
    ["add", "."],
    ["-c", "user.name=A", "-c", "user.email=a@b", "commit", "--quiet", "-m", "one"],
  ])
    git("-C", "library", ...args);
  repository.write(".gitmodules", '[submodule "library"]\n\tpath = library\n\turl = ./library\n');
  git("add", ".gitmodules", "library");
  git("commit", "--quiet", "--message", "library");
  await workspace.prepare(LOOP);
  repository.write("library/a.txt", "two\n");
  await workspace.keep(LOOP, note(1));
  expect(await workspace.undo(LOOP)).toEqual(["library"]);
  expect(readFileSync(join(repository.root, "library/a.txt"), "utf8")).toBe("two\n");
});

test("before the story began there is nothing to undo", async () => {
  await expect(workspace.undo(LOOP)).rejects.toMatchObject({ code: "workspace-broken" });
  await expect(workspace.keep(LOOP, note(1))).rejects.toMatchObject({ code: "workspace-broken" });
});

test("moving the start's ref, or marking files as unchanged, hides nothing", async () => {
  const { base } = await workspace.prepare(LOOP);
  repository.write("src/a.ts", "the agent's\n");
  repository.write("new.ts", "new\n");
  const index = join(repository.root, ".remand", "index", LOOP);
  for (const mark of ["--assume-unchanged", "--skip-worktree"])
    gitIn(repository.root, { ...repository.env, GIT_INDEX_FILE: index }, "update-index", mark, "src/a.ts");
  git("add", "new.ts");
  const own = git("commit-tree", "-p", "HEAD", "-m", "mine", git("write-tree").trim()).trim();
  git("update-ref", "refs/remand/loop/loop-1/start", own);
  const place = await workspace.prepare(LOOP);
  expect(place.base).toBe(base);
  expect(git("rev-parse", "refs/remand/loop/loop-1/start").trim()).toBe(base);
  const kept = await workspace.keep(LOOP, note(1));
  expect(await workspace.changedPaths(LOOP, place.base, kept.commit)).toEqual(["new.ts", "src/a.ts"]);
  await workspace.undo(LOOP);
  expect(readFileSync(join(repository.root, "src/a.ts"), "utf8")).toBe("one\n");
});

test("the user's own marks on files stay", async () => {
  git("update-index", "--assume-unchanged", "src/a.ts");
  repository.write("src/a.ts", "the user's own\n");
  const { base } = await workspace.prepare(LOOP);
  repository.write("new.ts", "new\n");
  const kept = await workspace.keep(LOOP, note(1));
  expect(await workspace.changedPaths(LOOP, base, kept.commit)).toEqual(["new.ts"]);
});
