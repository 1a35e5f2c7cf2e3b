import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { storyId, type StoryId } from "../../../../src/core/events/ids.ts";
import { note } from "../../../contract/workspace.ts";
import { gitDaemon, makeFleet, type Fleet, type Machine } from "../../../kit/fleet/shared-machines.ts";

const [ONE, TWO] = [storyId("first"), storyId("second")];
let fleet: Fleet;
let one: Machine;
let two: Machine;

beforeEach(async () => {
  fleet = makeFleet({ "a.txt": "one\ntwo\nthree\n", "b.txt": "b\n" });
  [one, two] = await Promise.all([fleet.machine("one"), fleet.machine("two")]);
});
afterEach(() => fleet.clear());

const main = (): string => fleet.git("rev-parse", "main").trim();

/** Pushes from outside the fleet. */
function moveMain(file: string, text: string): string {
  fleet.origin.git("fetch", "--quiet", fleet.bare, "main");
  fleet.origin.git("reset", "--quiet", "--hard", "FETCH_HEAD");
  fleet.origin.write(file, text);
  fleet.origin.git("add", "--all");
  fleet.origin.git("commit", "--quiet", "-m", "meanwhile");
  fleet.origin.git("push", "--quiet", fleet.bare, "HEAD:main");
  return main();
}

async function deliver(machine: Machine, story: StoryId): Promise<boolean> {
  fleet.journal.begin(story);
  const merged = await machine.work.merge(
    story,
    await machine.work.currentState(story),
    note(1, { subject: `Merge ${story}` }),
  );
  fleet.journal.end(story);
  return merged !== null;
}

test("a story is merged on the remote once, by a machine that never had it", async () => {
  const kept = await one.attempt(ONE, 1, { "a.txt": "ONE\ntwo\nthree\n" });
  const before = main();
  fleet.journal.begin(ONE);
  const merged = await two.work.merge(ONE, kept, note(1, { subject: "Merge first" }));
  expect(merged).toEqual({ branch: "main", commit: main() });
  expect(fleet.git("rev-parse", "main^1", "main^2").trim().split("\n")).toEqual([before, kept.commit]);
  // After a crash before the merge was recorded, another machine repeats it.
  expect(await one.work.merge(ONE, kept, note(1))).toEqual(merged);
  expect(await one.work.target()).toEqual(merged);
});

test("the target is the remote's current commit, and a story is updated to it", async () => {
  const kept = await one.attempt(ONE, 1, { "a.txt": "ONE\ntwo\nthree\n" });
  const moved = moveMain("b.txt", "B\n");
  expect(await two.work.mergeStatus(ONE, kept.commit)).toEqual({
    target: { branch: "main", commit: moved },
    isCurrent: false,
    conflicts: [],
  });
  expect(await deliver(two, ONE)).toBe(false);
  fleet.journal.begin(ONE);
  const updated = await two.work.update(ONE, kept, note(1, { subject: "with main" }));
  fleet.journal.end(ONE, updated.commit);
  // The machine that made the story finds its current state, and compares it with its new base.
  fleet.journal.begin(ONE);
  const place = await one.work.prepare(ONE);
  expect(place).toMatchObject({ commit: updated.commit, base: moved });
  expect(readFileSync(join(place.path, "b.txt"), "utf8")).toBe("B\n");
  expect(await one.work.changedPaths(ONE, place.base, place.tree)).toEqual(["a.txt"]);
  expect(await deliver(one, ONE)).toBe(true);
  expect(fleet.file("main", "a.txt")).toBe("ONE\ntwo\nthree\n");
  expect(fleet.file("main", "b.txt")).toBe("B\n");
});

test("a conflict has its markers on every machine", async () => {
  const kept = await one.attempt(ONE, 1, { "a.txt": "ours\ntwo\nthree\n" });
  moveMain("a.txt", "theirs\ntwo\nthree\n");
  fleet.journal.begin(ONE);
  const updated = await two.work.update(ONE, kept, note(1));
  expect(updated.conflicts).toEqual(["a.txt"]);
  fleet.journal.end(ONE, updated.commit);
  fleet.journal.begin(ONE);
  const { path } = await one.work.prepare(ONE);
  expect(readFileSync(join(path, "a.txt"), "utf8")).toMatch(/<{7}.*\nours\n={7}\ntheirs\n>{7}/);
});

