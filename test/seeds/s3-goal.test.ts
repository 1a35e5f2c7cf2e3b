import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import { GATES } from "../../src/core/gates/gate.ts";
import type { Event } from "../../src/core/events/event.ts";
import { roleName } from "../../src/core/events/ids.ts";
import type { Policy, Specialist } from "../../src/core/events/policy.ts";
import type { RunState } from "../../src/core/stories/run-state.ts";
import { allItems, inboxItems } from "../../src/views/answers/inbox.ts";
import { answerSubject, personAnswer } from "../../src/views/answers/person-answer.ts";
import { summaryText } from "../../src/views/run/run-summary.ts";
import { statusOf } from "../../src/views/story/story-status.ts";
import { trailOf } from "../../src/views/story/trail.ts";
import { writeEscalationRecord } from "../../src/write/reports/rework-log.ts";
import { answer, recordedEvent, story } from "../kit/story-world.ts";
import { begin, commandsOf, runScript, stateOf, foldEvents, world, type Says, type World } from "./scripted-run.ts";

const POLICY: Policy = presetPolicy("goal");

const run = (happens: World, policy: Policy = POLICY) => runScript(begin(policy, story("a")), world(happens));
const fails = (count: number): Says[] => Array.from({ length: count }, () => "fail");
const AUTH = { verdict: "culprit", file: "src/auth/refresh.ts" } as const;

describe("S3 blame-attributed rework", () => {
  // S3.1, S3.3, S3.6, S3.30, S3.37
  it("never retries blindly: every failure is blamed before the work goes back", () => {
    const ran = run({ gates: { checks: fails(2) }, blame: [AUTH, "unmet"] });
    const round = [
      "judge checks",
      "blame checks",
      "send back from checks to implement",
      "implement by developer after checks",
      "judge integrity",
    ];
    expect(ran.lines.slice(3, 13)).toEqual([...round, ...round]);
    expect(stateOf(ran.run, "a").ending?.how).toBe("accepted");
  });

  // S3.7, S3.38
  it("constrains the rework to what is blamed, and keeps existing tests as they are", () => {
    const [back] = commandsOf(run({ gates: { checks: fails(1) }, blame: [AUTH] }), "send-back");
    expect(back).toMatchObject({ variant: "goal", scope: { allow: ["src/auth/refresh.ts"], tests: "add-only" } });
  });

  // S3.39
  it("several proven culprits are all in scope", () => {
    const [back] = commandsOf(
      run({ gates: { checks: fails(1) }, blame: [{ verdict: "multi", file: "src/b.ts" }] }),
      "send-back",
    );
    expect(back?.scope.allow).toEqual(["src/b.ts"]);
  });

  it("where blame names the test, the scope says that it may change", () => {
    const [back] = commandsOf(
      run({ gates: { checks: fails(1) }, blame: [{ verdict: "culprit", file: "tests/auth.test.ts" }] }),
      "send-back",
    );
    expect(back?.scope).toMatchObject({ allow: ["tests/auth.test.ts"], tests: "open" });
  });

  it("what is only unmet goes back without a fence: the work is not done yet", () => {
    const [back] = commandsOf(run({ gates: { checks: fails(1) }, blame: ["unmet"] }), "send-back");
    expect(back?.scope).toMatchObject({ allow: [], tests: "add-only" });
  });

  // S3.8, S3.33
  it.each<[string, Specialist, string, string]>([
    [
      "language",
      { role: roleName("typescript-reviewer"), languages: ["typescript"] },
      "src/auth/refresh.ts",
      "typescript-reviewer",
    ],
    ["path", { role: roleName("backend-engineer"), paths: ["src/auth/**"] }, "src/auth/refresh.ts", "backend-engineer"],
    [
      "category",
      { role: roleName("security-engineer"), categories: ["logic"] },
      "src/auth/refresh.ts",
      "security-engineer",
    ],
    ["another language", { role: roleName("go-reviewer"), languages: ["go"] }, "src/auth/refresh.ts", "developer"],
    ["another path", { role: roleName("ui-engineer"), paths: ["web/**"] }, "src/auth/refresh.ts", "developer"],
    [
      "language and another path",
      { role: roleName("x"), languages: ["typescript"], paths: ["web/**"] },
      "src/auth/refresh.ts",
      "developer",
    ],
  ])("routes by %s to the specialist who fits, else to the maker", (_by, specialist, file, role) => {
    const ran = run(
      { gates: { checks: fails(1) }, blame: [{ verdict: "culprit", file }] },
      { ...POLICY, specialists: [specialist] },
    );
    expect(commandsOf(ran, "send-back")[0]?.route.role).toBe(role);
    expect(commandsOf(ran, "start-attempt")[1]?.role).toBe(role);
  });
});

