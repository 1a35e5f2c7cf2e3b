import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createWorktrees, type WorktreeOptions } from "../../../../src/adapters/git/worktree/worktrees.ts";
import { siteOf } from "../../../../src/adapters/git/worktree/worktree-site.ts";
import { leftovers } from "../../../../src/adapters/process/leftovers.ts";
import { runProcess } from "../../../../src/adapters/process/run-process.ts";
import type { ErrorCode, RemandError } from "../../../../src/core/events/error.ts";
import { storyId } from "../../../../src/core/events/ids.ts";
import type { Workspace } from "../../../../src/ports/workspace.ts";
import { note } from "../../../contract/workspace.ts";
import { filesIn, gitIn, makeRepository, write, type TestRepository } from "../../../kit/git-repository.ts";
import { hasLargeFiles } from "../../../kit/has-large-files.ts";

const STORY = storyId("S-1");
let repository: TestRepository;
let notices: string[];
let workspace: Workspace;

function make(options: Partial<WorktreeOptions> = {}): Workspace {
  const { root, env } = repository;
  return createWorktrees({
    root,
    state: join(root, ".remand"),
    env,
    onNotice: (text) => notices.push(text),
    ...options,
  });
}

function start(files?: Record<string, string>, options?: Partial<WorktreeOptions>): void {
  repository = makeRepository(
    files ?? { "README.md": "hello\n", "src/a.ts": "one\n", ".gitignore": "node_modules/\n*.log\n" },
  );
  notices = [];
  workspace = make(options);
}

beforeEach(() => start());
afterEach(() => repository.clear());

async function refusal(work: Promise<unknown>): Promise<{ code: ErrorCode; message: string; hint: string }> {
  return work.then(
    () => expect.unreachable("it was not refused"),
    (error: unknown) => error as RemandError,
  );
}

const branchTip = (): string => repository.git("rev-parse", "refs/heads/remand/S-1").trim();

