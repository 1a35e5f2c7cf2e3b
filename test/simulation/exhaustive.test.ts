import { describe, expect, test, vi } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import { ANSWER_VERBS } from "../../src/core/stories/escalation.ts";
import { GATES } from "../../src/core/gates/gate.ts";
import { PRESETS, type Policy, type PresetName } from "../../src/core/events/policy.ts";
import type { RunState } from "../../src/core/stories/run-state.ts";
import { storyId } from "../../src/core/events/ids.ts";
import type { Story } from "../../src/core/stories/story.ts";
import { stepsBound } from "../../src/decide/bound.ts";
import { fold } from "../../src/fold/fold-event.ts";
import { EMPTY_RUN } from "../../src/fold/new-state.ts";
import { byText, entries, lookup } from "../../src/stdx/sorted-map.ts";
import { explore, type Explored, type Options } from "./explore.ts";
import { answer, CONTESTED, ENGINE_DIED, FAILING_BASE, recordedEvent, story } from "../kit/story-world.ts";

// Many seeds or states: on a busy machine they take long, and that is no failure.
vi.setConfig({ testTimeout: 3_600_000 });

/** A preset with every limit at two, so that every way to a limit is short enough to walk. */
function small(preset: PresetName): Policy {
  const policy = presetPolicy(preset);
  const two = Object.fromEntries(GATES.map((gate) => [gate, policy.limits.failures[gate] === null ? null : 2]));
  return {
    ...policy,
    limits: {
      ...policy.limits,
      failures: two as Policy["limits"]["failures"],
      iterations: policy.limits.failures.checks === null ? 3 : 30,
      perLocation: 2,
      errors: 2,
      inconclusives: 2,
      blocked: 2,
      agentFailures: 2,
      timeouts: 2,
      rateLimits: 2,
      refusals: 2,
      dependencyWaits: 2,
      targetMoves: 2,
      clarifications: 1,
      ciRetries: 1,
      remediations: 2,
    },
  };
}

function oneGate(change: Partial<Policy> = {}): Policy {
  return { ...small("critic-audit"), phases: [{ phase: "implement", gates: ["checks"] }], ...change };
}

function begun(policy: Policy, ...stories: Story[]): RunState {
  const set = recordedEvent(0, null, { type: "policy.set", policy, by: "test" });
  return fold(
    [set, ...stories.map((each) => recordedEvent(0, each.id, { type: "story.added", story: each }))],
    EMPTY_RUN,
  );
}

function report(name: string, found: Explored): void {
  const { states, transitions, longestPath, endings } = found;
  console.log(
    `${name}: ${states} states, ${transitions} transitions, longest path ${longestPath}; endings ${JSON.stringify(endings)}`,
  );
}

/** `REMAND_EXHAUSTIVE=full` also walks what is equal to something that is walked anyway; it takes minutes. */
const isFull = process.env["REMAND_EXHAUSTIVE"] === "full";

/**
 * In the longest preset a build that fails goes every way a test that fails does, and so does a broken environment. A
 * gate that gives no verdict is walked there with those gates that the other presets do not have, and not with all.
 */
const FACTORY_REPEATS =
  /^ci fail build$|^blame environment$|^(?:tdd|merge|integrity|review) (?:blocked|error|inconclusive)$|^mutation blocked$/;

/** Results of gates are all walked; agents that break are walked with one gate below, where it stays small. */
const GATE_RESULTS: Options = {
  skip: (name, command) => {
    if (name === ENGINE_DIED || name.endsWith("still running")) return true;
    if (command.type === "start-gate") return / the same$| worse$| other tests$| does not load$| contested$/.test(name);
    if (command.type === "start-attempt") return name !== "ready";
    if (command.type === "find-blame") return !/^blame (?:culprit|environment|flaky)$/.test(name);
    return / broke$| blocked$/.test(name);
  },
};

