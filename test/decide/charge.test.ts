import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import { FAILURE_CEILING } from "../../src/core/stories/budget.ts";
import type { CiClass, GateName } from "../../src/core/gates/gate.ts";
import type { Policy } from "../../src/core/events/policy.ts";
import { RESULTS } from "../../src/core/events/error.ts";
import type { StoryState } from "../../src/core/stories/story-state.ts";
import { chargeFailure, chargedGate, failureLimit, refundFailure, withGate } from "../../src/decide/charge.ts";
import { newStory } from "../../src/fold/new-state.ts";
import { judgement, story } from "../kit/story-world.ts";

const policy: Policy = presetPolicy("critic-audit");
const withGates = (...gates: GateName[]): Policy => ({ ...policy, phases: [{ phase: "implement", gates }] });
const state = (change: Partial<StoryState> = {}): StoryState => ({ ...newStory(story("a"), 0, 0), policy, ...change });
const ci = (ciClass: CiClass) => judgement("ci", "t1", "fail", { ciClass });

describe("the budget that a judgement is charged to", () => {
  it("is none unless the work failed", () => {
    for (const result of RESULTS.filter((each) => each !== "fail")) {
      expect(chargedGate(state(), judgement("checks", "t1", result)), result).toBeNull();
      expect(chargedGate(state(), judgement("ci", "t1", result)), result).toBeNull();
    }
  });

  it("is the gate's own", () => {
    for (const gate of ["checks", "review", "audit", "integrity"] as const)
      expect(chargedGate(state(), judgement(gate, "t1", "fail"))).toBe(gate);
  });

  it.each<[CiClass, GateName | null]>([
    ["infrastructure", null],
    ["flaky", null],
    ["test", "checks"],
    ["build", "checks"],
    ["lint", null],
    ["configuration", "ci"],
  ])("of a CI run that failed by %s: %s", (ciClass, gate) => {
    expect(chargedGate(state({ policy: withGates("review", "checks", "ci") }), ci(ciClass))).toBe(gate);
  });

  it("of tests in CI is that of the gate that runs tests", () => {
    expect(chargedGate(state({ policy: withGates("checks", "tdd", "ci") }), ci("test"))).toBe("tdd");
    expect(chargedGate(state({ policy: withGates("review", "ci") }), ci("build"))).toBe("ci");
    expect(chargedGate(state({ policy: null }), ci("test"))).toBe("ci");
  });

  it("of lint in CI is CI's own once a command has repaired it", () => {
    expect(chargedGate(withGate(state(), "ci", { lintFixed: true }), ci("lint"))).toBe("ci");
  });
});

describe("a charge", () => {
  const failed = judgement("checks", "t1", "fail");

  it("counts for the budget and for the total, and can be reversed, but not below zero", () => {
    const once = chargeFailure(state(), failed);
    expect(once.gates.checks).toMatchObject({ failures: 1, failuresEver: 1 });
    expect(chargeFailure(once, failed).gates.checks).toMatchObject({ failures: 2, failuresEver: 2 });
    expect(refundFailure(once, failed).gates.checks).toMatchObject({ failures: 0, failuresEver: 0 });
    expect(refundFailure(state(), failed).gates.checks).toMatchObject({ failures: 0, failuresEver: 0 });
  });

  it("to no budget changes nothing", () => {
    const before = state();
    const passed = judgement("checks", "t1", "pass");
    expect(chargeFailure(before, passed)).toBe(before);
    expect(refundFailure(before, passed)).toBe(before);
  });
});

describe("how many failures of a gate end the loop", () => {
  const limited = (failures: number | null, change: Partial<Policy> = {}): Policy => ({
    ...policy,
    ...change,
    limits: { ...policy.limits, failures: { ...policy.limits.failures, checks: failures } },
  });

  it("is the policy's limit; `null` without a policy or a limit", () => {
    expect(failureLimit(state({ policy: limited(3) }), "checks")).toBe(3);
    expect(failureLimit(state({ policy: limited(null) }), "checks")).toBeNull();
    expect(failureLimit(state({ policy: null }), "checks")).toBeNull();
  });

  it("is the story's own limit: one more than its reworks", () => {
    const own = state({ story: story("a", { maxReworks: 4 }), policy: limited(3) });
    expect(failureLimit(own, "checks")).toBe(5);
  });

  it("can be raised, and grows with grace, up to the ceiling", () => {
    const raised = { policy: limited(3), raised: { "failures:checks": 6 } };
    expect(failureLimit(state(raised), "checks")).toBe(6);
    expect(failureLimit(state({ ...raised, grace: { checks: 2 } }), "checks")).toBe(8);
    expect(failureLimit(state({ ...raised, grace: { checks: 1000 } }), "checks")).toBe(FAILURE_CEILING);
  });

  it("is the ceiling without the breaker", () => {
    expect(failureLimit(state({ policy: limited(3, { circuitBreaker: false }) }), "checks")).toBe(FAILURE_CEILING);
  });
});
