import { describe, expect, test, vi } from "vitest";
import { PRESETS, type Policy } from "../../src/core/events/policy.ts";
import { storyId } from "../../src/core/events/ids.ts";
import { stepsBound } from "./steps-bound.ts";
import { explore, type Options } from "./explore.ts";
import { createRun, GATE_RESULTS, oneGate, report, small, smaller } from "./small-policies.ts";
import { ENGINE_DIED, story } from "../kit/story-world.ts";
import { runsAll } from "../sampled.ts";

// Many seeds or states: on a busy machine they take long, and that is no failure.
vi.setConfig({ testTimeout: 3_600_000 });

/**
 * In the longest preset a build that fails goes every way a test that fails does, and so does a broken environment. A
 * gate that gives no verdict is walked there with those gates that the other presets do not have, and not with all.
 */
const FACTORY_REPEATS =
  /^ci fail build$|^blame environment$|^(?:tdd|merge|integrity|review) (?:blocked|error|inconclusive)$|^mutation blocked$/;

describe("every reachable state of one story, small limits, every result at every step", () => {
  for (const preset of PRESETS)
    test(preset, () => {
      const policy = preset === "factory" ? smaller(small(preset)) : small(preset);
      const found = explore(createRun(policy, story("a")), policy, {
        skip: (name, command) =>
          GATE_RESULTS.skip!(name, command) ||
          // Targets and branches that move are walked below, with every way to deliver.
          /^(?:updated|branch moved)$/.test(name) ||
          (preset === "factory" && !runsAll && FACTORY_REPEATS.test(name)),
      });
      report(preset, found);
      expect(found.longestPath).toBeLessThanOrEqual(stepsBound(policy));
      expect(Object.keys(found.endings)).toEqual(
        expect.arrayContaining([
          "budget",
          "gate-error",
          "gate-inconclusive",
          "gate-blocked",
          "failing-base",
          "project: infrastructure",
        ]),
      );
      // In `factory` a person merges, so its good end is their being asked.
      expect(found.endings[preset === "factory" ? "approval" : "accepted"]).toBeGreaterThan(0);
    });

  // S4.68, S4.78
  test("one gate, every way an agent, a step of the engine, or blame can go", () => {
    const policy = smaller(oneGate());
    // Contested tests, and a base whose checks take long, are walked below.
    // Deaths of the engine have a test of their own.
    const skip = (name: string): boolean =>
      / contested$|still running$/.test(name) || (!runsAll && name === ENGINE_DIED);
    const found = explore(createRun(policy, story("a")), policy, { skip });
    report("one gate", found);
    expect(found.longestPath).toBeLessThanOrEqual(stepsBound(policy));
    expect(Object.keys(found.endings)).toEqual(
      expect.arrayContaining([
        "accepted",
        "agent-failure",
        "agent-missing",
        "incomplete",
        "stall",
        "scope-too-broad",
        "non-deterministic",
        "held",
      ]),
    );
  });

  test("one gate, with the checks of the base still running when the first attempt begins", () => {
    const policy = oneGate();
    const found = explore(createRun(policy, story("a")), policy, {
      skip: (name, command) =>
        !name.endsWith("still running") &&
        (command.type === "start-story" || (command.type !== "judge-base" && GATE_RESULTS.skip!(name, command))),
    });
    report("base still running", found);
    expect(found.longestPath).toBeLessThanOrEqual(stepsBound(policy));
    expect(Object.keys(found.endings)).toEqual(expect.arrayContaining(["accepted", "failing-base", "gate-error"]));
  });

  for (const onExhausted of ["error", "skip"] as const)
    test(`one gate, onExhausted ${onExhausted}`, () => {
      const policy = oneGate({ onExhausted });
      const found = explore(createRun(policy, story("a")), policy, GATE_RESULTS);
      report(onExhausted, found);
      expect(found.endings[onExhausted === "error" ? "exhausted" : "set-aside"]).toBeGreaterThan(0);
      expect(found.endings["budget"]).toBeUndefined();
    });

  test("one gate without the breaker still ends, at the ceiling", () => {
    const policy = oneGate({
      circuitBreaker: false,
      gates: { ...small("critic-audit").gates, checks: { ...small("critic-audit").gates.checks, blame: false } },
    });
    const found = explore(createRun(policy, story("a")), policy, {
      skip: (name, command) => GATE_RESULTS.skip!(name, command) || /inconclusive$|error$|checks blocked$/.test(name),
    });
    report("no breaker", found);
    expect(found.endings).toEqual({ accepted: 10, "branch-moved": 10, budget: 1, "failing-base": 1 });
  });
});

describe("every reachable state of two stories with one gate", () => {
  const quiet: Options = {
    skip: (name, command) => {
      if (name === ENGINE_DIED || command.type === "start-attempt") return !/^(?:ready|blocked)$/.test(name);
      return GATE_RESULTS.skip!(name, command) || command.type === "find-blame";
    },
  };
  const base = smaller(oneGate());
  const policy: Policy = { ...base, gates: { ...base.gates, checks: { ...base.gates.checks, blame: false } } };

  // S4.26
  test("independent of each other", () => {
    const found = explore(createRun(policy, story("a"), story("b")), policy, quiet);
    report("two stories", found);
    // Law 8: one that is escalated does not hold the other up.
    expect(found.endings["budget + accepted"]).toBeGreaterThan(0);
    expect(found.endings["accepted + budget"]).toBeGreaterThan(0);
  });

  test("what fails at the base holds the one without a target, and not the other", () => {
    const aimed = story("b", { target: ["test/a.test.ts"] });
    const found = explore(createRun(policy, story("a"), aimed), policy, quiet);
    report("one with a target", found);
    expect(found.endings["failing-base + accepted"]).toBeGreaterThan(0);
    expect(found.endings["failing-base + target-not-failing"]).toBeGreaterThan(0);
    expect(Object.keys(found.endings).filter((ending) => ending.endsWith("+ failing-base"))).toEqual([]);
  });

  test("one depends on the other", () => {
    const found = explore(createRun(policy, story("a"), story("b", { dependsOn: [storyId("a")] })), policy, quiet);
    report("a before b", found);
    expect(found.endings["budget + waits for a story"]).toBeGreaterThan(0);
    expect(found.endings["accepted + accepted"]).toBeGreaterThan(0);
    expect(Object.keys(found.endings).filter((ending) => /^(?!accepted).* \+ accepted$/.test(ending))).toEqual([]);
  });
});