describe("a worktree", () => {
  test("is on its own branch, in the state folder, which git ignores", async () => {
    const place = await workspace.prepare(STORY);
    expect(place.path).toBe(join(repository.root, ".remand/worktrees/S-1"));
    expect(place.branch).toBe("remand/S-1");
    expect(gitIn(place.path, repository.env, "branch", "--show-current").trim()).toBe("remand/S-1");
    expect(readFileSync(join(repository.root, ".remand/.gitignore"), "utf8")).toBe("*\n");
    expect(repository.git("status", "--porcelain")).toBe("");
  });

  test("is clean for `git status`, after a commit and after a restore", async () => {
    const { path, tree } = await workspace.prepare(STORY);
    write(path, "new.ts", "x\n");
    await workspace.keep(STORY, note(1));
    expect(gitIn(path, repository.env, "status", "--porcelain")).toBe("");
    await workspace.restore(STORY, tree, note(1));
    expect(gitIn(path, repository.env, "status", "--porcelain")).toBe("");
    expect(gitIn(path, repository.env, "log", "--oneline").trim().split("\n")).toHaveLength(3);
  });

  test("starts from the last commit, and says if the checkout has uncommitted changes", async () => {
    write(repository.root, "src/a.ts", "uncommitted\n");
    const { path } = await workspace.prepare(STORY);
    expect(readFileSync(join(path, "src/a.ts"), "utf8")).toBe("one\n");
    await workspace.prepare(storyId("S-2"));
    expect(notices).toEqual([
      expect.stringMatching(/has changes that are not committed: stories start from [0-9a-f]{12}/),
    ]);
  });

  test("starts from another branch if requested", async () => {
    repository.git("branch", "release");
    write(repository.root, "later.ts", "later\n");
    repository.git("add", ".");
    repository.git("commit", "--quiet", "-m", "later");
    const { path, base } = await make({ base: "release" }).prepare(STORY);
    expect(existsSync(join(path, "later.ts"))).toBe(false);
    expect(base).toBe(repository.git("rev-parse", "release").trim());
    expect((await refusal(make({ base: "nowhere" }).prepare(storyId("S-2")))).message).toContain("no commit nowhere");
  });

  describe("of a story that comes after others", () => {
    const other = storyId("S-0");
    const third = storyId("S-3");

    /** Does a story's work and commits it. */
    async function work(story: typeof STORY, path: string, text: string): Promise<string> {
      write((await workspace.prepare(story)).path, path, text);
      return (await workspace.keep(story, note(1))).commit;
    }

    test("starts with their work, and is compared with it", async () => {
      const commit = await work(other, "src/twice.ts", "twice\n");
      const { path, base } = await workspace.prepare(STORY, [other]);
      expect(readFileSync(join(path, "src/twice.ts"), "utf8")).toBe("twice\n");
      expect(base).toBe(commit);
      write(path, "mine.ts", "mine\n");
      const kept = await workspace.keep(STORY, note(1));
      expect(await workspace.changedPaths(STORY, base, kept.commit)).toEqual(["mine.ts"]);
      expect(notices).toEqual(["S-1 begins with the work of S-0, which is not merged yet"]);
    });

    test("starts with all of their work, if several ran side by side and the checkout moved on", async () => {
      await work(other, "src/twice.ts", "twice\n");
      await work(third, "src/thrice.ts", "thrice\n");
      write(repository.root, "later.ts", "later\n");
      repository.git("add", ".");
      repository.git("commit", "--quiet", "-m", "later");
      const { path, base } = await workspace.prepare(STORY, [other, third]);
      expect(filesIn(path)).toMatchObject({
        "later.ts": expect.any(String),
        "src/thrice.ts": expect.any(String),
        "src/twice.ts": expect.any(String),
      });
      await workspace.dispose(STORY);
      expect((await make().prepare(STORY, [other, third])).base).toBe(base);
    });

    test("starts like any other story after their work was merged, squashed or deleted", async () => {
      const commit = await work(other, "src/twice.ts", "twice\n");
      await work(third, "src/thrice.ts", "thrice\n");
      repository.git("merge", "--quiet", "--no-ff", "--no-edit", "remand/S-0");
      repository.git("merge", "--quiet", "--squash", "remand/S-3");
      repository.git("commit", "--quiet", "-m", "thrice");
      const head = repository.git("rev-parse", "HEAD").trim();
      expect((await workspace.prepare(STORY, [other, third, storyId("never-ran")])).base).toBe(head);
      expect(head).not.toBe(commit);
      expect(notices).toEqual([]);
    });

    test("does not start if their work conflicts with its start, and says what to do", async () => {
      await work(other, "src/a.ts", "two\n");
      write(repository.root, "src/a.ts", "three\n");
      repository.git("commit", "--quiet", "--all", "-m", "three");
      const { message, hint } = await refusal(workspace.prepare(STORY, [other]));
      expect(message).toBe("S-1 builds on S-0, whose branch remand/S-0 contradicts what S-1 starts from, in src/a.ts");
      expect(hint).toContain("git branch -D remand/S-0");
      repository.git("worktree", "remove", "--force", ".remand/worktrees/S-0");
      repository.git("branch", "--quiet", "-D", "remand/S-0");
      expect(readFileSync(join((await workspace.prepare(STORY, [other])).path, "src/a.ts"), "utf8")).toBe("three\n");
    });
  });

  test("keeps its start when the checkout moves on", async () => {
    const { base } = await workspace.prepare(STORY);
    repository.git("commit", "--quiet", "--allow-empty", "-m", "later");
    expect((await make().prepare(STORY)).base).toBe(base);
    await workspace.dispose(STORY);
    expect((await make().prepare(STORY)).base).toBe(base);
  });

  test("can be made many at once", async () => {
    const stories = Array.from({ length: 8 }, (_, i) => storyId(`P-${i}`));
    const places = await Promise.all(stories.map((story) => workspace.prepare(story)));
    places.forEach(({ path }, i) => write(path, "mine.txt", String(i)));
    const kept = await Promise.all(stories.map((story) => workspace.keep(story, note(1))));
    expect(new Set(kept.map(({ commit }) => commit)).size).toBe(8);
    await Promise.all(stories.map((story) => workspace.dispose(story)));
    expect(repository.git("worktree", "list").trim().split("\n")).toHaveLength(1);
    expect(repository.git("branch", "--list", "remand/*").trim().split("\n")).toHaveLength(8);
  });

  test("can be made of a shallow clone", async () => {
    repository.git("commit", "--quiet", "--allow-empty", "-m", "second");
    const clone = join(repository.home, "shallow");
    gitIn(repository.home, repository.env, "clone", "--quiet", "--depth", "1", `file://${repository.root}`, clone);
    const shallow = make({ root: clone, state: join(clone, ".remand") });
    const { path, base } = await shallow.prepare(STORY);
    write(path, "new.ts", "x\n");
    const kept = await shallow.keep(STORY, note(1));
    expect(await shallow.changedPaths(STORY, base, kept.commit)).toEqual(["new.ts"]);
  });
});

