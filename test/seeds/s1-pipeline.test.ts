import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import type { CiClass } from "../../src/core/gates/gate.ts";
import { storyId } from "../../src/core/events/ids.ts";
import type { Policy } from "../../src/core/events/policy.ts";
import { answer, story } from "../kit/story-world.ts";
import {
  begin,
  commandsOf,
  judgedGates,
  ofStory,
  reasonFor,
  runScript,
  stateOf,
  foldEvents,
  world,
  type Says,
  type World,
} from "./scripted-run.ts";

const POLICY = presetPolicy("factory");
const ci = (ciClass: CiClass): Says => ({ result: "fail", ciClass });
type Gates = NonNullable<World["gates"]>;
const run = (gates: Gates, policy: Policy = POLICY) => runScript(begin(policy, story("a")), world({ gates }));

describe("S1 routing", () => {
  it("opens the gates in order, then a person merges: standard autonomy does not", () => {
    const ran = run({});
    expect(judgedGates(ran)).toEqual(["integrity", "tdd", "review", "mutation", "ci", "merge"]);
    expect(stateOf(ran.run, "a").escalation?.reason).toEqual({ type: "approval", of: "merge" });
    const merged = runScript(foldEvents(ran.run, "a", answer("resolve")));
    // That they merged it is checked, and not believed.
    expect(merged.lines).toEqual(["deliver by merge", "accept"]);
    expect(commandsOf(merged, "deliver")).toMatchObject([{ claimedBy: "Ada" }]);
    const approved = runScript(foldEvents(ran.run, "a", answer("merge")));
    expect(approved.lines).toEqual(["deliver by merge", "accept"]);
    expect(commandsOf(approved, "deliver")).toMatchObject([{ approvedBy: "Ada" }]);
  });

  it("merges by itself with full autonomy, and then only after every gate", () => {
    const ran = run({}, { ...POLICY, autonomy: "full", merge: "auto" });
    expect(ran.lines.slice(-3)).toEqual(["judge merge", "deliver by merge", "accept"]);
  });

  // S1.1, S1.3, S1.8, S1.31
  it.each(["tdd", "review", "mutation", "merge"] as const)("a failed %s gate goes to the TDD pair", (gate) => {
    const [back] = commandsOf(run({ [gate]: ["fail"] }), "send-back");
    expect(back).toMatchObject({ gate, route: { phase: "implement", role: "tdd-pair" }, failure: 1, failureLimit: 3 });
  });

  // S1.2, S1.5
  it.each([
    ["red", "the test itself is at fault: it is corrected first, then the code that it shows", "open"],
    ["domain", expect.stringMatching(/^the types are at fault \(.+\): they change first/), "add-only"],
    ["green", "fix what failed; existing tests stay as they are", "add-only"],
  ] as const)(
    "the pair resumes at %s when that failed, and may touch what it and the phases after it touch",
    (tddPhase, reason, tests) => {
      const ran = run({ tdd: [{ result: "fail", more: { tddPhase } }] });
      expect(commandsOf(ran, "send-back")[0]).toMatchObject({ route: { tddPhase }, scope: { reason, tests } });
      expect(commandsOf(ran, "start-attempt")[1]).toMatchObject({ tddPhase, reworkOf: "tdd" });
      expect(stateOf(ran.run, "a").attempts.map((attempt) => attempt.tddPhase)).toEqual([undefined, tddPhase]);
    },
  );

  // S1.16
  it("survivors of mutation are a missing test: RED, tests and nothing else", () => {
    const [back] = commandsOf(run({ mutation: ["fail"] }), "send-back");
    expect(back).toMatchObject({
      variant: "mutation",
      route: { tddPhase: "red" },
      scope: { tests: "required", allow: POLICY.scope.testPaths },
    });
  });

  it.each([
    ["tdd", "tdd"],
    ["review", "staged-review"],
    ["mutation", "mutation"],
    ["ci", "ci"],
    ["merge", "merge"],
    ["integrity", "integrity"],
  ] as const)("the brief of the %s gate has its own form", (gate, variant) => {
    const ran = run({ [gate]: [gate === "ci" ? ci("build") : "fail"] });
    expect(commandsOf(ran, "send-back")[0]?.variant).toBe(variant);
  });
});

