import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createWorktrees } from "../../../../src/adapters/git/worktree/worktrees.ts";
import { storyId } from "../../../../src/core/events/ids.ts";
import type { Workspace, Integration } from "../../../../src/ports/workspace.ts";
import { makeRepository, type TestRepository } from "../../../kit/git-repository.ts";

const story = storyId("checkout");
const note = (attempt: number, subject = `work ${attempt}`) => ({ attempt, subject, journalHead: "head" });

let repository: TestRepository;
let work: Workspace & Integration;
let path: string;

beforeEach(async () => {
  repository = makeRepository({ "a.txt": "one\ntwo\nthree\n", "b.txt": "b\n" });
  work = createWorktrees({ root: repository.root, state: join(repository.root, ".remand"), env: repository.env });
  ({ path } = await work.prepare(story));
});

afterEach(() => repository.clear());

async function change(file: string, text: string, attempt = 1): Promise<void> {
  writeFileSync(join(path, file), text);
  await work.keep(story, note(attempt));
}

/** Returns the story's newest state, as the journal would name it. */
const verified = () => work.currentState(story);
const standing = async () => work.mergeStatus(story, (await verified()).commit);

function moveMain(file: string, text: string): string {
  repository.write(file, text);
  repository.git("commit", "--quiet", "-am", "meanwhile");
  return repository.git("rev-parse", "main").trim();
}

test("a branch that contains its whole target is current, and its target is named", async () => {
  await change("a.txt", "ONE\ntwo\nthree\n");
  const commit = repository.git("rev-parse", "main").trim();
  expect(await standing()).toEqual({ target: { branch: "main", commit }, isCurrent: true, conflicts: [] });
});

test("if the target has moved elsewhere, the branch is merged with it, with both as parents", async () => {
  await change("a.txt", "ONE\ntwo\nthree\n");
  const main = moveMain("b.txt", "B\n");
  expect(await standing()).toMatchObject({ isCurrent: false, conflicts: [] });
  const updated = await work.update(story, await verified(), note(1, "with main"));
  expect(updated.conflicts).toEqual([]);
  expect(readFileSync(join(path, "b.txt"), "utf8")).toBe("B\n");
  expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("ONE\ntwo\nthree\n");
  expect(repository.git("rev-parse", `${updated.commit}^2`).trim()).toBe(main);
  expect(await standing()).toMatchObject({ isCurrent: true });
  // The work is compared with its new base.
  const place = await work.prepare(story);
  expect(place.base).toBe(main);
  expect(await work.changedPaths(story, place.base, updated.tree)).toEqual(["a.txt"]);
  // Repeating it changes nothing and returns the same result.
  expect(await work.update(story, await verified(), note(1, "with main"))).toEqual(updated);
});

test("a conflict leaves the markers and both sides in the file", async () => {
  await change("a.txt", "ours\ntwo\nthree\n");
  moveMain("a.txt", "theirs\ntwo\nthree\n");
  expect(await standing()).toMatchObject({ isCurrent: false, conflicts: ["a.txt"] });
  const updated = await work.update(story, await verified(), note(1));
  expect(updated.conflicts).toEqual(["a.txt"]);
  expect(readFileSync(join(path, "a.txt"), "utf8")).toMatch(/<{7}.*\nours\n={7}\ntheirs\n>{7}/);
  await change("a.txt", "both\ntwo\nthree\n", 2);
  expect(await standing()).toMatchObject({ isCurrent: true, conflicts: [] });
});

test("reading a branch's merge status changes neither the person's checkout nor the worktree", async () => {
  await change("a.txt", "ours\ntwo\nthree\n");
  moveMain("a.txt", "theirs\ntwo\nthree\n");
  const before = repository.standing();
  await standing();
  expect(repository.standing()).toEqual(before);
  expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("ours\ntwo\nthree\n");
});

test("after the merge the target has exactly the judged files, and the person's checkout follows", async () => {
  await change("a.txt", "ONE\ntwo\nthree\n");
  const { tree } = await work.currentState(story);
  const merged = await work.merge(story, await verified(), note(1, "Merge checkout"));
  expect(merged?.branch).toBe("main");
  expect(repository.git("rev-parse", "main").trim()).toBe(merged?.commit);
  expect(repository.git("rev-parse", "main^{tree}").trim()).toBe(tree);
  expect(readFileSync(join(repository.root, "a.txt"), "utf8")).toBe("ONE\ntwo\nthree\n");
  expect(repository.git("status", "--porcelain", "--untracked-files=no")).toBe("");
  // Repeating it finds that it was merged.
  expect(await work.merge(story, await verified(), note(1, "Merge checkout"))).toEqual(merged);
});

test("a person's own changes are not overwritten: the merge is refused, and nothing moves", async () => {
  await change("a.txt", "ONE\ntwo\nthree\n");
  repository.write("a.txt", "my own\n");
  const main = repository.git("rev-parse", "main");
  await expect(work.merge(story, await verified(), note(1))).rejects.toMatchObject({
    message: expect.stringContaining("cannot follow"),
    hint: expect.stringContaining("stash"),
  });
  expect(repository.git("rev-parse", "main")).toBe(main);
  expect(readFileSync(join(repository.root, "a.txt"), "utf8")).toBe("my own\n");
});

test("a person's changes in other files stay", async () => {
  await change("a.txt", "ONE\ntwo\nthree\n");
  repository.write("b.txt", "my own\n");
  await work.merge(story, await verified(), note(1));
  expect(readFileSync(join(repository.root, "b.txt"), "utf8")).toBe("my own\n");
  expect(readFileSync(join(repository.root, "a.txt"), "utf8")).toBe("ONE\ntwo\nthree\n");
});

test("a target that moved after the judgement is not merged into", async () => {
  await change("a.txt", "ONE\ntwo\nthree\n");
  moveMain("b.txt", "B\n");
  const main = repository.git("rev-parse", "main");
  expect(await work.merge(story, await verified(), note(1))).toBeNull();
  expect(repository.git("rev-parse", "main")).toBe(main);
});

test("a checkout that is on no branch has no target", async () => {
  repository.git("checkout", "--quiet", "--detach");
  await expect(work.target()).rejects.toMatchObject({ hint: expect.stringContaining("deliver: branch") });
});

test("the branch is pushed to the remote; a login in its address is not repeated", async () => {
  const remote = join(repository.home, "remote.git");
  execFileSync("git", ["init", "--quiet", "--bare", remote], { env: repository.env });
  repository.git("remote", "add", "origin", remote);
  await change("a.txt", "ONE\ntwo\nthree\n");
  expect(await work.publish(story, (await verified()).commit)).toEqual({
    remote: "origin",
    branch: "remand/checkout",
    base: "main",
  });
  const { commit } = await work.currentState(story);
  expect(repository.git("ls-remote", "origin", "refs/heads/remand/checkout")).toContain(commit);
  repository.git("remote", "set-url", "origin", "https://me:hunter2@127.0.0.1:1/x.git");
  const { message } = (await work
    .publish(story, (await verified()).commit)
    .catch((thrown: unknown) => thrown)) as Error;
  expect(message).toContain("could not be sent");
  expect(message).not.toContain("hunter2");
});