describe("S3 escalation triggers", () => {
  const reason = (happens: World) => {
    const ran = run(happens);
    return { ran, escalation: stateOf(ran.run, "a").escalation };
  };

  // S3.17, S3.28, S3.32, S3.40
  it("three reworks of one place without a pass: persistent trouble spot", () => {
    const { ran, escalation } = reason({ gates: { checks: fails(4) }, blame: [AUTH, AUTH, AUTH, AUTH] });
    expect(escalation?.title).toBe("Story a: persistent trouble spot");
    expect(escalation?.reason).toMatchObject({
      type: "stall",
      stall: "trouble-spot",
      detail: "3 reworks without a pass at src/auth/refresh.ts (4 failures)",
    });
    expect(commandsOf(ran, "send-back")).toHaveLength(3);
  });

  // S3.26
  it("the third rework may pass, as in its example: fail, fail, pass", () => {
    const { ran, escalation } = reason({ gates: { checks: fails(3) }, blame: [AUTH, AUTH, AUTH] });
    expect(escalation).toBeNull();
    expect(stateOf(ran.run, "a").ending?.how).toBe("accepted");
    expect(stateOf(ran.run, "a").locations["src/auth/refresh.ts"]).toMatchObject({
      attempts: 3,
      outcomes: ["fail", "fail", "pass"],
    });
  });

  it("failures at different places are no trouble spot", () => {
    const { escalation } = reason({
      gates: { checks: fails(4) },
      blame: [AUTH, { verdict: "culprit", file: "src/b.ts" }, AUTH, { verdict: "culprit", file: "src/b.ts" }],
    });
    expect(escalation).toBeNull();
  });

  // S3.18, S4.86
  it("a rework breaks what passed: back to the best tree, then regression cascade", () => {
    const tests = (...failing: string[]): Says => ({ result: "fail", blocking: failing.length, failing });
    const { ran, escalation } = reason({
      gates: { checks: [tests("new 1", "new 2"), tests("new 1"), tests("new 1", "old 1")] },
    });
    expect(escalation?.title).toBe("Story a: regression cascade");
    const [restore] = commandsOf(ran, "restore-tree");
    const best = commandsOf(ran, "start-gate").filter(({ gate }) => gate === "checks")[1];
    expect(restore?.tree).toBe(best?.tree);
    expect(stateOf(ran.run, "a").tree).toBe(best?.tree);
  });

  // S3.19
  it("suspects that cannot be told apart: scope too broad for targeted rework", () => {
    const { escalation } = reason({ gates: { checks: fails(1) }, blame: ["too-broad"] });
    expect(escalation?.title).toBe("Story a: scope too broad for targeted rework");
    expect(escalation?.reason).toEqual({ type: "scope-too-broad", files: ["src/a.ts", "lib/z.ts"] });
  });

  // S3.20, S3.24
  it.each(["flaky", "unknown", "pre-existing"] as const)(
    "no clear blame (%s): non-deterministic failure",
    (verdict) => {
      const { ran, escalation } = reason({ gates: { checks: fails(1) }, blame: [verdict] });
      expect(escalation?.title).toBe("Story a: non-deterministic failure");
      expect(commandsOf(ran, "send-back")).toEqual([]);
    },
  );

  it.each([
    ["flaky", 0],
    ["pre-existing", 0],
    ["unknown", 1],
  ] as const)("a failure that blame calls %s leaves %i charged", (verdict, charged) => {
    const { ran } = reason({ gates: { checks: fails(1) }, blame: [verdict] });
    expect(stateOf(ran.run, "a").gates.checks?.failuresEver).toBe(charged);
  });

  // S3.25
  it("an environmental failure is repaired, not reworked, and not charged", () => {
    const { ran, escalation } = reason({ gates: { checks: fails(1) }, blame: ["environment"] });
    expect(ran.lines).toContain("start-remediation");
    expect(commandsOf(ran, "send-back")).toEqual([]);
    expect(escalation).toBeNull();
    expect(stateOf(ran.run, "a")).toMatchObject({
      gates: { checks: { failuresEver: 0 } },
      ending: { how: "accepted" },
    });
  });
});