describe("every reachable state of one story, limits of two, every result at every step", () => {
  for (const preset of PRESETS)
    test(preset, () => {
      const policy = small(preset);
      const found = explore(begun(policy, story("a")), policy, {
        skip: (name, command) =>
          GATE_RESULTS.skip!(name, command) ||
          // Targets and branches that move are walked below, with every way to deliver.
          /^(?:updated|branch moved)$/.test(name) ||
          (preset === "factory" && !isFull && FACTORY_REPEATS.test(name)),
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
    const policy = oneGate();
    // Contested tests, and a base whose checks take long, are walked below.
    // Deaths of the engine have a test of their own.
    const skip = (name: string): boolean =>
      / contested$|still running$/.test(name) || (!isFull && name === ENGINE_DIED);
    const found = explore(begun(policy, story("a")), policy, { skip });
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
    const found = explore(begun(policy, story("a")), policy, {
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
      const found = explore(begun(policy, story("a")), policy, GATE_RESULTS);
      report(onExhausted, found);
      expect(found.endings[onExhausted === "error" ? "exhausted" : "set-aside"]).toBeGreaterThan(0);
      expect(found.endings["budget"]).toBeUndefined();
    });

  test("one gate without the breaker still ends, at the ceiling", () => {
    const policy = oneGate({
      circuitBreaker: false,
      gates: { ...small("critic-audit").gates, checks: { ...small("critic-audit").gates.checks, blame: false } },
    });
    const found = explore(begun(policy, story("a")), policy, {
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
  const base = oneGate();
  const policy: Policy = { ...base, gates: { ...base.gates, checks: { ...base.gates.checks, blame: false } } };

  // S4.26
  test("independent of each other", () => {
    const found = explore(begun(policy, story("a"), story("b")), policy, quiet);
    report("two stories", found);
    // Law 8: one that is escalated does not hold the other up.
    expect(found.endings["budget + accepted"]).toBeGreaterThan(0);
    expect(found.endings["accepted + budget"]).toBeGreaterThan(0);
  });

  test("what fails at the base holds the one without a target, and not the other", () => {
    const aimed = story("b", { target: ["test/a.test.ts"] });
    const found = explore(begun(policy, story("a"), aimed), policy, quiet);
    report("one with a target", found);
    expect(found.endings["failing-base + accepted"]).toBeGreaterThan(0);
    expect(found.endings["failing-base + target-not-failing"]).toBeGreaterThan(0);
    expect(Object.keys(found.endings).filter((ending) => ending.endsWith("+ failing-base"))).toEqual([]);
  });

  test("one depends on the other", () => {
    const found = explore(begun(policy, story("a"), story("b", { dependsOn: [storyId("a")] })), policy, quiet);
    report("a before b", found);
    expect(found.endings["budget + waits for a story"]).toBeGreaterThan(0);
    expect(found.endings["accepted + accepted"]).toBeGreaterThan(0);
    expect(Object.keys(found.endings).filter((ending) => /^(?!accepted).* \+ accepted$/.test(ending))).toEqual([]);
  });
});

describe("every way to deliver, with targets that move, conflict and are rewritten", () => {
  const WAYS = [
    { deliver: "branch", merge: "manual", autonomy: "full" },
    { deliver: "merge", merge: "manual", autonomy: "full" },
    { deliver: "merge", merge: "auto", autonomy: "full" },
    { deliver: "pull-request", merge: "manual", autonomy: "full" },
  ] as const;
  for (const way of WAYS)
    for (const gates of [["checks"], ["checks", "merge"]] as const) {
      const name = `${way.deliver}, merge: ${way.merge}, ${gates.join(" and ")}`;
      const base = oneGate({ ...way, phases: [{ phase: "implement", gates }] });
      const policy: Policy = {
        ...base,
        limits: { ...base.limits, errors: 1, inconclusives: 1, blocked: 1 },
        gates: { ...base.gates, checks: { ...base.gates.checks, blame: false } },
      };
      const quiet: Options = {
        skip: (outcome, command) =>
          command.type === "start-attempt"
            ? outcome !== "ready"
            : GATE_RESULTS.skip!(outcome, command) || outcome.endsWith(" inconclusive"),
      };

      test(name, { timeout: 600_000 }, () => {
        const found = explore(begun(policy, story("a")), policy, quiet);
        report(name, found);
        expect(found.longestPath).toBeLessThanOrEqual(stepsBound(policy));
        const isAsked = way.deliver === "merge" && way.merge === "manual";
        expect(found.endings[isAsked ? "approval" : "accepted"]).toBeGreaterThan(0);
        if (!isAsked) expect(found.endings["branch-moved"]).toBeGreaterThan(0);
        const canMove = gates.length > 1 || (way.deliver === "merge" && way.merge === "auto");
        expect((found.endings["target-moves"] ?? 0) > 0).toBe(canMove);
      });

      test(`${name}: up to two answers`, { timeout: 600_000 }, () => {
        const found = explore(begun(policy, story("a")), policy, {
          skip: (outcome, command) => quiet.skip!(outcome, command) || / (?:error|blocked)$/.test(outcome),
          answers: (run, { answers }) => (answers >= 2 ? [] : allAnswers(run)),
        });
        report(`${name}, answers`, found);
        expect(found.endings["accepted"]).toBeGreaterThan(0);
        expect(found.endings["abandoned"]).toBeGreaterThan(0);
      });
    }

  test("two stories that merge by themselves, with one slot for checks", { timeout: 600_000 }, () => {
    const base = oneGate({ deliver: "merge", merge: "auto", autonomy: "full" });
    const policy: Policy = {
      ...base,
      limits: { ...base.limits, errors: 1, failures: { ...base.limits.failures, checks: 2, merge: 2 } },
      gates: { ...base.gates, checks: { ...base.gates.checks, blame: false } },
      concurrency: { ...base.concurrency, checks: 1, developers: 1 },
    };
    const found = explore(begun(policy, story("a"), story("b")), policy, {
      skip: (outcome, command) =>
        command.type === "start-attempt"
          ? outcome !== "ready"
          : GATE_RESULTS.skip!(outcome, command) || / (?:inconclusive|error|blocked)$/.test(outcome),
    });
    report("two that merge", found);
    expect(found.endings["accepted + accepted"]).toBeGreaterThan(0);
    expect(found.endings["target-moves + accepted"]).toBeGreaterThan(0);
  });
});

describe("every answer a person can give", () => {
  for (const autonomy of ["conservative", "standard", "full"] as const)
    test(`${autonomy}: up to two answers, each verb, to every question`, () => {
      const base = oneGate({ autonomy, deliver: "merge", merge: autonomy === "full" ? "auto" : "manual" });
      const policy: Policy = {
        ...base,
        limits: { ...base.limits, errors: 1, inconclusives: 1, blocked: 1, remediations: 1 },
      };
      const found = explore(begun(policy, story("a")), policy, {
        skip: (name, command) =>
          command.type === "start-attempt"
            ? !/^(?:ready|ready unchanged|crashed|missing info)$/.test(name)
            : // Targets that move are walked above.
              GATE_RESULTS.skip!(name, command) || /^(?:target moved|conflict|updated)$/.test(name),
        answers: (run, { answers }) => (answers >= 2 ? [] : allAnswers(run)),
      });
      report(`answers, ${autonomy}`, found);
      expect(found.endings["accepted"]).toBeGreaterThan(0);
      expect(found.endings["abandoned"]).toBeGreaterThan(0);
      expect(found.endings["project: halted"]).toBeGreaterThan(0);
    });

  test("what fails at the base: each answer, for some or for all of it", () => {
    const base = oneGate();
    const policy: Policy = { ...base, gates: { ...base.gates, checks: { ...base.gates.checks, blame: false } } };
    const found = explore(begun(policy, story("a")), policy, {
      skip: (name, command) =>
        command.type === "start-attempt"
          ? name !== "ready"
          : command.type === "start-story"
            ? !name.startsWith("prepared")
            : GATE_RESULTS.skip!(name, command),
      answers: (run, { answers }) => (answers >= (isFull ? 3 : 2) ? [] : [...allAnswers(run), ...answersAboutOne(run)]),
    });
    report("failing base", found);
    expect(found.endings["accepted"]).toBeGreaterThan(0);
    expect(found.endings["failing-base"]).toBeGreaterThan(0);
    expect(found.endings["abandoned"]).toBeGreaterThan(0);
  });
});

describe("tests that the work changed, and that passed before", () => {
  const base = oneGate({ deliver: "branch" });
  const unblamed = Object.fromEntries(GATES.map((gate) => [gate, { ...base.gates[gate], blame: false }]));
  for (const gates of [["checks"], ["checks", "review"], ["review", "checks"]] as const)
    test(`${gates.join(", then ")}: up to two answers`, () => {
      const policy: Policy = {
        ...base,
        limits: { ...base.limits, errors: 1 },
        phases: [{ phase: "implement", gates }],
        gates: unblamed as Policy["gates"],
      };
      const found = explore(begun(policy, story("a")), policy, {
        skip: (name, command) => {
          if (command.type === "start-attempt") return name !== "ready";
          if (command.type === "start-story") return name !== "prepared";
          if (command.type === "start-gate")
            return !/ pass$| pass contested$/.test(name) && !(command.gate === "review" && / error$| fail$/.test(name));
          return GATE_RESULTS.skip!(name, command) || name === "branch moved" || name === "adopted changes";
        },
        answers: (run, { answers }) => (answers >= 2 ? [] : answersOffered(run)),
      });
      report(`contested: ${gates.join(", ")}`, found);
      // With a reviewer behind the checks a person is asked only where the review was waived.
      expect(found.endings["contested-tests"]).toBeGreaterThan(0);
      expect(found.endings["accepted"]).toBeGreaterThan(0);
      expect(found.endings["abandoned"]).toBeGreaterThan(0);
    });
});

/** Every answer that a story's question offers; `allow` also for one of the contested tests alone. */
function answersOffered(run: RunState) {
  return [...entries(run.stories)].flatMap(([id, { escalation }]) => {
    if (escalation === null) return [];
    const one = escalation.reason.type === "contested-tests" ? [answer("allow", { tests: [CONTESTED[0]!.test] })] : [];
    return [...escalation.options.map(({ verb }) => answer(verb)), ...one].map((event) => ({ of: id, event }));
  });
}

/** `known` and `target`, said of one of the failures alone. */
function answersAboutOne(run: RunState) {
  return [...entries(run.stories)].flatMap(([id, { escalation }]) =>
    escalation?.reason.type !== "failing-base"
      ? []
      : (["known", "target"] as const).map((verb) => ({
          of: id,
          event: answer(verb, { escalation: escalation.id, tests: [FAILING_BASE[0]!] }),
        })),
  );
}

/** Every verb on every waiting story, and on the project where that waits. */
function allAnswers(run: RunState) {
  const all: { of: string | null; event: ReturnType<typeof answer> }[] = [];
  if (run.escalation !== null)
    for (const verb of run.escalation.options.map((option) => option.verb)) all.push({ of: null, event: answer(verb) });
  for (const [id, state] of entries(run.stories)) {
    if (state.escalation === null) continue;
    const { reason, gate } = state.escalation;
    const findings = gate === null ? [] : (lookup(run.stories, id, byText)!.gates[gate]?.last?.blocking ?? []);
    for (const verb of ANSWER_VERBS) {
      if (verb === "retry" || verb === "declare-healthy" || verb === "halt") continue;
      const budget = reason.type === "budget" ? { budget: reason.budget, limit: reason.limit + 1 } : {};
      const of = verb === "waive" || verb === "dispute" ? { findings } : {};
      all.push({
        of: id,
        event: answer(verb, { ...(verb === "raise-budget" ? budget : {}), ...(findings.length > 0 ? of : {}) }),
      });
    }
  }
  return all;
}
