import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import { identifyFinding } from "../../src/core/gates/finding-identity.ts";
import { fingerprint, storyId } from "../../src/core/events/ids.ts";
import { GATES } from "../../src/core/gates/gate.ts";
import type { Policy } from "../../src/core/events/policy.ts";
import { statusOf } from "../../src/views/story/story-status.ts";
import { story } from "../kit/story-world.ts";
import {
  begin,
  commandsOf,
  ofStory,
  reasonFor,
  runScript,
  stateOf,
  foldEvents,
  world,
  type Says,
} from "./scripted-run.ts";

const POLICY = presetPolicy("story");
/** The same with a review of every phase's product, which a project can ask for. */
const REVIEWED: Policy = {
  ...POLICY,
  phases: POLICY.phases.map(({ phase, gates }) => ({ phase, gates: [...new Set([...gates, "review" as const])] })),
};
const FAIL: Says = "fail";
/** A story whose first three phases are done, so that a test of `implement` is about nothing else. */
const planned = (id: string, more = {}) => story(id, { completed: ["refine", "research", "plan"], ...more });

describe("S4 flows", () => {
  // S4.28, S4.66, S4.99
  it("goes through its phases, is reviewed when it is implemented, and ends in a pull request", () => {
    const ran = runScript(begin(POLICY, story("a")));
    expect(ran.lines).toEqual([
      "start-story",
      "refine by refiner",
      "judge integrity",
      "research by researcher",
      "judge integrity",
      "plan by planner",
      "judge integrity",
      "implement by developer",
      "judge integrity",
      "judge checks",
      "judge review",
      "deliver by pull-request",
      "accept",
    ]);
    expect(statusOf(ran.run, stateOf(ran.run, "a")).status).toBe("accepted");
  });

  // S4.1, S4.9, S4.10, S4.11, S4.37, S4.63, S4.94
  it("sends a failed review back to the author and through review again, twice, to the pass, without a person", () => {
    const ran = runScript(begin(POLICY, planned("a")), world({ gates: { review: [FAIL, FAIL] } }));
    const rework = [
      "send back from review to implement",
      "implement by developer after review",
      "judge integrity",
      "judge checks",
      "judge review",
    ];
    expect(ran.lines.slice(1)).toEqual([
      "implement by developer",
      "judge integrity",
      "judge checks",
      "judge review",
      ...rework,
      ...rework,
      "deliver by pull-request",
      "accept",
    ]);
    expect(stateOf(ran.run, "a").gates.review?.failures).toBe(2);
  });

  // S4.8, S4.24, S4.62, S4.93
  it("reworks three times; the fourth failure asks a person, with the reason and every attempt", () => {
    const ran = runScript(begin(POLICY, planned("a")), world({ gates: { review: [FAIL, FAIL, FAIL, FAIL] } }));
    expect(commandsOf(ran, "send-back").map(({ failure, failureLimit }) => [failure, failureLimit])).toEqual([
      [1, 4],
      [2, 4],
      [3, 4],
    ]);
    expect(ran.lines[ran.lines.length - 1]).toBe("ask: budget");
    const { escalation } = stateOf(ran.run, "a");
    expect(escalation?.reason).toEqual({ type: "budget", budget: "failures:review", used: 4, limit: 4 });
    expect(escalation?.title).toBe("Story a: the review gate failed 4 times");
    expect(escalation?.attempts).toHaveLength(4);
    expect(escalation?.attempts.every(({ failed }) => failed === "review says fail")).toBe(true);
  });

  // S4.65, S4.67
  it("goes on with other stories when one needs a person", () => {
    const ran = runScript(
      begin(POLICY, planned("a"), planned("b")),
      world({ story: "a", gates: { review: [FAIL, FAIL, FAIL, FAIL] } }),
    );
    expect(reasonFor(ran.run, "a")).toBe("budget");
    expect(stateOf(ran.run, "b").ending?.how).toBe("accepted");
  });
});