describe("what cannot be used is rejected with an error:", () => {
  test("no git", async () => {
    const found = await refusal(make({ env: { ...repository.env, PATH: repository.home } }).prepare(STORY));
    expect(found).toMatchObject({ code: "git-missing", message: "git is not installed, or not on the PATH" });
  });

  test("not a repository, and one without files", async () => {
    const plain = join(repository.home, "plain");
    mkdirSync(plain);
    const found = await refusal(make({ root: plain, state: join(plain, ".remand") }).prepare(STORY));
    expect(found).toMatchObject({ code: "not-a-repository", message: `${plain} is not in a git repository` });
    gitIn(plain, repository.env, "init", "--quiet", "--bare");
    expect((await refusal(make({ root: plain, state: join(plain, ".remand") }).prepare(STORY))).code).toBe(
      "not-a-repository",
    );
  });

  test("no commits yet; works after the first commit", async () => {
    repository.clear();
    start({});
    expect(await refusal(workspace.prepare(STORY))).toMatchObject({ code: "no-commits" });
    repository.git("commit", "--quiet", "--allow-empty", "-m", "first");
    expect((await workspace.prepare(STORY)).branch).toBe("remand/S-1");
  });

  test("a branch that is checked out elsewhere", async () => {
    repository.git("checkout", "--quiet", "-b", "remand/S-1");
    const found = await refusal(workspace.prepare(STORY));
    expect(found).toMatchObject({
      code: "workspace-broken",
      message: `the branch remand/S-1 is checked out in ${repository.root}`,
    });
    repository.git("checkout", "--quiet", "main");
    expect((await workspace.prepare(STORY)).branch).toBe("remand/S-1");
  });

  test("a branch whose name blocks the story branches", async () => {
    repository.git("branch", "remand");
    expect(await refusal(workspace.prepare(STORY))).toMatchObject({
      code: "workspace-broken",
      message: "there is a branch called remand, so there can be none called remand/…",
    });
  });

  test("a branch of another history", async () => {
    const tree = repository.git("rev-parse", "HEAD^{tree}").trim();
    repository.git("branch", "remand/S-1", repository.git("commit-tree", tree, "-m", "alone").trim());
    expect((await refusal(workspace.prepare(STORY))).message).toContain("has nothing in common with HEAD");
  });

  test("a state folder that cannot be created", async () => {
    write(repository.root, "taken", "a file\n");
    const found = await refusal(make({ state: join(repository.root, "taken/.remand") }).prepare(STORY));
    expect(found).toMatchObject({ code: "workspace-broken", message: expect.stringContaining("taken/.remand") });
  });

  test("a worktree that was never made", async () => {
    expect(await refusal(workspace.keep(STORY, note(1)))).toMatchObject({ code: "workspace-broken" });
    await workspace.forget(STORY);
    await workspace.dispose(STORY);
  });
});

