import { existsSync, readFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createExperimentRunner } from "../../../src/adapters/git/experiment-runner.ts";
import { storyId } from "../../../src/core/events/ids.ts";
import { note } from "../../contract/workspace.ts";
import { filesIn, gitIn, write } from "../../kit/git-repository.ts";
import { asItIs, makeFleet, type Fleet, type Machine } from "../../kit/fleet/shared-machines.ts";

const STORY = storyId("S-1");
const BRANCH = "refs/heads/remand/S-1";
let fleet: Fleet;
let one: Machine;
let two: Machine;

beforeEach(async () => {
  fleet = makeFleet();
  [one, two] = await Promise.all([fleet.machine("one"), fleet.machine("two")]);
});
afterEach(() => fleet.clear());

const attemptsOf = (story = "S-1"): readonly string[] => fleet.refs(`refs/remand/attempts/${story}`);
const branchTip = (): string => fleet.git("rev-parse", BRANCH).trim();

/** Pushes to the target branch from outside the fleet. */
function moveMain(): string {
  fleet.origin.git("commit", "--quiet", "--allow-empty", "-m", "newer");
  fleet.origin.git("push", "--quiet", fleet.bare, "main");
  return fleet.origin.git("rev-parse", "HEAD").trim();
}

/** Prepares the worktree for the story's next step on that machine. */
async function arrive(machine: Machine): ReturnType<Machine["work"]["prepare"]> {
  fleet.journal.begin(STORY);
  return machine.work.prepare(STORY);
}

describe("two machines work on one story in turns", () => {
  test("each continues from the other's state, with all of it", async () => {
    const odd = "grün ✓\nline.txt";
    const first = await one.attempt(STORY, 1, { "a.txt": "two\n", [odd]: "odd name\n" });
    const second = await two.attempt(STORY, 2, { "c.txt": "three\n" });
    expect(fleet.git("rev-parse", `${second.commit}^`).trim()).toBe(first.commit);
    const place = await arrive(one);
    expect(place).toMatchObject({ commit: second.commit, tree: second.tree });
    expect(readFileSync(join(place.path, odd), "utf8")).toBe("odd name\n");
    expect(filesIn(place.path)).toMatchObject({ "a.txt": "- two\n", "c.txt": "- three\n", "b.txt": "- b\n" });
    // Both compare the work with the same start.
    expect(place.base).toBe(fleet.git("rev-parse", "main").trim());
    expect(await one.work.changedPaths(STORY, place.base, second.tree)).toEqual(["a.txt", "c.txt", odd]);
    expect(gitIn(place.path, fleet.origin.env, "status", "--porcelain")).toBe("");
  });

  test("a new story starts from the branch's current commit, whichever machine starts it", async () => {
    const newer = moveMain();
    expect(await arrive(one)).toMatchObject({ commit: newer, base: newer });
  });

  test("the journal decides, not the current tip of a branch, here or on the remote", async () => {
    const first = await one.attempt(STORY, 1, { "a.txt": "one\n1\n" });
    const second = await one.attempt(STORY, 2, { "a.txt": "one\n2\n" });
    await arrive(one);
    expect(branchTip()).toBe(second.commit);
    // However this happened: the journal names the first commit.
    fleet.journal.commits.set(STORY, first.commit);
    expect(await arrive(two)).toMatchObject({ commit: first.commit, tree: first.tree });
    expect(await arrive(one)).toMatchObject({ commit: first.commit, tree: first.tree });
  });

  test("objects of another machine can be read on one that never worked on the story", async () => {
    const base = fleet.git("rev-parse", "main").trim();
    const first = await one.attempt(STORY, 1, { "a.txt": "two\n" });
    const second = await one.attempt(STORY, 2, { "c.txt": "new\n" });
    expect(await two.work.fileAt(STORY, first.tree, "a.txt")).toBe("two\n");
    expect(await two.work.changedPaths(STORY, first.tree, second.commit)).toEqual(["c.txt"]);
    expect(await two.work.diff(STORY, base, second.tree)).toContain("+two");
    await expect(two.work.fileAt(STORY, "0".repeat(40), "a.txt")).rejects.toMatchObject({ name: "RemandError" });
  });

  test("a server that sends only objects with a ref is enough", async () => {
    write(fleet.origin.home, "old", "[protocol]\n\tversion = 0\n");
    const env = { ...fleet.origin.env, GIT_CONFIG_GLOBAL: join(fleet.origin.home, "old") };
    const third = await fleet.machine("three", { env });
    const first = await one.attempt(STORY, 1, { "a.txt": "two\n" });
    await one.attempt(STORY, 2, { "a.txt": "three\n" });
    expect(await third.work.fileAt(STORY, first.tree, "a.txt")).toBe("two\n");
    expect(await third.work.currentState(STORY)).toMatchObject({ commit: fleet.journal.commits.get(STORY) });
    // A new story is at a commit of its target, which may have moved on since.
    const begun = moveMain();
    moveMain();
    fleet.journal.commits.set(storyId("S-2"), begun);
    expect(await third.work.currentState(storyId("S-2"))).toMatchObject({ commit: begun });
  });

  test("an experiment runner accepts trees of other machines", async () => {
    const { tree } = await one.attempt(STORY, 1, { "a.txt": "two\n" });
    const { root } = two.clone;
    const local = createExperimentRunner({
      root,
      setup: null,
      share: null,
      env: fleet.origin.env,
    });
    const bench = await two.work.experimentRunner(local).open({ signal: new AbortController().signal });
    expect(await bench.set(tree, new Map())).toBe(tree);
    expect(bench.text("a.txt")).toBe("two\n");
    // With one file as in another commit.
    await bench.set(tree, new Map(), { from: "HEAD", paths: ["a.txt"] });
    expect(bench.text("a.txt")).toBe("one\n");
    await bench.close();
  });

  test("an earlier tree, and single files, can be restored on a machine that never had the story", async () => {
    const first = await one.attempt(STORY, 1, { "a.txt": "best\n" });
    const second = await one.attempt(STORY, 2, { "a.txt": "worse\n", "c.txt": "c\n" });
    const back = await two.work.restore(STORY, first.tree, note(2, { subject: "back" }));
    expect(back.tree).toBe(first.tree);
    fleet.journal.end(STORY, back.commit);
    fleet.journal.begin(STORY);
    const third = await fleet.machine("three");
    const put = await third.work.restorePaths(STORY, ["c.txt"], second.tree, note(3, { subject: "put" }));
    fleet.journal.end(STORY, put.commit);
    const { path } = await arrive(one);
    expect(filesIn(path)).toMatchObject({ "a.txt": "- best\n", "c.txt": "- c\n" });
  });
});