test("of two deliveries at once, both land, or one learns that the branch moved and lands after it", async () => {
  for (let round = 0; round < 3; round++) {
    const stories = [storyId(`one-${round}`), storyId(`two-${round}`)] as const;
    await one.attempt(stories[0], 1, { [`one-${round}.txt`]: "one\n" });
    await two.attempt(stories[1], 1, { [`two-${round}.txt`]: "two\n" });
    const landed = await Promise.all([deliver(one, stories[0]), deliver(two, stories[1])]);
    expect(landed).toContain(true);
    for (const [which, machine] of [one, two].entries()) {
      if (landed[which]) continue;
      const story = stories[which]!;
      fleet.journal.begin(story);
      const updated = await machine.work.update(story, await machine.work.currentState(story), note(1));
      fleet.journal.end(story, updated.commit);
      expect(await deliver(machine, story)).toBe(true);
    }
    expect(fleet.file("main", `one-${round}.txt`)).toBe("one\n");
    expect(fleet.file("main", `two-${round}.txt`)).toBe("two\n");
  }
});

test("three machines work on five stories in turns, and deliver them all", async () => {
  const daemon = await gitDaemon(fleet.bare, fleet.origin.env);
  const names = ["three", "four", "five"];
  const machines = await Promise.all(names.map((name) => fleet.machine(name, { remote: daemon.address })));
  const stories = Array.from({ length: 5 }, (_, i) => storyId(`story-${i}`));
  const work = async (story: StoryId, which: number): Promise<void> => {
    const next = (step: number): Machine => machines[(which + step) % machines.length]!;
    for (let attempt = 1; attempt <= 2; attempt++)
      await next(attempt).attempt(story, attempt, { [`${story}.txt`]: `${attempt}\n` });
    for (let step = 3; !(await deliver(next(step), story)); step++) {
      fleet.journal.begin(story);
      const updated = await next(step + 1).work.update(story, await next(step + 1).work.currentState(story), note(2));
      fleet.journal.end(story, updated.commit);
    }
    await next(which).work.dispose(story);
  };
  try {
    await Promise.all(stories.map(work));
  } finally {
    await daemon.stop();
  }
  for (const story of stories) expect(fleet.file("main", `${story}.txt`)).toBe("2\n");
  expect(fleet.git("log", "--first-parent", "--merges", "--format=%s", "main").trim().split("\n").sort()).toEqual(
    stories.map((story) => `Merge ${story}`),
  );
  expect(fleet.refs("refs/remand")).toEqual([]);
  fleet.git("fsck", "--no-dangling");
});

test("a push that was overtaken by another one overwrites no commit", async () => {
  await one.attempt(ONE, 1, { "a.txt": "ONE\ntwo\nthree\n" });
  await two.attempt(TWO, 1, { "b.txt": "B\n" });
  const push = one.clone.remote.push.bind(one.clone.remote);
  let overtaken = "";
  one.clone.remote.push = async (pushes, patience) => {
    if (overtaken === "" && pushes[0]?.ref === "refs/heads/main") overtaken = moveMain("c.txt", "quicker\n");
    return push(pushes, patience);
  };
  expect(await deliver(one, ONE)).toBe(false);
  expect(main()).toBe(overtaken);
});

test("a protected branch is reported as an error", async () => {
  const kept = await one.attempt(ONE, 1, { "a.txt": "ONE\ntwo\nthree\n" });
  fleet.hook("update", '#!/bin/sh\ntest "$1" != refs/heads/main || { echo "main is closed" >&2; exit 1; }\n');
  fleet.journal.begin(ONE);
  await expect(one.work.merge(ONE, kept, note(1))).rejects.toMatchObject({ code: "forge-refused" });
});