describe("after a crash", () => {
  test("a missing folder is made again from the kept commit", async () => {
    const { path } = await workspace.prepare(STORY);
    write(path, "new.ts", "kept\n");
    const kept = await workspace.keep(STORY, note(1));
    rmSync(path, { recursive: true });
    const again = await make().prepare(STORY);
    expect(again).toMatchObject({ path, tree: kept.tree, commit: kept.commit });
    expect(readFileSync(join(path, "new.ts"), "utf8")).toBe("kept\n");
  });

  test("an unfinished worktree is made again, whatever is missing in it", async () => {
    const { path, tree } = await workspace.prepare(STORY);
    const notes = join(repository.root, ".git/worktrees/S-1");
    rmSync(join(notes, "remand-ready"));
    rmSync(join(path, "src"), { recursive: true });
    rmSync(join(notes, "index"));
    writeFileSync(join(notes, "index.lock"), "");
    writeFileSync(join(notes, "locked"), "initializing");
    expect((await make().prepare(STORY)).tree).toBe(tree);
    expect(existsSync(join(path, "src/a.ts"))).toBe(true);
  });

  test("a registration without a folder, which a killed git leaves locked, is taken over", async () => {
    const { path, tree } = await workspace.prepare(STORY);
    rmSync(path, { recursive: true });
    writeFileSync(join(repository.root, ".git/worktrees/S-1/locked"), "initializing");
    expect((await make().prepare(STORY)).tree).toBe(tree);
  });

  test("files that git no longer knows are moved aside, never deleted", async () => {
    const { path } = await workspace.prepare(STORY);
    write(path, "unsaved.ts", "precious\n");
    rmSync(join(repository.root, ".git/worktrees"), { recursive: true });
    expect(await refusal(workspace.dispose(STORY))).toMatchObject({ code: "workspace-broken" });
    const again = await make().prepare(STORY);
    expect(existsSync(join(again.path, "unsaved.ts"))).toBe(false);
    expect(readFileSync(join(`${path}.lost-1`, "unsaved.ts"), "utf8")).toBe("precious\n");
    expect(notices.join()).toContain("S-1.lost-1");
  });

  test("a moved checkout finds its worktrees again, with their work", async () => {
    const { path } = await workspace.prepare(STORY);
    write(path, "unsaved.ts", "precious\n");
    const moved = join(repository.home, "moved");
    renameSync(repository.root, moved);
    const place = await make({ root: moved, state: join(moved, ".remand") }).prepare(STORY);
    expect(readFileSync(join(place.path, "unsaved.ts"), "utf8")).toBe("precious\n");
  });

  test("after a kill between the commit and its refs, the same commit is found and the rest is done", async () => {
    const { path } = await workspace.prepare(STORY);
    const index = readFileSync(join(repository.root, ".git/worktrees/S-1/index"));
    write(path, "new.ts", "x\n");
    const kept = await workspace.keep(STORY, note(1));
    writeFileSync(join(repository.root, ".git/worktrees/S-1/index"), index);
    expect(await make().keep(STORY, note(1))).toEqual(kept);
    expect(gitIn(path, repository.env, "status", "--porcelain")).toBe("");
  });

  test("locks and copies of a killed process do not block the next one", async () => {
    const { path } = await workspace.prepare(STORY);
    write(path, "new.ts", "x\n");
    writeFileSync(join(repository.root, ".git/refs/heads/remand/S-1.lock"), "");
    writeFileSync(join(repository.root, ".git/refs/remand/kept/S-1.lock"), "");
    writeFileSync(join(repository.root, ".git/worktrees/S-1/HEAD.lock"), "");
    writeFileSync(join(repository.root, ".remand/index/S-1.copy-1-1.lock"), "");
    await make().keep(STORY, note(1));
    expect(readdirSync(join(repository.root, ".remand/index"))).toEqual(["S-1"]);
  });

  test("a process that still works for a dead engine is ended first", async () => {
    const { path } = await workspace.prepare(STORY);
    const { cookie } = siteOf(join(repository.root, ".remand"), STORY);
    const command = "while :; do touch new.ts; sleep 0.02; done >/dev/null 2>&1 &";
    await runProcess({
      command,
      cwd: path,
      env: repository.env,
      timeoutMs: 5000,
      sandbox: null,
      cookie,
      survivors: "spare",
    });
    await make().forget(STORY);
    expect(await leftovers(cookie)).toEqual([]);
    expect(existsSync(join(path, "new.ts"))).toBe(false);
  });

  test("leftovers of an interrupted attempt are dropped, and stay available", async () => {
    const { path } = await workspace.prepare(STORY);
    write(path, "src/a.ts", "kept\n");
    const kept = await workspace.keep(STORY, note(1));
    const files = filesIn(path);
    write(path, "src/a.ts", "half done\n");
    write(path, "half.ts", "half\n");
    write(path, "x.log", "ignored\n");
    gitIn(path, repository.env, "commit", "--quiet", "-am", "an agent's own");
    await workspace.forget(STORY);
    expect(filesIn(path)).toEqual({ ...files, "x.log": "- ignored\n" });
    expect(await workspace.currentState(STORY)).toEqual(kept);
    expect(branchTip()).toBe(kept.commit);
    expect(repository.git("show", "refs/remand/dropped/S-1:half.ts")).toBe("half\n");
    await workspace.forget(STORY);
    expect(repository.git("show", "refs/remand/dropped/S-1:half.ts")).toBe("half\n");
  });
});

