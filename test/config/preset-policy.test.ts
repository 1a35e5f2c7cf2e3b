import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import { GATES } from "../../src/core/gates/gate.ts";
import { PRESETS } from "../../src/core/events/policy.ts";

const MINUTE = 60_000;

describe("presetPolicy", () => {
  it.each([
    ["critic-audit", [["implement", ["integrity", "checks", "review", "audit"]]], 3],
    ["factory", [["implement", ["integrity", "tdd", "review", "mutation", "ci", "merge"]]], 3],
    ["goal", [["implement", ["integrity", "checks"]]], null],
    [
      "story",
      [
        ["refine", ["integrity"]],
        ["research", ["integrity"]],
        ["plan", ["integrity"]],
        ["implement", ["integrity", "checks", "review"]],
      ],
      4,
    ],
  ] as const)("gives %s its phases, gates and limit", (name, phases, failures) => {
    const policy = presetPolicy(name);
    expect(policy.preset).toBe(name);
    expect(policy.phases.map((plan) => [plan.phase, plan.gates])).toEqual(phases);
    for (const gate of GATES) expect(policy.limits.failures[gate]).toBe(failures);
  });

  it("requires every issue of a critic or an auditor to be fixed (critic-audit)", () => {
    const { gates } = presetPolicy("critic-audit");
    expect([gates.review.everyFinding, gates.audit.everyFinding, gates.checks.everyFinding]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it("reviews in three stages, one after the other, and lets IMPORTANT findings fail them (factory)", () => {
    const policy = presetPolicy("factory");
    expect(policy.gates.review).toMatchObject({
      stages: ["spec-compliance", "code-quality", "domain-integrity"],
      stageOrder: "in-order",
      failOn: { blocker: 1, critical: 1, major: 1 },
    });
    expect(policy.deliver).toBe("merge");
    expect(policy.merge).toBe("manual");
    expect(policy.roles.fallback[policy.roles.phase.implement]).toBe("developer");
  });

  it("limits the whole loop and each code location (goal)", () => {
    const policy = presetPolicy("goal");
    expect(policy.limits).toMatchObject({
      iterations: 15,
      perLocation: 4,
      story: { costUsd: 10, timeMs: 120 * MINUTE },
    });
    expect(policy.gates.checks).toMatchObject({ blame: true, onUnexplained: "escalate" });
    expect(policy.stall).toMatchObject({ grace: 1, sameFailure: 4, plateau: 3 });
  });

  it("reviews from three perspectives at once and ends in a pull request (story)", () => {
    const policy = presetPolicy("story");
    expect(policy.gates.review).toMatchObject({
      stages: ["security", "product-owner", "code"],
      stageOrder: "side-by-side",
    });
    expect(policy.deliver).toBe("pull-request");
    expect(policy.phases.filter(({ gates }) => gates.includes("review")).map(({ phase }) => phase)).toEqual([
      "implement",
    ]);
    for (const stage of policy.gates.review.stages) expect(policy.roles.stage[stage]).toBeDefined();
  });

  it.each(PRESETS)("keeps the common limits (%s)", (name) => {
    const policy = presetPolicy(name);
    expect(policy.limits).toMatchObject({
      errors: 3,
      inconclusives: 2,
      blocked: 3,
      agentFailures: 3,
      timeouts: 3,
      rateLimits: 20,
      refusals: 2,
      dependencyWaits: 3,
      clarifications: 2,
      ciRetries: 2,
      remediations: 3,
      transientRetries: 3,
      backoffMs: 1000,
      timeoutMs: { developer: 15 * MINUTE, critic: 10 * MINUTE, auditor: 10 * MINUTE, remediation: 5 * MINUTE },
      run: { costUsd: null, tokens: null, timeMs: null },
    });
    if (name !== "goal") {
      expect(policy.limits.iterations).toBe(30);
      expect(policy.limits.story).toEqual({ costUsd: null, tokens: null, timeMs: null });
      expect(policy.stall).toMatchObject({ grace: 0, sameFailure: 3, plateau: 2 });
      expect(policy.gates.checks.onUnexplained).toBe("send-back");
    }
    expect(policy.stall).toMatchObject({ unchanged: 1, oscillation: true, cascade: true });
    expect(policy.concurrency).toEqual({ developers: 5, critics: 5, auditors: 5, checks: 2, stories: null });
    expect(policy).toMatchObject({
      autonomy: "standard",
      onExhausted: "manual",
      circuitBreaker: true,
      merge: "manual",
    });
    for (const gate of ["checks", "tdd", "ci"] as const) expect(policy.gates[gate].blame).toBe(true);
    for (const gate of ["checks", "tdd", "mutation"] as const)
      expect(policy.gates[gate].unaffectedBy).toContain("**/*.md");
    expect(policy.gates.review.unaffectedBy).toEqual([]);
  });
});