describe("leftovers", () => {
  test("of an interrupted attempt are removed when the story returns, and stay available", async () => {
    await one.attempt(STORY, 1, { "a.txt": "kept\n" });
    const { path } = await arrive(one);
    write(path, "half.txt", "half done\n");
    // That machine dies here. The attempt is interrupted, and another machine judges the committed work.
    expect(filesIn((await arrive(two)).path)).not.toHaveProperty("half.txt");
    const again = await arrive(one);
    expect(filesIn(again.path)).toMatchObject({ "a.txt": "- kept\n" });
    expect(existsSync(join(again.path, "half.txt"))).toBe(false);
    expect(gitIn(one.clone.root, fleet.origin.env, "show", "refs/remand/dropped/S-1:half.txt")).toBe("half done\n");
  });

  test("of the current run are not dropped, even after a restart", async () => {
    await one.attempt(STORY, 1, { "a.txt": "kept\n" });
    const { path } = await arrive(one);
    write(path, "new.txt", "new\n");
    await one.work.prepare(STORY);
    expect(existsSync(join(path, "new.txt"))).toBe(true);
    await one.clone.close();
    const restarted = await fleet.machine("one");
    const kept = await restarted.work.keep(STORY, note(2));
    expect(fleet.file(kept.commit, "new.txt")).toBe("new\n");
    // Safe to repeat: the work is committed, and whether the journal recorded that is unknown.
    expect(await restarted.work.keep(STORY, note(2))).toEqual(kept);
    fleet.journal.end(STORY, kept.commit);
    expect((await arrive(two)).commit).toBe(kept.commit);
  });

  test("are ignored if their commit is not in the journal", async () => {
    const first = await one.attempt(STORY, 1, { "a.txt": "kept\n" });
    const { path } = await arrive(one);
    write(path, "a.txt", "nobody knows\n");
    const lost = await one.work.keep(STORY, note(2));
    const second = await two.attempt(STORY, 3, { "b.txt": "known\n" });
    expect(fleet.git("rev-parse", `${second.commit}^`).trim()).toBe(first.commit);
    expect(readFileSync(join((await arrive(one)).path, "a.txt"), "utf8")).toBe("kept\n");
    expect(attemptsOf()).toContain(`refs/remand/attempts/S-1/${lost.commit}`);
  });

  test("of another machine's attempt cannot be committed here", async () => {
    await arrive(one);
    await expect(two.work.keep(STORY, note(1))).rejects.toMatchObject({ code: "workspace-broken" });
    expect([await one.work.isHere?.(STORY), await two.work.isHere?.(STORY)]).toEqual([true, false]);
    fleet.journal.end(STORY);
    expect(await one.work.isHere?.(STORY)).toBe(false);
    await expect(one.work.keep(STORY, note(1))).rejects.toThrow(/not on this machine/);
  });

  test("of a story that ended elsewhere are removed when the next story comes; uncommitted work keeps a ref", async () => {
    const { commit } = await one.attempt(STORY, 1, { "a.txt": "kept\n" });
    const { path } = await arrive(one);
    write(path, "late.txt", "late\n");
    fleet.journal.end(STORY);
    fleet.journal.over.add(STORY);
    await two.work.dispose(STORY);
    await one.attempt(storyId("S-2"), 1, { "a.txt": "next\n" });
    expect(existsSync(path)).toBe(false);
    expect(existsSync(join(one.clone.root, ".remand/worktrees/S-2"))).toBe(true);
    expect(gitIn(one.clone.root, fleet.origin.env, "show", "refs/remand/dropped/S-1:late.txt")).toBe("late\n");
    expect(branchTip()).toBe(commit);
  });

  test("of a killed `git worktree add` do not block a fetch", async () => {
    const begun = join(one.clone.root, ".git/worktrees/S-9");
    const leave = (secondsAgo: number): void => {
      write(begun, "HEAD", `${"0".repeat(40)}\n`);
      write(begun, "commondir", "../..\n");
      write(begun, "gitdir", join(fleet.origin.home, "none/.git\n"));
      utimesSync(join(begun, "HEAD"), Date.now() / 1000 - secondsAgo, Date.now() / 1000 - secondsAgo);
    };
    // A worktree that is being made just now is left alone, and waited for.
    leave(0);
    moveMain();
    await expect(arrive(one)).rejects.toMatchObject({ code: "forge-unreachable" });
    expect(existsSync(begun)).toBe(true);
    leave(60);
    expect((await arrive(one)).commit).toBe(fleet.git("rev-parse", "main").trim());
    expect(existsSync(begun)).toBe(false);
    leave(0);
    moveMain();
    await one.clone.close();
    await fleet.machine("one");
    expect(existsSync(begun)).toBe(false);
  });

  test("are dropped by going back to the journal's commit; without a worktree none is made", async () => {
    const first = await one.attempt(STORY, 1, { "a.txt": "kept\n" });
    const { path } = await arrive(one);
    write(path, "half.txt", "half\n");
    await one.work.keep(STORY, note(2));
    await one.work.forget(STORY);
    expect(await one.work.currentState(STORY)).toEqual(first);
    expect(existsSync(join(path, "half.txt"))).toBe(false);
    await two.work.forget(STORY);
    expect(existsSync(join(two.clone.root, ".remand/worktrees/S-1"))).toBe(false);
  });
});

