import { describe, expect, test, vi } from "vitest";
import { ANSWER_VERBS } from "../../src/core/stories/escalation.ts";
import { GATES } from "../../src/core/gates/gate.ts";
import type { Policy } from "../../src/core/events/policy.ts";
import type { RunState } from "../../src/core/stories/run-state.ts";
import { stepsBound } from "./steps-bound.ts";
import { byText, entries, lookup } from "../../src/stdx/sorted-map.ts";
import { explore, type Options } from "./explore.ts";
import { createRun, GATE_RESULTS, oneGate, report, smaller } from "./small-policies.ts";
import { answer, CONTESTED, FAILING_BASE, story } from "../kit/story-world.ts";
import { runsAll } from "../sampled.ts";

// Many seeds or states: on a busy machine they take long, and that is no failure.
vi.setConfig({ testTimeout: 3_600_000 });

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
        const found = explore(createRun(policy, story("a")), policy, quiet);
        report(name, found);
        expect(found.longestPath).toBeLessThanOrEqual(stepsBound(policy));
        const isAsked = way.deliver === "merge" && way.merge === "manual";
        expect(found.endings[isAsked ? "approval" : "accepted"]).toBeGreaterThan(0);
        if (!isAsked) expect(found.endings["branch-moved"]).toBeGreaterThan(0);
        const canMove = gates.length > 1 || (way.deliver === "merge" && way.merge === "auto");
        expect((found.endings["target-moves"] ?? 0) > 0).toBe(canMove);
      });

      const most = runsAll || (gates.length === 1 && way.deliver === "branch") ? 2 : 1;
      test(`${name}: up to ${most} answers`, { timeout: 600_000 }, () => {
        const found = explore(createRun(policy, story("a")), policy, {
          skip: (outcome, command) => quiet.skip!(outcome, command) || / (?:error|blocked)$/.test(outcome),
          answers: (run, { answers }) => (answers >= most ? [] : allAnswers(run)),
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
    const found = explore(createRun(policy, story("a"), story("b")), policy, {
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
  for (const autonomy of ["conservative", "standard", "full"] as const) {
    const most = runsAll || autonomy === "conservative" ? 2 : 1;
    test(`${autonomy}: up to ${most} answers, each verb, to every question`, () => {
      const base = oneGate({ autonomy, deliver: "merge", merge: autonomy === "full" ? "auto" : "manual" });
      const policy: Policy = {
        ...base,
        limits: { ...base.limits, errors: 1, inconclusives: 1, blocked: 1, remediations: 1 },
      };
      const found = explore(createRun(policy, story("a")), policy, {
        skip: (name, command) =>
          command.type === "start-attempt"
            ? !/^(?:ready|ready unchanged|crashed|missing info)$/.test(name)
            : // Targets that move are walked above.
              GATE_RESULTS.skip!(name, command) || /^(?:target moved|conflict|updated)$/.test(name),
        answers: (run, { answers }) => (answers >= most ? [] : allAnswers(run)),
      });
      report(`answers, ${autonomy}`, found);
      expect(found.endings["accepted"]).toBeGreaterThan(0);
      expect(found.endings["abandoned"]).toBeGreaterThan(0);
      expect(found.endings["project: halted"]).toBeGreaterThan(0);
    });
  }

  test("what fails at the base: each answer, for some or for all of it", () => {
    const base = smaller(oneGate());
    const policy: Policy = { ...base, gates: { ...base.gates, checks: { ...base.gates.checks, blame: false } } };
    const found = explore(createRun(policy, story("a")), policy, {
      skip: (name, command) =>
        command.type === "start-attempt"
          ? name !== "ready"
          : command.type === "start-story"
            ? !name.startsWith("prepared")
            : GATE_RESULTS.skip!(name, command),
      answers: (run, { answers }) =>
        answers >= (runsAll ? 3 : 2) ? [] : [...allAnswers(run), ...answersAboutOne(run)],
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
      const found = explore(createRun(policy, story("a")), policy, {
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