describe("S1 CI classes", () => {
  // S1.20, S1.21, S1.22, S1.25
  it.each([
    ["test", "tdd-pair", { tdd: 1, ci: 0 }],
    ["build", "tdd-pair", { tdd: 1, ci: 0 }],
    ["configuration", "ci-integration", { tdd: 0, ci: 1 }],
  ] as const)("a %s failure goes to %s", (ciClass, role, charged) => {
    const ran = run({ ci: [ci(ciClass)] });
    expect(commandsOf(ran, "send-back").map(({ route }) => route.role)).toEqual([role]);
    const { gates } = stateOf(ran.run, "a");
    expect({ tdd: gates.tdd?.failures, ci: gates.ci?.failures }).toEqual(charged);
  });

  // S1.26
  it("a lint failure is fixed once by command, free of charge; the second goes to the pair", () => {
    const once = run({ ci: [ci("lint")] });
    expect(once.lines.filter((line) => line === "fix-lint" || line.startsWith("send back"))).toEqual(["fix-lint"]);
    expect(stateOf(once.run, "a").gates.ci?.failures).toBe(0);
    const twice = run({ ci: [ci("lint"), ci("lint")] });
    expect(twice.lines.filter((line) => line === "fix-lint" || line.startsWith("send back"))).toEqual([
      "fix-lint",
      "send back from ci to implement",
    ]);
    expect(commandsOf(twice, "send-back")[0]?.route.role).toBe("tdd-pair");
    expect(stateOf(twice.run, "a").gates.ci?.failures).toBe(1);
  });

  // S1.23, S1.33
  it("an infrastructure failure is retried twice, after a while, and charged to nobody", () => {
    const ran = run({ ci: [ci("infrastructure"), ci("infrastructure")] });
    expect(judgedGates(ran).filter((gate) => gate === "ci")).toHaveLength(3);
    expect(ran.now).toBe(POLICY.limits.backoffMs * (1 + 2));
    expect(commandsOf(ran, "send-back")).toEqual([]);
    const { gates } = stateOf(ran.run, "a");
    expect([gates.tdd?.failures, gates.ci?.failures]).toEqual([0, 0]);
    expect(reasonFor(ran.run, "a")).toBe("approval");
  });

  it("the third infrastructure failure asks a person", () => {
    const ran = run({ ci: [ci("infrastructure"), ci("infrastructure"), ci("infrastructure")] });
    expect(stateOf(ran.run, "a").escalation?.reason).toMatchObject({ type: "gate-blocked", times: 3 });
    expect(stateOf(ran.run, "a").gates.ci?.failuresEver).toBe(0);
  });

  // S1.24, S4.74
  it("with conservative autonomy a person decides each infrastructure retry, and each rework", () => {
    const policy: Policy = { ...POLICY, autonomy: "conservative" };
    const first = run({ ci: [ci("infrastructure")] }, policy);
    expect(stateOf(first.run, "a").escalation?.reason).toEqual({ type: "approval", of: "retry" });
    const retried = runScript(foldEvents(first.run, "a", answer("resolve")));
    expect(retried.lines).toEqual(["judge ci", "judge merge", "ask: approval"]);
    const rework = run({ review: ["fail"] }, policy);
    expect(stateOf(rework.run, "a").escalation?.reason).toEqual({ type: "approval", of: "rework" });
    const allowed = runScript(foldEvents(rework.run, "a", answer("send-back")));
    expect(allowed.lines.slice(0, 2)).toEqual([
      "send back from review to implement",
      "implement by tdd-pair after review",
    ]);
    expect(stateOf(allowed.run, "a").gates.review?.failures).toBe(1);
  });

  it.each(["pass", "fail"] as const)("a flaky %s is neither a pass nor a failure of the work", (result) => {
    const ran = run({
      ci: [
        { result, ciClass: "flaky" },
        { result, ciClass: "flaky" },
      ],
    });
    expect(stateOf(ran.run, "a").escalation?.reason).toEqual({
      type: "non-deterministic",
      detail: "the CI run gave different answers about the same tree, 2 times",
    });
    expect(commandsOf(ran, "send-back")).toEqual([]);
    expect(stateOf(ran.run, "a").gates.ci).toMatchObject({ failures: 0, fresh: false });
  });
});