describe("a worker that was replaced while it hung", () => {
  test("pushes late, and changes nothing for the other worker", async () => {
    const first = await one.attempt(STORY, 1, { "a.txt": "1\n" });
    fleet.journal.begin(STORY);
    // This worker sees the journal as it was when it hung, in the middle of its attempt.
    const asleep = await fleet.machine("zombie", {}, asItIs(fleet.journal));
    const { path } = await asleep.work.prepare(STORY);
    write(path, "a.txt", "zombie\n");
    const second = await two.attempt(STORY, 2, { "a.txt": "2\n" });
    const late = await asleep.work.keep(STORY, note(2));
    await asleep.work.prepare(STORY);
    expect(fleet.file(late.commit, "a.txt")).toBe("zombie\n");
    const third = await one.attempt(STORY, 3, { "b.txt": "3\n" });
    expect(fleet.git("rev-parse", `${third.commit}^`).trim()).toBe(second.commit);
    expect(fleet.git("rev-parse", `${second.commit}^`).trim()).toBe(first.commit);
    await two.work.dispose(STORY);
    expect(branchTip()).toBe(third.commit);
    // The commit is on no branch, so its ref is its only trace.
    expect(attemptsOf()).toEqual([`refs/remand/attempts/S-1/${late.commit}`]);
  });

  test("cannot put unverified work on the branch of an ended story, or undo its end", async () => {
    await one.attempt(STORY, 1, { "a.txt": "1\n" });
    const accepted = await one.attempt(STORY, 2, { "a.txt": "2\n" });
    fleet.journal.begin(STORY);
    const asleep = await fleet.machine("zombie", {}, asItIs(fleet.journal));
    const { path } = await asleep.work.prepare(STORY);
    write(path, "a.txt", "unverified\n");
    fleet.journal.end(STORY);
    await two.work.dispose(STORY);
    await asleep.work.keep(STORY, note(3));
    await asleep.work.prepare(STORY);
    expect(branchTip()).toBe(accepted.commit);
    await asleep.work.dispose(STORY);
    expect(branchTip()).toBe(accepted.commit);
  });

  test("leaves the branch alone if other workers have read more of the journal", async () => {
    await one.attempt(STORY, 1, { "a.txt": "1\n" });
    const asleep = await fleet.machine("zombie", {}, asItIs(fleet.journal));
    const second = await two.attempt(STORY, 2, { "a.txt": "2\n" });
    await arrive(two);
    expect(branchTip()).toBe(second.commit);
    await asleep.work.dispose(STORY);
    expect(branchTip()).toBe(second.commit);
    expect(attemptsOf().length).toBe(2);
  });
});