describe("S4 phase of a rework", () => {
  const reworked = (category: string, more: Partial<Extract<Says, object>> = {}) =>
    runScript(begin(POLICY, story("a")), world({ gates: { review: [{ result: "fail", category, ...more }] } }));
  const redone = (from: "research" | "plan" | "implement") => {
    const round = {
      research: ["research by researcher"],
      plan: ["plan by planner"],
      implement: ["implement by developer"],
    } as const;
    const later =
      from === "research" ? (["plan", "implement"] as const) : from === "plan" ? (["implement"] as const) : [];
    return [`${round[from][0]} after review`, ...later.map((phase) => round[phase][0])];
  };

  // S4.2, S4.56, S4.98
  it.each([
    ["missing research", "research"],
    ["unclear requirements", "research"],
    ["Understanding of the domain", "research"],
    ["Architecture", "plan"],
    ["design", "plan"],
    ["wrong approach", "plan"],
    ["scope", "plan"],
    ["planning", "plan"],
    ["logic", "implement"],
    ["something nobody listed", "implement"],
  ] as const)("a finding about %s goes to %s, and the later phases are done again", (category, phase) => {
    const ran = reworked(category);
    const back = ran.lines.indexOf(`send back from review to ${phase}`);
    expect(back).toBeGreaterThan(0);
    expect(ran.lines.slice(back).filter((line) => / by (?!pull)/.test(line))).toEqual(redone(phase));
    expect(stateOf(ran.run, "a").ending?.how).toBe("accepted");
  });

  // S4.58
  it("clears the flag of the phase and of those after it, and leaves the ones before", () => {
    const happens = world({ gates: { review: [{ result: "fail", category: "plan" }] } });
    const flags: (readonly string[])[] = [];
    runScript(begin(POLICY, story("a")), (command, state, run) => {
      if (command.type === "send-back" || command.type === "start-attempt") flags.push(state!.completed);
      return happens(command, state, run);
    });
    const [all, back] = [
      ["refine", "research", "plan"],
      ["refine", "research"],
    ];
    expect(flags).toEqual([[], ["refine"], back, all, all, back, all]);
  });

  // S4.57
  it("two blockers put the plan in doubt; one does not", () => {
    const blocker = (line: number) =>
      identifyFinding({
        severity: "blocker",
        category: "logic",
        message: `broken in place ${line}`,
        source: "code",
        file: "src/a.ts",
        line,
      });
    const at = (...findings: ReturnType<typeof blocker>[]) =>
      reworked("logic", { more: { findings, blocking: findings.map((finding) => finding.id) } });
    expect(at(blocker(1), blocker(50)).lines).toContain("send back from review to plan");
    expect(at(blocker(1)).lines).toContain("send back from review to implement");
  });

  it("a red check says what the code does, so it never goes back to research or plan", () => {
    const ran = runScript(
      begin(POLICY, story("a")),
      world({ gates: { checks: [{ result: "fail", category: "architecture" }] } }),
    );
    expect(commandsOf(ran, "send-back").map(({ route }) => route.phase)).toEqual(["implement"]);
  });

  // S4.61, S4.97
  it("reviews the product of research before planning where that is configured, and reworks research itself", () => {
    const ran = runScript(
      begin(REVIEWED, story("a")),
      world({ gates: { review: ["pass", { result: "fail", category: "logic" }] } }),
    );
    expect(ran.lines.slice(4, 9)).toEqual([
      "research by researcher",
      "judge integrity",
      "judge review",
      "send back from review to research",
      "research by researcher after review",
    ]);
  });

  it("counts a failure in one phase on, but never calls another phase's findings a plateau", () => {
    // One finding in research, more in plan and implement: different products, so nothing got worse.
    const says = (blocking: number): Says => ({ result: "fail", blocking });
    const ran = runScript(
      begin(REVIEWED, story("a")),
      world({ gates: { review: ["pass", says(1), "pass", says(2), "pass", says(3)] } }),
    );
    expect(stateOf(ran.run, "a").ending?.how).toBe("accepted");
    expect(stateOf(ran.run, "a").gates.review?.failures).toBe(3);
  });
});