describe("S3 tracking", () => {
  // S3.9, S3.26, S3.41
  it("keeps attempts, outcomes and cost of each place", () => {
    const ran = run({ gates: { checks: fails(2) }, blame: [AUTH, AUTH], attemptCostUsd: 0.6 });
    expect(stateOf(ran.run, "a").locations).toEqual({
      "src/auth/refresh.ts": {
        attempts: 2,
        lastAttemptAt: 0,
        outcomes: ["fail", "pass"],
        totalCostUsd: 1.2,
        sincePass: 0,
      },
    });
  });

  // S3.29
  it("a pass between failures restarts the count of that location and keeps its history", () => {
    const ran = run({ gates: { checks: ["fail", "pass"] }, blame: [AUTH] }, { ...POLICY, deliver: "merge" });
    expect(stateOf(ran.run, "a").locations["src/auth/refresh.ts"]).toMatchObject({
      attempts: 1,
      outcomes: ["pass"],
      sincePass: 0,
    });
  });

  it("a person's guidance forgives the place", () => {
    const ran = run({ gates: { checks: fails(4) }, blame: [AUTH, AUTH, AUTH, AUTH] });
    const back = foldEvents(ran.run, "a", answer("send-back", { message: "the clock is mocked" }));
    expect(stateOf(back, "a").locations["src/auth/refresh.ts"]).toMatchObject({ attempts: 3, sincePass: 0 });
    expect(stateOf(runScript(back).run, "a").ending?.how).toBe("accepted");
  });
});

describe("S3 budget of the goal", () => {
  it("has no limit of a gate's own: the whole loop has one, and each place", () => {
    expect(new Set(GATES.map((gate) => POLICY.limits.failures[gate]))).toEqual(new Set([null]));
    expect(POLICY.limits).toMatchObject({ iterations: 15, perLocation: 4, story: { costUsd: 10, timeMs: 7_200_000 } });
  });

  const limits = (change: Partial<Policy["limits"]>): Policy => ({
    ...POLICY,
    limits: { ...POLICY.limits, ...change },
  });

  // S3.34
  it.each([1, 3, 15])("%i iterations and not one more", (iterations) => {
    const ran = run({ gates: { checks: fails(40) } }, limits({ iterations }));
    expect(commandsOf(ran, "start-attempt")).toHaveLength(iterations);
    expect(stateOf(ran.run, "a").escalation?.reason).toEqual({
      type: "budget",
      budget: "iterations",
      used: iterations,
      limit: iterations,
    });
  });

  it("more iterations are a person's to allow, and the loop goes on where it was", () => {
    const ran = run({ gates: { checks: fails(2) } }, limits({ iterations: 2 }));
    const more = foldEvents(ran.run, "a", answer("raise-budget", { budget: "iterations", limit: 3 }));
    const after = runScript(more);
    expect(commandsOf(after, "start-attempt").map(({ reworkOf }) => reworkOf)).toEqual(["checks"]);
    expect(stateOf(after.run, "a").ending?.how).toBe("accepted");
  });

  // S3.35
  it.each([
    ["cost", { attemptCostUsd: 1 }, 10],
    ["time", { attemptMs: 12 * 60_000 }, 2 * 3_600_000],
  ] as const)("%s: a warning at 80 %, a question at 100 %, and nothing is thrown away", (budget, use, limit) => {
    const ran = run({ gates: { checks: fails(40) }, ...use });
    const told80 = ran.lines.indexOf(`warn: ${budget}`);
    const attempts = (to: number) => ran.commands.slice(0, to).filter(({ type }) => type === "start-attempt").length;
    expect(attempts(told80)).toBe(8);
    expect(attempts(ran.commands.length)).toBe(10);
    expect(ran.lines.filter((line) => line.startsWith("warn"))).toHaveLength(1);
    expect(stateOf(ran.run, "a").escalation).toMatchObject({
      kind: "authorisation",
      reason: { type: "budget", budget, used: limit, limit },
    });
    const more = foldEvents(ran.run, "a", answer("raise-budget", { budget, limit: limit * 2 }));
    expect(stateOf(runScript(more).run, "a").ending?.how).toBe("accepted");
  });

  it("work that opened every gate is accepted, whatever it cost", () => {
    const ran = run({ gates: { checks: [{ result: "pass", more: { costUsd: 50 } }] } });
    expect(stateOf(ran.run, "a").ending?.how).toBe("accepted");
  });

  it("the whole run has a budget too: everybody stops, and one question is asked", () => {
    const policy = { ...POLICY, limits: { ...POLICY.limits, run: { costUsd: 4, tokens: null, timeMs: null } } };
    const ran = runScript(
      begin(policy, story("a"), story("b")),
      world({ gates: { checks: fails(40) }, attemptCostUsd: 1 }),
    );
    expect(ran.run.escalation?.reason).toEqual({ type: "budget", budget: "run-cost", used: 4, limit: 4 });
    expect(ran.lines.filter((line) => line === "warn: run-cost")).toHaveLength(1);
    const more = runScript(foldEvents(ran.run, null, answer("raise-budget", { budget: "run-cost", limit: 100 })));
    expect(["a", "b"].map((id) => stateOf(more.run, id).ending?.how)).toEqual(["accepted", "accepted"]);
  });

  // S3.36
  it("says before each dispatch what it will likely cost, once something is known", () => {
    const ran = run({ gates: { checks: fails(2) }, attemptCostUsd: 0.5 });
    expect(commandsOf(ran, "start-attempt").map(({ forecastUsd }) => forecastUsd)).toEqual([null, 0.5, 0.5]);
  });
});