test("work is pushed to the remote, whatever an agent sets as its name in the clone", async () => {
  fleet.journal.begin(STORY);
  const { path } = await one.work.prepare(STORY);
  gitIn(path, fleet.origin.env, "remote", "set-url", "origin", join(fleet.origin.home, "elsewhere.git"));
  write(path, "a.txt", "1\n");
  const { commit } = await one.work.keep(STORY, note(1));
  expect(fleet.file(commit, "a.txt")).toBe("1\n");
});

describe("the branch on the remote", () => {
  test("shows the commit that the journal named, from the next step on", async () => {
    const first = await one.attempt(STORY, 1, { "a.txt": "1\n" });
    expect(fleet.refs(BRANCH)).toEqual([]);
    await arrive(two);
    expect(branchTip()).toBe(first.commit);
  });

  test("replaces other work under its name, which keeps a ref", async () => {
    fleet.origin.git("checkout", "--quiet", "-b", "remand/S-1");
    fleet.origin.write("theirs.txt", "theirs\n");
    fleet.origin.git("add", "--all");
    fleet.origin.git("commit", "--quiet", "-m", "theirs");
    fleet.origin.git("push", "--quiet", fleet.bare, "remand/S-1");
    const theirs = fleet.origin.git("rev-parse", "HEAD").trim();
    const { commit } = await one.attempt(STORY, 1, { "a.txt": "1\n" });
    await arrive(one);
    expect(branchTip()).toBe(commit);
    fleet.journal.end(STORY);
    await one.work.dispose(STORY);
    expect(attemptsOf()).toEqual([`refs/remand/attempts/S-1/${theirs}`]);
  });

  test("is published at the exact commit; a person's commits on top are not overwritten", async () => {
    const { commit } = await one.attempt(STORY, 1, { "a.txt": "1\n" });
    expect(await two.work.publish(STORY, commit)).toEqual({ remote: "origin", branch: "remand/S-1", base: "main" });
    expect(branchTip()).toBe(commit);
    fleet.origin.git("fetch", "--quiet", fleet.bare, BRANCH);
    fleet.origin.git("checkout", "--quiet", "--detach", "FETCH_HEAD");
    fleet.origin.git("commit", "--quiet", "--allow-empty", "-m", "by hand");
    fleet.origin.git("push", "--quiet", fleet.bare, `HEAD:${BRANCH}`);
    const three = await fleet.machine("three");
    await expect(three.work.publish(STORY, commit)).rejects.toThrow(/commits that the journal does not know/);
    expect(branchTip()).toBe(fleet.origin.git("rev-parse", "HEAD").trim());
  });

  test("stays when the story ends; the attempt refs go, and another machine can continue", async () => {
    await one.attempt(STORY, 1, { "a.txt": "1\n" });
    const last = await two.attempt(STORY, 2, { "a.txt": "2\n" });
    await one.attempt(storyId("S-10"), 1, { "a.txt": "another\n" });
    await two.work.dispose(STORY);
    await two.work.dispose(STORY);
    expect(branchTip()).toBe(last.commit);
    expect(attemptsOf()).toEqual([]);
    expect(attemptsOf("S-10")).toHaveLength(1);
    expect(existsSync(join(two.clone.root, ".remand/worktrees/S-1"))).toBe(false);
    const third = await fleet.machine("three");
    expect((await third.attempt(STORY, 3, { "a.txt": "3\n" })).commit).not.toBe(last.commit);
    expect((await arrive(one)).commit).toBe(fleet.journal.commits.get(STORY));
  });
});
