import { chmodSync, existsSync, lstatSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { storyId, treeId } from "../../src/core/events/ids.ts";
import { RemandError } from "../../src/core/events/error.ts";
import { readGitDiff } from "../../src/parse/code/git-output.ts";
import type { CommitNote, Workspace } from "../../src/ports/workspace.ts";
import { filesIn, makeRepository, write, type TestRepository } from "../kit/git-repository.ts";
import { runsAll } from "../sampled.ts";

const STORY = storyId("S-1");
/** How many random states are committed and restored. */
const STATES = runsAll ? 20 : 8;

export const note = (attempt: number, more: Partial<CommitNote> = {}): CommitNote => ({
  attempt,
  subject: `attempt ${attempt}`,
  journalHead: "f".repeat(64),
  ...more,
});

/** Names that break programs which treat names as words. */
const AWKWARD = [
  "grün ✓.txt",
  "two  spaces.txt",
  "line\nend.txt",
  'quo"te.txt',
  "tab\there.txt",
  "-rf",
  "--help",
  "back\\slash",
  "a:b*c?[d]",
  ":(exclude)x",
  "$(touch pwned)",
  "ünï/cödé/深い.md",
];

/** Tests what every workspace guarantees, wherever a story's files are. `make` gets a repository with one commit. */
export function workspaceContract(name: string, make: (repository: TestRepository) => Workspace): void {
  describe(`${name} keeps the workspace's contract`, () => {
    let repository: TestRepository;
    let workspace: Workspace;
    let path: string;
    let base: string;

    beforeEach(async () => {
      repository = makeRepository({
        "README.md": "hello\n",
        "src/a.ts": "one\ntwo\nthree\n",
        "src/b.ts": "b\n".repeat(20),
        ".gitignore": "dist/\n*.log\n",
      });
      workspace = make(repository);
      ({ path, base } = await workspace.prepare(STORY));
    });
    afterEach(() => repository.clear());

    const put = (file: string, text: string | Uint8Array): void => write(path, file, text);
    const messageOf = (commit: string): string => repository.git("show", "--no-patch", "--format=%B", commit);

    test("a worktree is found again, with the same start", async () => {
      const first = await workspace.prepare(STORY);
      expect(first.commit).toBe(repository.git("rev-parse", "HEAD").trim());
      expect(first.tree).toBe(repository.git("rev-parse", "HEAD^{tree}").trim());
      expect(first.base).toBe(first.commit);
      put("src/a.ts", "changed\n");
      await workspace.keep(STORY, note(1));
      const again = await make(repository).prepare(STORY);
      expect(again).toMatchObject({ path, base, branch: first.branch });
      expect(again.tree).not.toBe(first.tree);
    });

    test("some files are restored with all their properties, and the others stay", async () => {
      symlinkSync("a.ts", join(path, "src/link.ts"));
      put("tool.sh", "old\n");
      chmodSync(join(path, "tool.sh"), 0o755);
      for (const file of AWKWARD) put(file, "old\n");
      const before = await workspace.keep(STORY, note(1));
      put("src/a.ts", "mine\n");
      put("src/b.ts", "theirs\n");
      put("src/new.ts", "theirs\n");
      put("deep/er/new.ts", "theirs\n");
      put("dist/out.js", "built");
      chmodSync(join(path, "tool.sh"), 0o644);
      for (const file of ["README.md", "src/link.ts"]) rmSync(join(path, file));
      put("README.md/now-a-folder.txt", "theirs\n");
      put("src/link.ts", "now a file\n");
      for (const file of AWKWARD) put(file, "new\n");
      const after = await workspace.keep(STORY, note(2));
      const theirs = (await workspace.changedPaths(STORY, before.tree, after.tree)).filter(
        (file) => file !== "src/a.ts",
      );
      const back = await workspace.restorePaths(STORY, theirs, before.tree, note(2, { subject: "put back" }));
      expect(await workspace.changedPaths(STORY, before.tree, back.tree)).toEqual(["src/a.ts"]);
      expect(await workspace.currentState(STORY)).toEqual(back);
      expect(filesIn(path)).toMatchObject({
        "src/a.ts": "- mine\n",
        "src/link.ts": "-> a.ts",
        "tool.sh": "x old\n",
        "dist/out.js": "- built",
        "README.md": "- hello\n",
      });
      expect(existsSync(join(path, "deep"))).toBe(false);
      // The replaced files are still in the history.
      expect(await workspace.fileAt(STORY, after.commit, "src/b.ts")).toBe("theirs\n");
      expect(await workspace.restorePaths(STORY, theirs, before.commit, note(2, { subject: "put back" }))).toEqual(
        back,
      );
      // The next attempt may have exactly the same files, and still restores them itself.
      const next = await workspace.restorePaths(STORY, theirs, before.tree, note(3, { subject: "put back" }));
      expect(next.tree).toBe(back.tree);
      expect(next.commit).not.toBe(back.commit);
      await expect(workspace.restorePaths(STORY, ["x"], "nosuch", note(2))).rejects.toBeInstanceOf(RemandError);
    });

    test("reading the state sees changed, new and deleted files, not ignored ones, and changes nothing", async () => {
      const before = await workspace.currentState(STORY);
      expect(await workspace.currentState(STORY)).toEqual(before);
      put("dist/out.js", "built");
      put("x.log", "log");
      expect(await workspace.currentState(STORY)).toEqual(before);
      put("new.ts", "new\n");
      rmSync(join(path, "README.md"));
      const files = filesIn(path);
      const after = await workspace.currentState(STORY);
      expect(after.commit).toBe(before.commit);
      expect(await workspace.changedPaths(STORY, before.tree, after.tree)).toEqual(["README.md", "new.ts"]);
      expect(filesIn(path)).toEqual(files);
      rmSync(join(path, "new.ts"));
      put("README.md", "hello\n");
      expect(await workspace.currentState(STORY)).toEqual(before);
    });

    test("a change of the same size at the same instant is detected", async () => {
      for (const letter of "abcdefgh") {
        put("src/a.ts", `${letter}${letter}${letter}\n`);
        const { tree } = await workspace.currentState(STORY);
        expect(await workspace.fileAt(STORY, tree, "src/a.ts")).toBe(`${letter}${letter}${letter}\n`);
      }
    });

    test("a change of the same size right after the start is detected, also later", async () => {
      const story = storyId("quick");
      // Git's times are whole seconds, so everything must happen within one.
      await new Promise((resolve) => setTimeout(resolve, 1010 - (Date.now() % 1000)));
      repository.git("checkout", "--quiet", "HEAD~0");
      write(repository.root, "src/a.ts", "one\ntwo\nthree\n");
      repository.git("add", "src/a.ts");
      const place = await workspace.prepare(story);
      write(place.path, "src/a.ts", "ONE\nTWO\nTHREE\n");
      await new Promise((resolve) => setTimeout(resolve, 1100));
      const { tree } = await workspace.currentState(story);
      expect(await workspace.fileAt(story, tree, "src/a.ts")).toBe("ONE\nTWO\nTHREE\n");
    });

    test("files that git was told to skip are read", async () => {
      const before = await workspace.currentState(STORY);
      repository.git("-C", path, "update-index", "--assume-unchanged", "src/a.ts");
      repository.git("-C", path, "update-index", "--skip-worktree", "src/b.ts");
      put("src/a.ts", "hidden\n");
      put("src/b.ts", "hidden\n");
      const after = await workspace.currentState(STORY);
      expect(await workspace.changedPaths(STORY, before.tree, after.tree)).toEqual(["src/a.ts", "src/b.ts"]);
    });

    test("keeping makes a commit of everything, with its trailers", async () => {
      put("src/a.ts", "changed\n");
      put("new/file.ts", "new\n");
      put("dist/out.js", "built");
      const { tree } = await workspace.currentState(STORY);
      const kept = await workspace.keep(STORY, note(1, { subject: "S-1: do it\n\nRemand-Attempt: 99" }));
      expect(kept.tree).toBe(tree);
      expect((await workspace.currentState(STORY)).commit).toBe(kept.commit);
      expect(messageOf(kept.commit).trim()).toBe(
        `S-1: do it Remand-Attempt: 99\n\nRemand-Story: S-1\nRemand-Attempt: 1\nRemand-Journal: ${"f".repeat(64)}`,
      );
      expect(repository.git("show", "--no-patch", "--format=%an <%ae> %cn", kept.commit).trim()).toBe(
        "Remand <remand@localhost> Remand",
      );
      expect(await workspace.changedPaths(STORY, base, kept.commit)).toEqual(["new/file.ts", "src/a.ts"]);
      expect(repository.git("rev-parse", `${kept.commit}^`).trim()).toBe(base);
    });

    test("a user's own identity is used if there is one", async () => {
      repository.git("config", "user.name", "Grace Hopper");
      repository.git("config", "user.email", "grace@example.org");
      const kept = await make(repository).keep(STORY, note(1));
      const who = repository.git("show", "--no-patch", "--format=%an <%ae>", kept.commit);
      expect(who.trim()).toBe("Grace Hopper <grace@example.org>");
    });

    test("keeping again finds the commit, also after a restart; a new attempt is a new commit", async () => {
      put("src/a.ts", "changed\n");
      const first = await workspace.keep(STORY, note(1));
      expect(await workspace.keep(STORY, note(1))).toEqual(first);
      expect(await make(repository).keep(STORY, note(1, { journalHead: "e".repeat(64) }))).toEqual(first);
      const second = await workspace.keep(STORY, note(2));
      expect(second.tree).toBe(first.tree);
      expect(second.commit).not.toBe(first.commit);
      expect(repository.git("rev-parse", `${second.commit}^`).trim()).toBe(first.commit);
      put("src/a.ts", "changed more\n");
      const more = await workspace.keep(STORY, note(2));
      expect(more.commit).not.toBe(second.commit);
    });

    test("the user's hooks and signatures are not used", async () => {
      for (const hook of ["pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-checkout"]) {
        write(repository.root, `.git/hooks/${hook}`, `#!/bin/sh\ntouch ${join(repository.home, "hooked")}; exit 1\n`);
        chmodSync(join(repository.root, ".git/hooks", hook), 0o755);
      }
      repository.git("config", "commit.gpgSign", "true");
      repository.git("config", "core.safecrlf", "true");
      repository.git("config", "core.autocrlf", "input");
      put("crlf.txt", "a\r\nb\n");
      const kept = await make(repository).keep(STORY, note(1));
      expect(await workspace.changedPaths(STORY, base, kept.commit)).toEqual(["crlf.txt"]);
      expect(existsSync(join(repository.home, "hooked"))).toBe(false);
    });

    test("awkward names are committed, listed, shown, read and restored", async () => {
      for (const file of AWKWARD) put(file, `in ${file}`);
      const one = await workspace.keep(STORY, note(1));
      expect(await workspace.changedPaths(STORY, base, one.commit)).toEqual([...AWKWARD].sort());
      for (const file of AWKWARD) expect(await workspace.fileAt(STORY, one.tree, file)).toBe(`in ${file}`);
      const diff = readGitDiff(await workspace.diff(STORY, base, one.commit));
      expect(diff.map((file) => file.path).sort()).toEqual([...AWKWARD].sort());
      expect(diff.map((file) => file.hunks[0]?.lines[0]?.text)).toEqual(
        diff.map((file) => `in ${file.path}`.split("\n")[0]),
      );
      const files = filesIn(path);
      for (const file of AWKWARD) rmSync(join(path, file));
      await workspace.keep(STORY, note(2));
      await workspace.restore(STORY, one.tree, note(2));
      expect(filesIn(path)).toEqual(files);
      expect(existsSync(join(path, "pwned"))).toBe(false);
    });

    test("a rename has both names, and binaries, links and modes count as changes", async () => {
      renameSync(join(path, "src/b.ts"), join(path, "src/renamed.ts"));
      put(
        "image.png",
        Uint8Array.from({ length: 300 }, (_, i) => i % 256),
      );
      symlinkSync("/etc/passwd", join(path, "outside"));
      chmodSync(join(path, "src/a.ts"), 0o755);
      const kept = await workspace.keep(STORY, note(1));
      expect(await workspace.changedPaths(STORY, base, kept.tree)).toEqual([
        "image.png",
        "outside",
        "src/a.ts",
        "src/b.ts",
        "src/renamed.ts",
      ]);
      const diff = await workspace.diff(STORY, base, kept.commit);
      expect(diff).toContain("rename from src/b.ts\nrename to src/renamed.ts\n");
      expect(diff).toContain("Binary files /dev/null and b/image.png differ");
      expect(diff).toContain("new mode 100755");
      expect(await workspace.fileAt(STORY, kept.commit, "outside")).toBe("/etc/passwd");
      await workspace.restore(STORY, (await workspace.prepare(STORY)).tree, note(1));
    });

    test("a diff is the same whatever the user's configuration", async () => {
      put("src/a.ts", "one\n2\nthree\n");
      put(".gitattributes", "*.ts diff=loud\n");
      const { tree } = await workspace.keep(STORY, note(1));
      const before = await workspace.diff(STORY, base, tree);
      expect(before).toContain("--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n");
      const settings = {
        "diff.noprefix": "true",
        "diff.mnemonicPrefix": "true",
        "diff.external": "false",
        "diff.context": "0",
        "diff.loud.textconv": "echo loud",
        "diff.loud.command": "false",
        "color.ui": "always",
        "diff.renames": "copies",
        "diff.algorithm": "patience",
      };
      for (const [key, value] of Object.entries(settings)) repository.git("config", key, value);
      expect(await workspace.diff(STORY, base, tree)).toBe(before);
    });

    test("a file is readable in any version; a missing one is null; an unknown tree is an error", async () => {
      put("src/a.ts", "later\n");
      const { tree } = await workspace.keep(STORY, note(1));
      expect(await workspace.fileAt(STORY, base, "src/a.ts")).toBe("one\ntwo\nthree\n");
      expect(await workspace.fileAt(STORY, tree, "src/a.ts")).toBe("later\n");
      expect(await workspace.fileAt(STORY, tree, "src/none.ts")).toBeNull();
      expect(await workspace.fileAt(STORY, tree, "src")).toBeNull();
      for (const bad of ["0".repeat(40), "--output=pwned", "no-such-branch", ""]) {
        await expect(workspace.fileAt(STORY, bad, "x")).rejects.toBeInstanceOf(RemandError);
        await expect(workspace.changedPaths(STORY, bad, tree)).rejects.toBeInstanceOf(RemandError);
        await expect(workspace.diff(STORY, base, bad)).rejects.toBeInstanceOf(RemandError);
      }
      await expect(workspace.restore(STORY, treeId("0".repeat(40)), note(1))).rejects.toBeInstanceOf(RemandError);
      expect(await workspace.fileAt(STORY, (await workspace.currentState(STORY)).tree, "src/a.ts")).toBe("later\n");
    });

    test("an earlier tree is restored as the newest state, and what it replaces is not lost", async () => {
      put("src/a.ts", "best\n");
      put("best/only.ts", "x\n");
      const best = await workspace.keep(STORY, note(1));
      const files = filesIn(path);
      put("src/a.ts", "worse\n");
      put("worse/only.ts", "y\n");
      put("dist/out.js", "ignored");
      rmSync(join(path, "best"), { recursive: true });
      chmodSync(join(path, "README.md"), 0o755);
      const worse = await workspace.keep(STORY, note(2));
      put("unsaved.ts", "not kept yet\n");
      const restored = await workspace.restore(STORY, best.tree, note(2, { subject: "back to the best tree" }));
      expect(restored.tree).toBe(best.tree);
      expect(filesIn(path)).toEqual({ ...files, "dist/out.js": "- ignored" });
      expect(existsSync(join(path, "worse"))).toBe(false);
      expect(await workspace.currentState(STORY)).toEqual(restored);
      const history = repository.git("rev-list", restored.commit);
      expect(history).toContain(worse.commit);
      expect(repository.git("log", "--format=%H", restored.commit, "--", "unsaved.ts").trim()).not.toBe("");
      expect(await workspace.restore(STORY, best.tree, note(2, { subject: "back to the best tree" }))).toEqual(
        restored,
      );
      expect((await workspace.keep(STORY, note(3))).commit).not.toBe(restored.commit);
    });

    test("files become folders, folders files, files links, and back", async () => {
      const start = await workspace.currentState(STORY);
      const files = filesIn(path);
      rmSync(join(path, "src"), { recursive: true });
      put("src", "a file now\n");
      rmSync(join(path, "README.md"));
      put("README.md/inside.md", "a folder now\n");
      rmSync(join(path, ".gitignore"));
      symlinkSync("README.md", join(path, ".gitignore"));
      const other = await workspace.keep(STORY, note(1));
      const otherFiles = filesIn(path);
      await workspace.restore(STORY, start.tree, note(1));
      expect(filesIn(path)).toEqual(files);
      await workspace.restore(STORY, other.tree, note(2));
      expect(filesIn(path)).toEqual(otherFiles);
    });

    test("files that the restored tree ignores are not deleted if a later tree had stopped ignoring them", async () => {
      const start = await workspace.currentState(STORY);
      put("dist/out.js", "built\n");
      put("deep/dist/x/y.js", "built too\n");
      put("secret.log", "mine\n");
      put("deep/new.ts", "new\n");
      rmSync(join(path, ".gitignore"));
      await workspace.keep(STORY, note(1));
      await workspace.restore(STORY, start.tree, note(1));
      expect(Object.keys(filesIn(path)).sort()).toEqual(
        [".gitignore", "README.md", "deep/dist/x/y.js", "dist/out.js", "secret.log", "src/a.ts", "src/b.ts"].sort(),
      );
      expect((await workspace.currentState(STORY)).tree).toBe(start.tree);
    });

    test(`${STATES} random states all come back as they were`, async () => {
      let seed = 7;
      const random = (below: number): number => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) % below;
      const states: { tree: string; files: Record<string, string> }[] = [];
      for (let round = 1; round <= STATES; round++) {
        for (let edit = 0; edit < 4; edit++) {
          const file = join(path, ["a", "b", "src/a.ts", "d/e/f", "d/g", "d"][random(6)]!);
          const isFolder = existsSync(file) && lstatSync(file).isDirectory();
          const parent = join(file, "..");
          if (existsSync(parent) && !lstatSync(parent).isDirectory()) rmSync(parent);
          if (random(3) === 0 || isFolder) rmSync(file, { recursive: true, force: true });
          else {
            mkdirSync(parent, { recursive: true });
            writeFileSync(file, `${random(5)}\n`);
          }
        }
        const { tree } = await workspace.keep(STORY, note(round));
        states.push({ tree, files: filesIn(path) });
      }
      for (let round = 0; round < STATES; round++) {
        const { tree, files } = states[random(STATES)]!;
        await workspace.restore(STORY, treeId(tree), note(STATES));
        expect(filesIn(path)).toEqual(files);
      }
    });

    test("the user's branch, index, stash and configuration are not touched", async () => {
      write(repository.root, "src/b.ts", "stashed\n");
      repository.git("stash");
      write(repository.root, "staged.ts", "staged\n");
      repository.git("add", "staged.ts");
      const before = repository.standing();
      await workspace.prepare(STORY);
      put("src/a.ts", "changed\n");
      const one = await workspace.keep(STORY, note(1));
      put("src/a.ts", "changed again\n");
      await workspace.keep(STORY, note(2));
      await workspace.currentState(STORY);
      await workspace.restore(STORY, one.tree, note(2));
      await workspace.forget(STORY);
      expect(repository.standing()).toEqual(before);
    });

    test("git's variables in the caller's environment have no effect", async () => {
      const elsewhere = makeRepository({ "other.txt": "other\n" });
      const env = {
        ...repository.env,
        GIT_DIR: join(elsewhere.root, ".git"),
        GIT_WORK_TREE: elsewhere.root,
        GIT_INDEX_FILE: "/nonexistent/index",
        GIT_AUTHOR_NAME: "Nobody",
      };
      put("src/a.ts", "changed\n");
      const kept = await make({ ...repository, env }).keep(STORY, note(1));
      expect(repository.git("cat-file", "-t", kept.commit).trim()).toBe("commit");
      elsewhere.clear();
    });

    test("many calls at once wait for each other", async () => {
      put("src/a.ts", "changed\n");
      const looks = await Promise.all(Array.from({ length: 6 }, () => workspace.currentState(STORY)));
      expect(new Set(looks.map(({ tree }) => tree)).size).toBe(1);
      const kept = await Promise.all(Array.from({ length: 4 }, () => workspace.keep(STORY, note(1))));
      expect(new Set(kept.map(({ commit }) => commit)).size).toBe(1);
    });

    test("the state folder is not part of the work", async () => {
      expect(repository.git("status", "--porcelain", "--untracked-files=all")).not.toContain(".remand");
      const { tree } = await workspace.currentState(STORY);
      expect(repository.git("ls-tree", "-r", "--name-only", tree)).not.toContain(".remand");
    });

    test("committed work outlives its worktree", async () => {
      put("src/a.ts", "changed\n");
      const kept = await workspace.keep(STORY, note(1));
      await workspace.dispose(STORY);
      await workspace.dispose(STORY);
      expect(repository.git("for-each-ref", "--contains", kept.commit)).not.toBe("");
      expect(await workspace.fileAt(STORY, kept.commit, "src/a.ts")).toBe("changed\n");
      const again = await workspace.prepare(STORY);
      expect(again).toMatchObject({ tree: kept.tree, commit: kept.commit, base });
    });

    test("a detached HEAD and an unusual id work", async () => {
      repository.git("checkout", "--quiet", "--detach");
      for (const id of ["a..b", "v1.", "x.lock", "A_-.b...c", "9"]) {
        const place = await workspace.prepare(storyId(id));
        write(place.path, "f.txt", id);
        const kept = await workspace.keep(storyId(id), note(1));
        expect(await workspace.changedPaths(storyId(id), place.base, kept.tree)).toContain("f.txt");
      }
    });

    test("a folder inside the repository is a folder inside the worktree", async () => {
      const inside = make({ ...repository, root: join(repository.root, "src") });
      const place = await inside.prepare(storyId("inner"));
      expect(place.path.endsWith("/src")).toBe(true);
      expect(existsSync(join(place.path, "a.ts"))).toBe(true);
      write(place.path, "../top.txt", "seen too\n");
      const { tree } = await inside.currentState(storyId("inner"));
      expect(await inside.changedPaths(storyId("inner"), place.base, tree)).toEqual(["top.txt"]);
    });
  });
}