describe("an agent's use of git", () => {
  let path: string;
  let first: { tree: string; commit: string };
  const git = (...args: string[]): string => gitIn(path, repository.env, ...args);

  beforeEach(async () => {
    ({ path } = await workspace.prepare(STORY));
    write(path, "src/a.ts", "first\n");
    first = await workspace.keep(STORY, note(1));
  });

  async function keptOnTop(): Promise<string> {
    const kept = await workspace.keep(STORY, note(2));
    expect(branchTip()).toBe(kept.commit);
    expect(git("branch", "--show-current").trim()).toBe("remand/S-1");
    expect(git("status", "--porcelain")).toBe("");
    expect(git("rev-list", kept.commit)).toContain(first.commit);
    return kept.commit;
  }

  test("keeps its own commits in the history", async () => {
    write(path, "own.ts", "x\n");
    git("add", ".");
    git("commit", "--quiet", "-m", "mine");
    const own = git("rev-parse", "HEAD").trim();
    expect(git("rev-list", await keptOnTop())).toContain(own);
  });

  test("changes the files but not the history when it rewrites kept commits", async () => {
    write(path, "src/a.ts", "amended\n");
    git("commit", "--quiet", "-a", "--amend", "-m", "nothing to see here");
    const commit = await keptOnTop();
    expect(git("show", `${commit}:src/a.ts`)).toBe("amended\n");
    git("reset", "--quiet", "--hard", "HEAD~2");
    expect(await workspace.changedPaths(STORY, commit, (await workspace.keep(STORY, note(3))).commit)).toEqual([
      "src/a.ts",
    ]);
  });

  test("may switch or delete the branch, or leave HEAD broken", async () => {
    git("checkout", "--quiet", "-b", "elsewhere");
    git("branch", "--quiet", "-D", "remand/S-1");
    write(path, "new.ts", "x\n");
    git("add", ".");
    git("commit", "--quiet", "-m", "elsewhere");
    git("checkout", "--quiet", "--detach");
    expect(git("show", `${await keptOnTop()}:new.ts`)).toBe("x\n");
  });

  test("may leave an unfinished merge and a lock", async () => {
    git("branch", "side", "HEAD~1");
    write(path, "src/a.ts", "ours\n");
    git("commit", "--quiet", "-am", "ours");
    git("checkout", "--quiet", "side");
    write(path, "src/a.ts", "theirs\n");
    git("commit", "--quiet", "-am", "theirs");
    git("checkout", "--quiet", "remand/S-1");
    expect(() => git("merge", "side")).toThrow("Command failed");
    writeFileSync(join(repository.root, ".git/worktrees/S-1/index.lock"), "");
    const commit = await keptOnTop();
    expect(git("show", `${commit}:src/a.ts`)).toContain("<<<<<<<");
    expect(existsSync(join(repository.root, ".git/worktrees/S-1/MERGE_HEAD"))).toBe(false);
  });

  test("may make a nested repository, whose files are kept, with and without commits", async () => {
    for (const name of ["scaffold", "deep/er"]) {
      write(path, `${name}/index.ts`, `in ${name}\n`);
      gitIn(join(path, name), repository.env, "init", "--quiet");
    }
    gitIn(join(path, "scaffold"), repository.env, "add", ".");
    gitIn(join(path, "scaffold"), repository.env, "commit", "--quiet", "-m", "of its own");
    const commit = await keptOnTop();
    expect(await workspace.changedPaths(STORY, first.commit, commit)).toEqual([
      "deep/er/index.ts",
      "scaffold/index.ts",
    ]);
    expect(readdirSync(join(repository.root, ".remand/nested-repositories")).sort()).toEqual(["S-1-1", "S-1-2"]);
  });

  test("may make links that lead out: they stay links, and their targets are not touched", async () => {
    const outside = join(repository.home, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "precious.txt"), "precious\n");
    symlinkSync(outside, join(path, "link"));
    rmSync(join(path, "src"), { recursive: true });
    symlinkSync(outside, join(path, "src"));
    const kept = await workspace.keep(STORY, note(2));
    expect(await workspace.fileAt(STORY, kept.tree, "link/precious.txt")).toBeNull();
    await workspace.restore(STORY, (await workspace.currentState(STORY)).tree, note(2));
    await workspace.forget(STORY);
    await workspace.dispose(STORY);
    expect(readFileSync(join(outside, "precious.txt"), "utf8")).toBe("precious\n");
  });
});

