import { expect, test } from "vitest";
import type { NameLevel } from "../../src/core/gates/test-names.ts";
import type { StoryState } from "../../src/core/stories/story-state.ts";
import { unmetTargets } from "../../src/decide/scope-for.ts";
import { newStory } from "../../src/fold/new-state.ts";
import { judgement, story } from "../kit/story-world.ts";

const TARGET = "test/a.test.ts > adds";
const stateWith = (level: NameLevel): StoryState => ({
  ...newStory(story("a", { target: ["adds"] }), 0, 0),
  preExisting: [TARGET, "test/b.test.ts > other"],
  flakyAtBase: [],
  baseRuns: { checks: { ended: [], ranTests: ["unit"], notLoaded: [], names: { unit: level } } },
});
const identities = { failing: [], unlisted: 0, passing: [], passedAtBase: [], passedLast: [], notLoaded: [] };

test.for([
  ["it fails", "all", { failing: [TARGET], ranTests: ["unit"] }, [TARGET]],
  ["it is named as passed", "all", { passing: [TARGET], ranTests: ["unit"] }, []],
  ["it is not named in a run that names its tests: it was skipped", "all", { ranTests: ["unit"] }, [TARGET]],
  ["tests ran that are not named", "counts", { ranTests: ["unit"] }, []],
  ["no test ran", "counts", { ranTests: [] }, [TARGET]],
] as const)("%s", ([, level, more, expected]) => {
  const judged = judgement("checks", "t1", "fail", { more: { identities: { ...identities, ...more } } });
  expect(unmetTargets(stateWith(level), judged)).toEqual(expected);
});

test("a gate without test results leaves no target open", () => {
  expect(unmetTargets(stateWith("all"), judgement("review", "t1", "fail"))).toEqual([]);
});
