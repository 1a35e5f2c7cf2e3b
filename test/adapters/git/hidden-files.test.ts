import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { viewGit } from "../../../src/adapters/git/git-view.ts";
import {
  copyHiddenFiles,
  forgetHidden,
  hideFiles,
  readHiddenFiles,
  stillInProject,
} from "../../../src/adapters/git/hidden-files.ts";
import { repositoryOpener } from "../../../src/adapters/git/repository.ts";
import { gitIn, makeRepository, type TestRepository } from "../../kit/git-repository.ts";

let repository: TestRepository;
let store: string;

beforeEach(() => {
  repository = makeRepository({ "a.js": "1\n", "test/a.test.js": "visible\n", "test/b.test.js": "secret\n" });
  store = join(repository.home, "store");
  onTestFinished(() => repository.clear());
});

const hide = (paths: readonly string[], commit: boolean) => hideFiles(repository.root, store, { paths, commit });

test("files are copied and stay in the project until a commit of only them removes them", async () => {
  const { root, git } = repository;
  expect(await hide(["test/b.test.js"], false)).toMatchObject({ left: ["test/b.test.js"], commit: null });
  const hidden = (await readHiddenFiles(store))!;
  expect(hidden.paths).toEqual(["test/b.test.js"]);
  expect(await stillInProject(root, hidden, "HEAD")).toEqual(["test/b.test.js"]);
  expect(await stillInProject(root, hidden, null)).toEqual(["test/b.test.js"]);
  repository.write("a.js", "staged\n");
  git("add", "a.js");
  const { commit } = await hide(["test/b.test.js"], true);
  expect(git("show", "--format=", "--name-status", commit!).trim()).toBe("D\ttest/b.test.js");
  expect(git("diff", "--cached", "--name-only").trim()).toBe("a.js");
  expect(existsSync(join(root, "test/b.test.js"))).toBe(false);
  expect(await stillInProject(root, hidden, "HEAD")).toEqual([]);
  expect(await stillInProject(root, hidden, null)).toEqual([]);
});

test("another version of a hidden file may stay in the project", async () => {
  await hide(["test/b.test.js"], false);
  repository.write("test/b.test.js", "fewer cases\n");
  repository.git("commit", "--quiet", "--all", "-m", "fewer");
  const hidden = (await readHiddenFiles(store))!;
  expect(await stillInProject(repository.root, hidden, "HEAD")).toEqual([]);
  expect(await stillInProject(repository.root, hidden, null)).toEqual([]);
});

test("a folder is hidden with all its files, and copies are removed by path", async () => {
  expect((await hide(["test"], false)).copied).toEqual(["test/a.test.js", "test/b.test.js"]);
  expect(await forgetHidden(store, ["test/a.test.js"])).toEqual(["test/a.test.js"]);
  expect(await forgetHidden(store, ["test"])).toEqual(["test/b.test.js"]);
  expect(await readHiddenFiles(store)).toBeNull();
});

test.each(["missing.js", "../outside", ".git/config"])("%s cannot be hidden", async (path) => {
  await expect(hide([path], false)).rejects.toMatchObject({ code: "file-missing" });
});

test("whatever is at a hidden file's path is replaced, and a link is not followed", async () => {
  await hide(["test/b.test.js"], false);
  const checkout = join(repository.home, "checkout");
  const elsewhere = join(repository.home, "elsewhere");
  mkdirSync(checkout);
  mkdirSync(elsewhere);
  symlinkSync(elsewhere, join(checkout, "test"));
  await copyHiddenFiles((await readHiddenFiles(store))!, checkout);
  expect(readFileSync(join(checkout, "test/b.test.js"), "utf8")).toBe("secret\n");
  expect(existsSync(join(elsewhere, "b.test.js"))).toBe(false);
});

/** Returns every object in a view, as text. */
const objectsIn = (folder: string): string =>
  gitIn(repository.root, { ...repository.env, GIT_DIR: folder }, "cat-file", "--batch-all-objects", "--batch");

async function viewOf(top: string, history: "recent" | "commits") {
  const opened = await repositoryOpener(repository.root, repository.env)();
  const hidden = [(await readHiddenFiles(store))!];
  const folder = join(repository.home, "views");
  return viewGit(top, { repository: opened, hidden, folder, history });
}

test("a worktree's git shows the commits since the files were hidden, and none of their objects", async () => {
  const { root, git } = repository;
  await hide(["test/b.test.js"], true);
  repository.write("a.js", "2\n");
  git("commit", "--quiet", "--all", "-m", "more");
  git("worktree", "add", "--quiet", "-b", "work", join(repository.home, "work"));
  const [shown, ...others] = await viewOf(join(repository.home, "work"), "recent");
  expect(others).toEqual([]);
  expect(shown!.path).toBe(join(root, ".git"));
  const objects = objectsIn(shown!.from);
  expect(objects).toContain("visible");
  expect(objects).not.toContain("secret");
  const inView = {
    ...repository.env,
    GIT_DIR: join(shown!.from, "worktrees/work"),
    GIT_WORK_TREE: join(repository.home, "work"),
  };
  expect(gitIn(root, inView, "log", "--format=%s").trim().split("\n")).toEqual([
    "more",
    "test: move tests to the hidden checks",
  ]);
  expect(gitIn(root, inView, "status", "--porcelain")).toBe("");
  // The view is made once per state of the repository.
  expect(await viewOf(join(repository.home, "work"), "recent")).toEqual([shown]);
});

test("a check's git has all commits and tags, without the files of earlier commits", async () => {
  const { root, git } = repository;
  git("tag", "-a", "v1.0.0", "-m", "first");
  await hide(["test/b.test.js"], true);
  const [shown] = await viewOf(root, "commits");
  const inView = { ...repository.env, GIT_DIR: shown!.from, GIT_WORK_TREE: root };
  expect(gitIn(root, inView, "describe", "--tags").trim()).toMatch(/^v1\.0\.0-1-g/);
  expect(gitIn(root, inView, "rev-list", "--count", "HEAD").trim()).toBe("2");
  expect(objectsIn(shown!.from)).not.toContain("secret");
});

test("a hidden file in the newest commit is rejected; an older version is not shown", async () => {
  const { git, root } = repository;
  await hide(["test/b.test.js"], true);
  repository.write("copy.txt", "secret\n");
  git("add", "--all");
  git("commit", "--quiet", "-m", "a copy");
  await expect(viewOf(root, "recent")).rejects.toMatchObject({ code: "workspace-broken" });
  git("rm", "--quiet", "copy.txt");
  git("commit", "--quiet", "-m", "no copy");
  const [shown] = await viewOf(root, "recent");
  expect(objectsIn(shown!.from)).not.toContain("secret");
});

test("a `.git` file that leads elsewhere shows nothing", async () => {
  await hide(["test/b.test.js"], true);
  const work = join(repository.home, "work");
  mkdirSync(work);
  writeFileSync(join(work, ".git"), `gitdir: ${repository.home}\n`);
  const shown = await viewOf(work, "recent");
  expect(shown).toEqual([{ path: join(repository.root, ".git"), from: join(repository.home, "views/nothing") }]);
});
