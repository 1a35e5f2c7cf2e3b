import { expect, test } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import { treeId } from "../../src/core/events/ids.ts";
import type { StoryState } from "../../src/core/stories/story-state.ts";
import { gateJudged } from "../../src/fold/fold-gate.ts";
import { newStory } from "../../src/fold/new-state.ts";
import { judgementOf } from "../kit/reviewers.ts";
import { gateRequest } from "../contract/gate.ts";

const policy = presetPolicy("critic-audit");
const state: StoryState = { ...newStory(gateRequest().story, 0, 0), policy, tree: treeId("tree-now") };
const broken = (retryAt?: number) =>
  gateJudged(
    state,
    judgementOf({ gate: "review", result: "error", ...(retryAt === undefined ? {} : { retryAt }) }),
    "base",
    1_000_000,
  );

test.each([
  ["after a pause", undefined, 1_000_000 + policy.limits.backoffMs],
  ["when it said that it can, where that is later", 5_000_000, 5_000_000],
  ["and never without a pause", 10, 1_000_000 + policy.limits.backoffMs],
])("a gate that broke runs again %s", (_when, retryAt, until) => {
  expect(broken(retryAt).wait).toEqual({ type: "time", until, why: "the review gate broke" });
  expect(broken(retryAt).gates.review).toMatchObject({ errors: 1, failures: 0 });
});
