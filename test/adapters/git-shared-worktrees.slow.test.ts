import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { storyId } from "../../src/domain/ids.ts";
import { filesIn } from "./git-repository.ts";
import { makeFleet, type Fleet } from "./shared-machines.ts";

const STORY = storyId("S-1");
let fleet: Fleet;

beforeEach(() => {
  fleet = makeFleet();
});
afterEach(() => fleet.clear());

describe("two machines work on one story in turns", () => {
  test("each goes on from where the other was, with everything that is there", async () => {
    const one = await fleet.machine("one");
    const two = await fleet.machine("two");
    const first = await one.attempt(STORY, 1, { "a.txt": "two\n", "grün ✓\nline.txt": "odd name\n" });
    const second = await two.attempt(STORY, 2, { "c.txt": "three\n" });
    expect(fleet.git("rev-parse", `${second.commit}^`).trim()).toBe(first.commit);
    fleet.journal.begin(STORY);
    const place = await one.work.prepare(STORY);
    expect(place).toMatchObject({ commit: second.commit, tree: second.tree });
    expect(filesIn(place.path)).toMatchObject({
      "a.txt": "- two\n",
      "c.txt": "- three\n",
      "b.txt": "- b\n",
      [Buffer.from("grün ✓\nline.txt").toString()]: "- odd name\n",
    });
    // Both compare the work with the same beginning.
    expect(place.base).toBe(fleet.git("rev-parse", "main").trim());
    expect(await one.work.changed(STORY, place.base, second.tree)).toEqual(["a.txt", "c.txt", "grün ✓\nline.txt"]);
  });
});