describe("removing a worktree", () => {
  test("keeps uncommitted work under its own ref and not on the branch", async () => {
    const { path } = await workspace.prepare(STORY);
    write(path, "late.ts", "late\n");
    await workspace.dispose(STORY);
    expect(existsSync(path)).toBe(false);
    expect(repository.git("show", "refs/remand/dropped/S-1:late.ts")).toBe("late\n");
    expect(repository.git("ls-tree", "--name-only", "remand/S-1")).not.toContain("late.ts");
    expect(repository.git("worktree", "list").trim().split("\n")).toHaveLength(1);
    expect(existsSync(join(repository.root, ".remand/index/S-1"))).toBe(false);
  });

  test("works when the folder is already gone", async () => {
    const { path } = await workspace.prepare(STORY);
    rmSync(path, { recursive: true });
    await workspace.dispose(STORY);
    expect(repository.git("worktree", "list").trim().split("\n")).toHaveLength(1);
    expect(branchTip()).not.toBe("");
  });
});

describe("submodules and large files", () => {
  function addSubmodule(): string {
    const source = join(repository.home, "library");
    mkdirSync(source);
    gitIn(source, repository.env, "init", "--quiet", "-b", "main");
    write(source, "lib.ts", "lib\n");
    gitIn(source, repository.env, "add", ".");
    gitIn(source, repository.env, "commit", "--quiet", "-m", "lib");
    repository.git("submodule", "--quiet", "add", source, "vendor/my lib");
    repository.git("commit", "--quiet", "-m", "with a submodule");
    return source;
  }

  test("a submodule is filled from the main checkout, without its remote", async () => {
    rmSync(addSubmodule(), { recursive: true });
    const { path } = await workspace.prepare(STORY);
    expect(readFileSync(join(path, "vendor/my lib/lib.ts"), "utf8")).toBe("lib\n");
    expect(gitIn(path, repository.env, "status", "--porcelain")).toBe("");
    write(path, "new.ts", "x\n");
    const kept = await workspace.keep(STORY, note(1));
    expect(await workspace.changedPaths(STORY, (await workspace.prepare(STORY)).base, kept.tree)).toEqual(["new.ts"]);
    await workspace.dispose(STORY);
    expect(existsSync(path)).toBe(false);
  });

  test("work in a submodule is not thrown away", async () => {
    addSubmodule();
    const { path } = await workspace.prepare(STORY);
    write(path, "vendor/my lib/lib.ts", "changed\n");
    expect(await refusal(workspace.dispose(STORY))).toMatchObject({
      code: "workspace-broken",
      message: expect.stringContaining("vendor/my lib"),
    });
    expect(existsSync(path)).toBe(true);
  });

  test("a submodule that the main checkout lacks is named", async () => {
    addSubmodule();
    repository.git("submodule", "--quiet", "deinit", "--force", "vendor/my lib");
    await workspace.prepare(STORY);
    expect(notices.join()).toMatch(/not initialised in .*: vendor\/my lib/);
  });

  test("a submodule without the commit says what to do", async () => {
    addSubmodule();
    repository.git("update-index", "--cacheinfo", `160000,${"1".repeat(40)},vendor/my lib`);
    repository.git("commit", "--quiet", "-m", "ahead");
    expect(await refusal(workspace.prepare(STORY))).toMatchObject({
      code: "workspace-broken",
      hint: expect.stringContaining("git submodule update --init vendor/my lib"),
    });
  });

  test.skipIf(hasLargeFiles())("pointers stay pointers without git-lfs", async () => {
    const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
    write(repository.root, "big.bin", pointer);
    write(repository.root, ".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
    repository.git("add", ".");
    repository.git("commit", "--quiet", "-m", "large");
    repository.git("config", "filter.lfs.required", "true");
    repository.git("config", "filter.lfs.process", "git-lfs filter-process");
    repository.git("config", "filter.lfs.smudge", "git-lfs smudge -- %f");
    repository.git("config", "filter.lfs.clean", "git-lfs clean -- %f");
    const { path, base } = await workspace.prepare(STORY);
    expect(readFileSync(join(path, "big.bin"), "utf8")).toBe(pointer);
    write(path, "other.bin", pointer);
    expect(await workspace.changedPaths(STORY, base, (await workspace.keep(STORY, note(1))).tree)).toEqual([
      "other.bin",
    ]);
    expect(notices).toEqual(["git-lfs is not installed: large files stay pointers in the worktrees"]);
  });
});

describe("dependencies", () => {
  const PROJECT = {
    "package.json": "{}\n",
    "package-lock.json": "{}\n",
    ".gitignore": "node_modules/\n.venv/\ntarget\n",
  };
  /** Makes programs that only record that they were called. */
  function fakeTools(...names: string[]): Record<string, string> {
    const bin = join(repository.home, "bin");
    for (const name of names) {
      write(bin, name, `#!/bin/sh\necho "${name} $*" >> "${repository.home}/calls"; mkdir -p node_modules\n`);
      execFileSync("chmod", ["+x", join(bin, name)]);
    }
    return { ...repository.env, PATH: `${bin}:${repository.env["PATH"]}` };
  }
  const calls = (): string[] => {
    const file = join(repository.home, "calls");
    return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  };
  function again(files: Record<string, string>): void {
    repository.clear();
    start(files);
  }

  test("are installed by the lockfile if none can be shared", async () => {
    again(PROJECT);
    await make({ setupEnv: fakeTools("npm") }).prepare(STORY);
    expect(calls()).toEqual(["npm ci"]);
    await make({ setupEnv: fakeTools("npm") }).prepare(STORY);
    expect(calls()).toEqual(["npm ci"]);
  });

  test("are linked if the lockfiles are the same; the folder stays ignored and the links are never committed", async () => {
    again(PROJECT);
    write(repository.root, "node_modules/left-pad/index.js", "module.exports = 1\n");
    write(repository.root, "node_modules/@scope/pkg/index.js", "module.exports = 2\n");
    write(repository.root, "node_modules/.bin/tool", "#!/bin/sh\n");
    write(repository.root, "node_modules/.cache/x", "cache\n");
    write(repository.root, "node_modules/.package-lock.json", "{}\n");
    mkdirSync(join(repository.root, "local"));
    symlinkSync("../local", join(repository.root, "node_modules/local"));
    const { path, tree, base } = await make({ setupEnv: fakeTools("npm") }).prepare(STORY);
    expect(calls()).toEqual([]);
    expect(readFileSync(join(path, "node_modules/left-pad/index.js"), "utf8")).toContain("1");
    expect(readFileSync(join(path, "node_modules/@scope/pkg/index.js"), "utf8")).toContain("2");
    expect(readdirSync(join(path, "node_modules")).sort()).toEqual([".bin", "@scope", "left-pad", "local"]);
    expect(filesIn(path)["node_modules/local"]).toBe("-> ../local");
    expect(await workspace.changedPaths(STORY, base, tree)).toEqual([]);
    await workspace.dispose(STORY);
    expect(existsSync(join(repository.root, "node_modules/left-pad/index.js"))).toBe(true);
  });

  test("are not linked if the lockfiles differ, the folder is not ignored, or packages are the project's own", async () => {
    again(PROJECT);
    write(repository.root, "node_modules/x/index.js", "");
    write(repository.root, "package-lock.json", '{"changed": true}\n');
    await make({ setupEnv: fakeTools("npm") }).prepare(storyId("differs"));
    repository.git("checkout", "--quiet", "package-lock.json");
    expect(calls()).toEqual(["npm ci"]);
    write(repository.root, "package.json", '{"workspaces": ["packages/*"]}\n');
    await make({ setupEnv: fakeTools("npm") }).prepare(storyId("workspaces"));
    expect(calls()).toHaveLength(2);
    repository.git("checkout", "--quiet", "package.json");
    write(repository.root, ".gitignore", "nothing\n");
    await make({ setupEnv: fakeTools("npm") }).prepare(storyId("not-ignored"));
    expect(calls()).toHaveLength(3);
  });

  test("a Python environment is linked unless the project is installed in it from the main checkout", async () => {
    again({ "uv.lock": "x\n", ".gitignore": ".venv\n" });
    write(repository.root, ".venv/lib/python3.12/site-packages/dep/__init__.py", "");
    write(repository.root, ".venv/pyvenv.cfg", "home = /usr/bin\n");
    const { path } = await make({ setupEnv: fakeTools("uv") }).prepare(storyId("plain"));
    expect(calls()).toEqual([]);
    expect(existsSync(join(path, ".venv/lib/python3.12/site-packages/dep/__init__.py"))).toBe(true);
    write(repository.root, ".venv/lib/python3.12/site-packages/_project.pth", `${repository.root}/src\n`);
    await make({ setupEnv: fakeTools("uv") }).prepare(storyId("editable"));
    expect(calls()).toEqual(["uv sync --frozen"]);
  });

  test("other ignored folders are linked if configured; an empty list links nothing", async () => {
    again(PROJECT);
    write(repository.root, "node_modules/x/index.js", "");
    write(repository.root, "target/debug/thing", "built\n");
    const { path } = await make({ share: ["node_modules", "target"], setupEnv: fakeTools("npm") }).prepare(
      storyId("both"),
    );
    expect(existsSync(join(path, "target/debug/thing"))).toBe(true);
    expect(calls()).toEqual([]);
    const none = await make({ share: [], setupEnv: fakeTools("npm") }).prepare(storyId("none"));
    expect(existsSync(join(none.path, "target"))).toBe(false);
    expect(calls()).toEqual(["npm ci"]);
    await make({ share: ["../outside", "/etc"], setupEnv: fakeTools("npm") }).prepare(storyId("outside"));
    expect(existsSync(join(repository.root, ".remand/worktrees/outside/etc"))).toBe(false);
  });

  test("a configured setup command runs, unless folders to share replace it", async () => {
    again(PROJECT);
    write(repository.root, "node_modules/x/index.js", "");
    const setup = `echo own >> "${repository.home}/calls"`;
    await make({ setup }).prepare(storyId("own"));
    expect(calls()).toEqual(["own"]);
    await make({ setup, share: ["node_modules"] }).prepare(storyId("spared"));
    expect(calls()).toEqual(["own"]);
    await make({ setup, share: ["node_modules", "missing"] }).prepare(storyId("not-all"));
    expect(calls()).toEqual(["own", "own"]);
  });

  test("a setup that fails says how, and is tried again the next time", async () => {
    again(PROJECT);
    const found = await refusal(make({ setup: "echo no network; exit 3" }).prepare(STORY));
    expect(found).toMatchObject({
      code: "setup-failed",
      message: expect.stringMatching(/failed with 3 in .*:\n {2}no network/),
    });
    const late = await refusal(make({ setup: "sleep 30", setupTimeoutMs: 200 }).prepare(STORY));
    expect(late.message).toContain("ended: timeout");
    const { path } = await make({ setup: "touch installed.log" }).prepare(STORY);
    expect(existsSync(join(path, "installed.log"))).toBe(true);
    expect(dirname(path)).toBe(join(repository.root, ".remand/worktrees"));
  });
});

test("moving the start's ref does not change what the work is compared with", async () => {
  const { base, path } = await workspace.prepare(STORY);
  write(path, "src/a.ts", "the agent's\n");
  gitIn(path, repository.env, "commit", "--quiet", "--all", "-m", "mine");
  repository.git("update-ref", "refs/remand/base/S-1", "refs/heads/remand/S-1");
  const place = await workspace.prepare(STORY);
  expect(place.base).toBe(base);
  expect(repository.git("rev-parse", "refs/remand/base/S-1").trim()).toBe(base);
  const kept = await workspace.keep(STORY, note(1));
  expect(await workspace.changedPaths(STORY, place.base, kept.commit)).toEqual(["src/a.ts"]);
});
