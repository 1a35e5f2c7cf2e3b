import { expect, test } from "vitest";
import { presetPolicy } from "../../../src/config/presets.ts";
import { storyId } from "../../../src/core/events/ids.ts";
import type { PresetName } from "../../../src/core/events/policy.ts";
import type { StoryState } from "../../../src/core/stories/story-state.ts";
import { unknownReading } from "../../../src/core/stories/reading.ts";
import { unmentionedCriteria } from "../../../src/gates/audit/audit-criteria.ts";
import { byText, lookup } from "../../../src/stdx/sorted-map.ts";
import { criteriaText, criterionCards } from "../../../src/views/story/story-document.ts";
import { story } from "../../kit/story-world.ts";
import { begin, runScript, world } from "../../seeds/scripted-run.ts";

const CAP = "no wait is longer than 5 s";
const OTHER = "the caller gives another cap";

function stateAfter(preset: PresetName, results: Parameters<typeof world>[0]): StoryState {
  const own = { ...story("a"), criteria: [CAP, OTHER].map((text, at) => ({ id: `AC${at + 1}`, text })) };
  return lookup(runScript(begin(presetPolicy(preset), own), world(results)).run.stories, storyId("a"), byText)!;
}

const audited = (status: "verified" | "failed") => ({
  criteria: [
    { criterion: "AC1", status: "verified" as const, evidence: "waitMs(20) is 5000" },
    { criterion: OTHER, status, evidence: "" },
  ],
});

// S2.31, S2.32
test("each criterion has the auditor's result with its evidence", () => {
  const accepted = stateAfter("critic-audit", { gates: { audit: [{ result: "pass", more: audited("verified") }] } });
  expect(criterionCards(accepted).map(({ id, status }) => [id, status])).toEqual([
    ["AC1", "verified"],
    ["AC2", "verified"],
  ]);
  expect(criteriaText(accepted)).toEqual([
    `  AC1  ${CAP}`,
    "       VERIFIED - waitMs(20) is 5000",
    `  AC2  ${OTHER}`,
    "       VERIFIED",
  ]);
  const { gates } = accepted;
  const last = { ...gates.audit!.last!, ...audited("failed") };
  const reworked = { ...accepted, gates: { ...gates, audit: { ...gates.audit!, last, fresh: false } } };
  expect(criteriaText(reworked)).toContain("       FAILED (before the newest work)");
});

// S1.37
test("a scenario that a person excused is shown with the name and the reason", () => {
  const state = stateAfter("critic-audit", {});
  const [first, second] = state.story.criteria;
  const excused = { by: "Ada", reason: "no caller has a cap" };
  const criteria = [first!, { ...second!, excused }];
  expect(criteriaText({ ...state, story: { ...state.story, criteria } })[3]).toBe(
    "       DOES NOT COUNT - Ada: no caller has a cap",
  );
  const reading = { ...unknownReading(), result: "pass" as const };
  expect(unmentionedCriteria(criteria, reading)).toEqual([expect.stringContaining("Is AC1 verified") as string]);
});

test("a criterion without an audit shows why", () => {
  const unseen = stateAfter("critic-audit", { gates: { review: ["fail", "fail", "fail"] } });
  expect(criteriaText(unseen)[1]).toBe("       not verified yet");
  for (const preset of ["goal", "story"] as const)
    expect(criteriaText(stateAfter(preset, {}))[1]).toMatch(
      /^ {7}accepted with the whole story \(integrity, .*\); no reviewer verified it by itself\. An `audit` gate/,
    );
});

// S1.9, S3.1, S4.50
test.each([
  ["factory", "review"],
  ["story", "review"],
] as const)("in %s the %s gate's word on a criterion is shown with its evidence", (preset, gate) => {
  const seen = stateAfter(preset, { gates: { [gate]: [{ result: "pass", more: audited("verified") }] } });
  expect(criteriaText(seen)[1]).toBe("       VERIFIED - waitMs(20) is 5000");
});