describe("S3 triage", () => {
  const asked = (): RunState => run({ gates: { checks: fails(4) }, blame: [AUTH, AUTH, AUTH, AUTH] }).run;
  const linesOf = (...events: readonly Event[]) => events.map((event, at) => recordedEvent(at, "a", event));

  // S3.42
  it("a deferred item is out of the inbox, with the person's name, until the next run asks again", () => {
    const before = asked();
    const deferred = foldEvents(before, "a", answer("defer", { message: "after the release" }));
    expect(inboxItems(before)).toHaveLength(1);
    expect(inboxItems(deferred)).toEqual([]);
    expect(allItems(deferred)).toMatchObject([{ deferred: { by: "Ada", reason: "after the release" } }]);
    expect(statusOf(deferred, stateOf(deferred, "a"))).toMatchObject({
      status: "escalated",
      why: "deferred by Ada to the next run: after the release",
    });
    expect(summaryText(deferred, null, "·")).toContain("1 deferred");
    expect(runScript(deferred).commands).toEqual([]);
    const { escalation } = stateOf(deferred, "a");
    const again = foldEvents(deferred, "a", { type: "escalation.raised", escalation: escalation! });
    expect(inboxItems(again)).toMatchObject([{ id: escalation!.id, deferred: null }]);
    const sentBack = foldEvents(deferred, "a", answer("send-back", { message: "once more" }));
    expect(stateOf(sentBack, "a")).not.toHaveProperty("deferred");
    expect(stateOf(sentBack, "a").escalation).toBeNull();
  });

  // S3.43
  it("a dismissed item ends its story, which is neither accepted nor failed", () => {
    const dismissed = foldEvents(asked(), "a", answer("dismiss", { message: "the page is gone" }));
    expect(inboxItems(dismissed)).toEqual([]);
    expect(statusOf(dismissed, stateOf(dismissed, "a"))).toMatchObject({
      status: "dismissed",
      why: "Ada: the page is gone",
    });
    expect(summaryText(dismissed, null, "·")).toMatch(/1 story · 1 dismissed/);
    expect(trailOf([], dismissed).failed).toEqual([]);
  });

  // S3.32
  it("the trail has the state of an item: pending, deferred, acted or dismissed, and who said so", () => {
    const state = asked();
    const { escalation } = stateOf(state, "a");
    const raised: Event = { type: "escalation.raised", escalation: escalation! };
    const said = (verb: "defer" | "dismiss" | "send-back") => answer(verb, { escalation: escalation!.id });
    const recordOf = (...events: readonly Event[]) => {
      const trail = trailOf(linesOf(raised, ...events), state).escalations;
      expect(trail).toHaveLength(1);
      const { story: id, at, context, answers } = trail[0]!;
      return JSON.parse(writeEscalationRecord(escalation!, id!, at, context, answers)) as object;
    };
    expect(recordOf()).toMatchObject({ status: "pending", answers: [] });
    expect(recordOf(said("defer"), raised)).toMatchObject({
      status: "deferred",
      answers: [{ verb: "defer", by: "Ada", timestamp: "1970-01-01T00:00:00Z" }],
    });
    expect(recordOf(said("defer"), raised, said("dismiss"))).toMatchObject({ status: "dismissed" });
    expect(recordOf(said("send-back"))).toMatchObject({ status: "acted" });
    expect(recordOf(said("dismiss"), { type: "answer.undone", by: "Ada" })).toMatchObject({ status: "pending" });
  });

  it("both are answers to a story's question alone, and need a reason", () => {
    const state = asked();
    const subject = answerSubject(state, [stateOf(state, "a")], "a", "dispute");
    expect(() => personAnswer(subject, { verb: "dismiss", by: "Ada", message: " " })).toThrow(
      "dismiss needs a message",
    );
    expect(personAnswer(subject, { verb: "defer", by: "Ada", message: "later" })).toMatchObject({ verb: "defer" });
    const quiet = { ...subject, escalation: null };
    expect(() => personAnswer(quiet, { verb: "defer", by: "Ada", message: "later" })).toThrow("a asks none");
  });
});