describe("S1 budget", () => {
  // S1.29, S1.35, S1.42
  it("allows two reworks of a gate; the third failure halts the slice, and the next unblocked one is taken", () => {
    const slices = [story("a"), story("b", { dependsOn: [storyId("a")] }), story("c")];
    const oneAtATime: Policy = { ...POLICY, concurrency: { ...POLICY.concurrency, stories: 1 } };
    const ran = runScript(
      begin(oneAtATime, ...slices),
      world({ story: "a", gates: { review: ["fail", "fail", "fail"] } }),
    );
    const whole = ran.commands.map((command) => `${command.story}: ${command.type}`);
    expect(whole.indexOf("c: start-story")).toBeGreaterThan(whole.indexOf("a: raise-escalation"));
    expect(ofStory(ran, "a").filter((line) => line.startsWith("send back"))).toHaveLength(2);
    expect(ofStory(ran, "b")).toEqual([]);
    expect(stateOf(ran.run, "c").escalation?.reason).toEqual({ type: "approval", of: "merge" });
  });

  // S1.36, S1.38, S1.40
  it("escalates with every attempt, the state of the code, and a recommendation", () => {
    const ran = run({ review: ["fail", "fail", "fail"] });
    const { escalation, tree } = stateOf(ran.run, "a");
    expect(escalation).toMatchObject({
      kind: "decision",
      gate: "review",
      title: "Story a: the review gate failed 3 times",
      reason: { budget: "failures:review", used: 3, limit: 3 },
      branch: "remand/a",
      commit: `c-${tree}`,
      attempts: [1, 2, 3].map((attempt) => ({ attempt, tried: `attempt ${attempt}`, failed: "review says fail" })),
    });
    expect(escalation?.recommendation).not.toBe("");
    expect(escalation?.options.map(({ verb }) => verb)).toContain("send-back");
  });

  // S1.30
  it("each gate has its own counter: two failures of each of three gates escalate nothing", () => {
    const ran = run({ tdd: ["fail", "fail"], review: ["fail", "fail"], mutation: ["fail", "fail"] });
    expect(reasonFor(ran.run, "a")).toBe("approval");
    const { gates } = stateOf(ran.run, "a");
    expect([gates.tdd?.failures, gates.review?.failures, gates.mutation?.failures]).toEqual([2, 2, 2]);
  });

  // S1.32
  it("CI test failures and TDD failures share one budget", () => {
    const ran = run({ tdd: ["fail"], ci: [ci("test"), ci("test")] });
    expect(stateOf(ran.run, "a").escalation).toMatchObject({
      gate: "ci",
      reason: { type: "budget", budget: "failures:tdd", used: 3, limit: 3 },
    });
    expect(stateOf(ran.run, "a").gates.ci?.failures).toBe(0);
  });

  // S1.34
  it("a pass on rework resets nothing: the counter stays, and goes on from there", () => {
    const ran = run({ review: ["fail", "pass", "fail", "pass", "fail"], mutation: ["fail", "fail"] });
    expect(stateOf(ran.run, "a").escalation?.reason).toMatchObject({ budget: "failures:review", used: 3, limit: 3 });
  });

  it("only a person's answer resets a counter, that one alone, and the trail still counts all", () => {
    const ran = run({ tdd: ["fail"], review: ["fail", "fail", "fail"] });
    const back = foldEvents(ran.run, "a", answer("send-back", { message: "look at the parser" }));
    const { gates, guidance } = stateOf(back, "a");
    expect(gates.review).toMatchObject({ failures: 0, failuresEver: 3 });
    expect(gates.tdd).toMatchObject({ failures: 1, failuresEver: 1 });
    expect(guidance).toEqual(["Ada: look at the parser"]);
    expect(runScript(back).lines.slice(0, 2)).toEqual([
      "send back from review to implement",
      "implement by tdd-pair after review",
    ]);
  });
});
