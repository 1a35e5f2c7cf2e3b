import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import { treeId } from "../../src/core/events/ids.ts";
import type { StoryState } from "../../src/core/stories/story-state.ts";
import { withGate } from "../../src/decide/charge.ts";
import { applyAnswer } from "../../src/fold/fold-answer.ts";
import { gateJudged } from "../../src/fold/fold-gate.ts";
import { isOpen } from "../../src/decide/gate-status.ts";
import { nextStep } from "../../src/decide/next-step.ts";
import { begin, reasonFor, runScript, stateOf, world } from "../seeds/scripted-run.ts";
import { judgement, story } from "../kit/story-world.ts";

const POLICY = presetPolicy("goal");
const FACTS = { base: "c0", usualMs: null };

/** A story whose checks are to run next, after a person waived the first of these two findings. */
const FAILED = judgement("checks", "t1", "fail", { blocking: 2 });
const [WAIVED, OTHER] = FAILED.blocking;

function judgingAfterWaiver(): StoryState {
  const { run } = runScript(begin(POLICY, story("a")), world({ gates: { checks: ["fail"] } }));
  const waiver = { gate: "checks", findings: [WAIVED!], tree: null, by: "Ada", reason: "known", at: 0 } as const;
  const state = stateOf(run, "a");
  return {
    ...state,
    tree: treeId("t1"),
    failing: null,
    escalation: null,
    ending: null,
    waivers: [waiver],
    gates: {},
  };
}

describe("a waived finding", () => {
  it("does not fail a later judgement by itself, and is not charged", () => {
    const again = judgement("checks", "t1", "fail", { blocking: 1 });
    expect(again.blocking).toEqual([WAIVED]);
    const after = gateJudged(judgingAfterWaiver(), again, "c0", 0);
    expect(after.failing).toBeNull();
    expect(isOpen(after, "checks", "c0")).toBe(true);
    expect(after.gates.checks).toMatchObject({ failures: 0, last: { result: "fail", blocking: [WAIVED] } });
  });

  it("is not required along with one that still blocks", () => {
    const after = gateJudged(judgingAfterWaiver(), FAILED, "c0", 0);
    expect(after.failing?.gate).toBe("checks");
    expect(after.gates.checks?.last?.blocking).toEqual([OTHER]);
  });

  it("is removed from the blocking findings as soon as it is waived", () => {
    const failing = gateJudged({ ...judgingAfterWaiver(), waivers: [] }, FAILED, "c0", 0);
    const say = (state: StoryState, finding: typeof WAIVED) =>
      applyAnswer(
        state,
        { verb: "waive", by: "Ada", message: "known", escalation: null, gate: "checks", findings: [finding!] },
        "c0",
        0,
      );
    const one = say(failing, WAIVED);
    expect(one.gates.checks?.last?.blocking).toEqual([OTHER]);
    expect(one.failing?.gate).toBe("checks");
    const both = say(one, OTHER);
    expect(both.failing).toBeNull();
    expect(isOpen(both, "checks", "c0")).toBe(true);
  });

  it("makes a gate without a verdict about this tree run again", () => {
    const failing = gateJudged({ ...judgingAfterWaiver(), waivers: [] }, FAILED, "c0", 0);
    const restored = withGate(failing, "checks", { fresh: false, errors: 3 });
    const after = applyAnswer(
      restored,
      { verb: "waive", by: "Ada", message: "known", escalation: null, gate: "checks", findings: FAILED.blocking },
      "c0",
      0,
    );
    expect(after).toMatchObject({ failing: null, gates: { checks: { errors: 0, fresh: false } } });
  });
});

describe("the answers that a question offers", () => {
  it("have no waiver if a step of the engine broke, and ask about the step", () => {
    const { run } = runScript(begin(POLICY, story("a")), world({ gates: { checks: ["fail"] } }));
    const state = stateOf(run, "a");
    const broken: StoryState = {
      ...state,
      escalation: null,
      failing: null,
      ending: null,
      productReady: false,
      counters: { ...state.counters, stepFailures: POLICY.limits.errors },
    };
    const why = "the disk is full — Free some space.";
    const { action } = nextStep({ ...broken, wait: { type: "time", until: 0, why } }, FACTS);
    if (action.type !== "raise-escalation") throw new Error(action.type);
    expect(action.escalation.options.map(({ verb }) => verb)).toEqual(["resolve", "send-back", "abandon"]);
    expect(action.escalation.question).toBe("Is the cause fixed, so that the step can run again?");
    expect(action.escalation.assessment).toBe("the disk is full");
    expect(action.escalation.title).toBe("Story a: the disk is full");
    expect(action.escalation.recommendation).toBe("Free some space.");
  });

  it("have no higher limit if the ceiling is reached", () => {
    const { circuitBreaker: _on, ...rest } = presetPolicy("critic-audit");
    const policy = { ...rest, circuitBreaker: false };
    const { run } = runScript(
      begin(policy, story("a")),
      world({ gates: { review: Array.from({ length: 12 }, () => "fail" as const) } }),
    );
    expect(reasonFor(run, "a")).toBe("budget");
    const verbs = stateOf(run, "a").escalation!.options.map(({ verb }) => verb);
    expect(verbs).not.toContain("raise-budget");
    expect(verbs).toContain("send-back");
  });
});