describe("S4 limits", () => {
  const withReworks = (reworks: number): Policy => ({
    ...POLICY,
    limits: {
      ...POLICY.limits,
      failures: Object.fromEntries(GATES.map((gate) => [gate, reworks + 1])) as Policy["limits"]["failures"],
    },
  });
  const alwaysFails = () => world({ gates: { review: Array.from({ length: 40 }, () => FAIL) } });

  // S4.13, S4.55, S4.96
  it.each([
    [1, 1],
    [2, 2],
    [3, 3],
    [5, 5],
    // The ceiling of ten failures stands above every setting: nine reworks.
    [10, 9],
  ])("maxIterations %i stops hard after %i reworks", (maxIterations, reworks) => {
    const ran = runScript(begin(withReworks(maxIterations), planned("a")), alwaysFails());
    expect(commandsOf(ran, "send-back")).toHaveLength(reworks);
    expect(reasonFor(ran.run, "a")).toBe("budget");
  });

  // S4.36
  it.each([
    [0, 0],
    [1, 1],
    [5, 5],
  ])("max_refinement_attempts %i of a story stands above the project's", (maxReworks, reworks) => {
    const ran = runScript(begin(POLICY, planned("a", { maxReworks }), planned("b")), alwaysFails());
    expect(ofStory(ran, "a").filter((line) => line.startsWith("send back"))).toHaveLength(reworks);
    expect(ofStory(ran, "b").filter((line) => line.startsWith("send back"))).toHaveLength(3);
  });

  // S4.70
  it.each([
    ["manual", "ask: budget", null, "escalated"],
    ["error", "fail: exhausted", "exhausted", "failed"],
    ["skip", "fail: set-aside", "set-aside", "failed"],
  ] as const)(
    "escalateOnMaxAttempts %s ends in %s; dependents stay blocked, others go on",
    (onExhausted, line, how, status) => {
      const dependent = planned("b", { dependsOn: [storyId("a")] });
      const ran = runScript(
        begin({ ...POLICY, onExhausted }, planned("a"), dependent, planned("c")),
        world({ story: "a", gates: { review: [FAIL, FAIL, FAIL, FAIL] } }),
      );
      expect(ofStory(ran, "a").pop()).toBe(line);
      const { ending } = stateOf(ran.run, "a");
      expect(ending?.how ?? null).toBe(how);
      if (ending !== null && ending.how !== "accepted")
        expect(ending.reason).toContain("the review gate failed 4 times");
      expect(statusOf(ran.run, stateOf(ran.run, "a")).status).toBe(status);
      expect(ofStory(ran, "b")).toEqual([]);
      expect(statusOf(ran.run, stateOf(ran.run, "b"))).toMatchObject({
        actor: "story",
        why: `a (${how ?? "needs you"})`,
      });
      expect(stateOf(ran.run, "c").ending?.how).toBe("accepted");
    },
  );

  // S4.71
  it("enableCircuitBreaker false: no limit and no stall rule but the ceiling", () => {
    const same: Says = { result: "fail", failure: "the same again", blocking: 1 };
    const ran = runScript(
      begin({ ...POLICY, circuitBreaker: false }, planned("a")),
      world({ gates: { review: Array.from({ length: 40 }, () => same) } }),
    );
    expect(commandsOf(ran, "send-back")).toHaveLength(9);
    expect(stateOf(ran.run, "a").escalation?.reason).toMatchObject({ budget: "failures:review", used: 10, limit: 10 });
  });

  // S4.17, S4.81
  it("the same failure three times asks a person before the limit does", () => {
    const same = (blocking: number): Says => ({ result: "fail", failure: "the same again", blocking });
    const ran = runScript(
      begin(POLICY, planned("a")),
      world({ gates: { review: [same(9), same(8), same(7), same(6)] } }),
    );
    expect(stateOf(ran.run, "a").escalation?.reason).toMatchObject({ type: "stall", stall: "same-failure" });
    expect(stateOf(ran.run, "a").gates.review?.failures).toBe(3);
  });

  it("two rounds in which no finding was fixed ask a person before the limit does", () => {
    const open = (...ids: string[]): Says => ({ result: "fail", more: { blocking: ids.map(fingerprint) } });
    const ran = runScript(
      begin(POLICY, planned("a")),
      world({ gates: { review: [open("x"), open("x", "y"), open("x", "y", "z")] } }),
    );
    expect(stateOf(ran.run, "a").escalation?.reason).toMatchObject({ type: "stall", stall: "plateau" });
  });

  // S4.73
  it("a story keeps the limits it began with; a changed config is the next story's", () => {
    const paused = runScript(begin(withReworks(1), planned("a")), (command, state, run) =>
      command.type === "send-back"
        ? [{ type: "story.held", by: "Ada" }]
        : world({ gates: { review: [FAIL] } })(command, state, run),
    );
    const set = foldEvents(paused.run, null, { type: "policy.set", policy: withReworks(2), by: "Ada" });
    const changed = foldEvents(foldEvents(set, "a", { type: "story.released", by: "Ada" }), "b", {
      type: "story.added",
      story: planned("b"),
    });
    const ran = runScript(changed, alwaysFails());
    expect(["a", "b"].map((id) => stateOf(ran.run, id).gates.review?.failures)).toEqual([2, 3]);
    const applied = foldEvents(
      set,
      "a",
      { type: "policy.applied", policy: withReworks(2), by: "Ada" },
      { type: "story.released", by: "Ada" },
    );
    expect(stateOf(runScript(applied, alwaysFails()).run, "a").gates.review?.failures).toBe(3);
  });
});
