import { describe, expect, test } from "vitest";
import { presetPolicy } from "../../src/config/preset-policy.ts";
import { GATES } from "../../src/domain/gate.ts";
import { PRESETS, type Policy, type PresetName } from "../../src/domain/policy.ts";
import type { Story } from "../../src/domain/story.ts";
import { fold } from "../../src/policy/evolve.ts";
import { EMPTY_RUN } from "../../src/policy/new-state.ts";
import { explore } from "./explore.ts";
import { recorded, story } from "./world.ts";

function small(preset: PresetName): Policy {
  const policy = presetPolicy(preset);
  const failures = Object.fromEntries(GATES.map((gate) => [gate, policy.limits.failures[gate] === null ? null : 2])) as Policy["limits"]["failures"];
  return {
    ...policy,
    limits: { ...policy.limits, failures, iterations: policy.limits.failures.checks === null ? 3 : 30, perLocation: 2, errors: 2, inconclusives: 2, blocked: 2, agentFailures: 2, timeouts: 2, rateLimits: 2, refusals: 2, dependencyWaits: 2, clarifications: 1, ciRetries: 1, remediations: 2 },
  };
}

function begun(policy: Policy, ...stories: Story[]) {
  return fold([recorded(0, null, { type: "policy.set", policy, by: "test" }), ...stories.map((each) => recorded(0, each.id, { type: "story.added", story: each }))], EMPTY_RUN);
}


describe("every reachable state", () => {
  for (const preset of PRESETS)
    test(`${preset}: one story, limits of 2, every result at every step`, { timeout: 600_000 }, () => {
      const policy = small(preset);
      const t = performance.now();
      try {
      const found = explore(begun(policy, story("a")), policy, { mostStates: Number(process.env.MOST ?? 300000), skip: (name, command) => {
        if (command.type === "start-gate") return / the same$| worse$/.test(name) ;
        if (command.type === "start-attempt") return !/^ready$/.test(name);
        if (command.type === "find-blame") return !/^blame (culprit|unmet|environment|flaky)/.test(name);
        return / broke$| blocked$/.test(name);
      } });
      console.log(preset, JSON.stringify(found), Math.round(performance.now() - t), "ms");
      expect(found.states).toBeGreaterThan(100);
      } catch (e) { console.log(preset, (e as Error).message, Math.round(performance.now() - t)); }
    });
});
