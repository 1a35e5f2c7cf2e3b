import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createGit } from "../../../src/adapters/git/git.ts";
import { isInHistory } from "../../../src/adapters/git/history.ts";
import { isSameNote, keepUnderSome, readRefs, updateRefs } from "../../../src/adapters/git/refs.ts";
import { storyId, treeId } from "../../../src/core/events/ids.ts";
import { makeRepository, type TestRepository } from "../../kit/git-repository.ts";

const REF = "refs/remand/one";
const OTHER = "refs/remand/two";
let repository: TestRepository;
let commits: readonly [string, string, string];
beforeEach(() => {
  repository = makeRepository();
  const commit = (n: number): string => repository.git("commit-tree", "HEAD^{tree}", "-m", `commit ${n}`).trim();
  commits = [commit(1), commit(2), commit(3)];
});
afterEach(() => repository.clear());

const git = () => createGit(repository.root, repository.env);
const at = async (ref: string): Promise<string | undefined> => (await readRefs(git(), [ref])).get(ref)?.commit;

test("a ref that has moved is not moved", async () => {
  const [first, second, third] = commits;
  await updateRefs(git(), [{ ref: REF, to: first, was: null }]);
  await updateRefs(git(), [{ ref: REF, to: second, was: first }]);
  await expect(updateRefs(git(), [{ ref: REF, to: third, was: first }])).rejects.toThrow("cannot lock ref");
  expect(await at(REF)).toBe(second);
});

test("a new ref is not created if it exists", async () => {
  const [first, second] = commits;
  await updateRefs(git(), [{ ref: REF, to: first, was: null }]);
  await expect(updateRefs(git(), [{ ref: REF, to: second, was: null }])).rejects.toThrow("cannot lock ref");
  expect(await at(REF)).toBe(first);
});

test("if one of several refs cannot move, none does", async () => {
  const [first, second, third] = commits;
  await updateRefs(git(), [{ ref: REF, to: first, was: null }]);
  const updates = [
    { ref: OTHER, to: third, was: null },
    { ref: REF, to: third, was: second },
  ];
  await expect(updateRefs(git(), updates)).rejects.toThrow("cannot lock ref");
  expect([await at(REF), await at(OTHER)]).toEqual([first, undefined]);
});

test("a ref is deleted only if it is still where it was read", async () => {
  const [first, second] = commits;
  await updateRefs(git(), [{ ref: REF, to: first, was: null }]);
  await expect(updateRefs(git(), [{ ref: REF, to: null, was: second }])).rejects.toThrow("cannot lock ref");
  expect(await at(REF)).toBe(first);
  await updateRefs(git(), [{ ref: REF, to: null, was: first }]);
  expect(await at(REF)).toBeUndefined();
});

test("a lock that disappears is waited for; one that stays is named, with the fix", async () => {
  const [first, second] = commits;
  await updateRefs(git(), [{ ref: REF, to: first, was: null }]);
  const lock = join(repository.root, ".git", `${REF}.lock`);
  writeFileSync(lock, "");
  const stays = await updateRefs(git(), [{ ref: REF, to: second, was: first }]).catch((error: unknown) => error);
  expect(stays).toMatchObject({ code: "ref-locked", hint: expect.stringContaining(`rm '${lock}'`) });
  const waits = updateRefs(git(), [{ ref: REF, to: second, was: first }]);
  setTimeout(() => rmSync(lock), 100);
  await waits;
  expect(await at(REF)).toBe(second);
});

test("a commit is kept under the first refs that are free, or else under a unique one", async () => {
  const [first, second] = commits;
  await updateRefs(git(), [{ ref: REF, to: first, was: null }]);
  const choices = [
    [
      { ref: REF, to: second, was: first },
      { ref: OTHER, to: second, was: null },
    ],
    [{ ref: OTHER, to: second, was: null }],
  ];
  writeFileSync(join(repository.root, ".git", `${REF}.lock`), "");
  await keepUnderSome(git(), storyId("a"), second, choices);
  expect([await at(REF), await at(OTHER)]).toEqual([first, second]);
  await keepUnderSome(git(), storyId("a"), second, [choices[0]!]);
  expect(await at(`refs/remand/saved/a/${second}`)).toBe(second);
});

test("a commit belongs to a note with the same story and attempt", () => {
  const trailers = new Map([
    ["Remand-Story", "a"],
    ["Remand-Attempt", "2"],
  ]);
  const kept = { commit: "c", tree: treeId("t"), trailers };
  const note = { attempt: 2, subject: "s", journalHead: "f".repeat(64) };
  expect(isSameNote(kept, storyId("a"), note)).toBe(true);
  expect(isSameNote(kept, storyId("a"), { ...note, attempt: 3 })).toBe(false);
  expect(isSameNote(kept, storyId("b"), note)).toBe(false);
});

test("a commit is in a history or not; a failing git gives neither answer", async () => {
  const [first, second] = commits;
  const [head] = repository.git("rev-parse", "HEAD").split("\n") as [string];
  expect(await isInHistory(git(), head, "HEAD")).toBe(true);
  expect(await isInHistory(git(), first, second)).toBe(false);
  expect(await isInHistory(git(), "0".repeat(39) + "1", "HEAD")).toBe(false);
  const failing = git();
  const broken: typeof failing = {
    run: failing.run,
    ask: async (args, call) =>
      args[0] === "merge-base"
        ? { exitCode: 128, stdout: "", stderr: "fatal: cannot allocate memory" }
        : failing.ask(args, call),
  };
  await expect(isInHistory(broken, head, "HEAD")).rejects.toThrow("cannot allocate memory");
});
