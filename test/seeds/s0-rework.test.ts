import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import type { Brief } from "../../src/core/stories/brief.ts";
import type { CheckRun } from "../../src/core/gates/gate.ts";
import type { Policy } from "../../src/core/events/policy.ts";
import { composeBrief, type BriefMaterial } from "../../src/decide/compose-brief.ts";
import { sourceStatus, statusOf } from "../../src/views/story/story-status.ts";
import { writeFailedTasks } from "../../src/write/reports/rework-log.ts";
import { story } from "../kit/story-world.ts";
import {
  begin,
  commandsOf,
  judgedGates,
  reasonFor,
  runScript,
  stateOf,
  foldEvents,
  world,
  type World,
} from "./scripted-run.ts";

const POLICY = presetPolicy("critic-audit");
type Gates = NonNullable<World["gates"]>;
const run = (gates: Gates, policy: Policy = POLICY) => runScript(begin(policy, story("a")), world({ gates }));

const MATERIAL: BriefMaterial = {
  rolePrompt: "You are a developer.",
  evidence: [],
  judgedBy: ["npm test"],
  filesModified: ["src/a.ts"],
  survivors: [],
  mutationScore: "",
  ci: null,
  report: "signal",
};

/** The briefs of a run, composed as the engine would, at the moment the work goes back. */
function briefs(gates: Gates): Brief[] {
  const happens = world({ gates });
  const all: Brief[] = [];
  runScript(begin(POLICY, story("a")), (command, state, run) => {
    if (command.type === "send-back") all.push(composeBrief(state!, command, MATERIAL));
    return happens(command, state, run);
  });
  return all;
}

describe("S0 triggers", () => {
  // S0.1, S0.2
  it.each([
    ["review", "REVIEW_FAILED"],
    ["audit", "AUDIT_FAILED"],
  ] as const)("a failed %s (%s) re-dispatches the developer with the feedback", (gate, _signal) => {
    const ran = run({ [gate]: ["fail"] });
    const back = commandsOf(ran, "send-back");
    expect(back).toHaveLength(1);
    expect(back[0]).toMatchObject({ gate, variant: gate, route: { phase: "implement", role: "developer" } });
    expect(commandsOf(ran, "start-attempt")[1]).toMatchObject({ reworkOf: gate, role: "developer" });
    expect(stateOf(ran.run, "a").ending?.how).toBe("accepted");
  });

  // S0.4, S0.7, S2.13, S2.22, S2.30
  it("the task is implementing again while the rework runs, and awaits review and audit after it", () => {
    const seen: string[] = [];
    const happens = world({ gates: { review: ["fail"] } });
    runScript(begin(POLICY, story("a")), (command, state, run) => {
      const events = happens(command, state, run);
      const begins = events?.find(({ type }) => type === "attempt.started" || type === "gate.started");
      if (begins !== undefined) {
        const begun = foldEvents(run, "a", begins);
        seen.push(sourceStatus(statusOf(begun, stateOf(begun, "a"))));
      }
      return events;
    });
    const judging = ["in-gate", "in-gate", "awaiting-review"];
    expect(seen).toEqual(["implementing", ...judging, "implementing", ...judging, "awaiting-audit"]);
  });

  // S0.22
  it("the code goes through the critic again before it is audited again", () => {
    expect(judgedGates(run({ audit: ["fail"] }))).toEqual([
      "integrity",
      "checks",
      "review",
      "audit",
      "integrity",
      "checks",
      "review",
      "audit",
    ]);
  });
});

describe("S0 rework or fresh start", () => {
  // S0.5, S0.15, S0.23, S2.23, S2.38
  it.each([
    ["review", 1],
    ["review", 2],
    ["audit", 1],
    ["audit", 2],
  ] as const)("%s failure number %i is rework", (gate, failures) => {
    const ran = run({ [gate]: Array.from({ length: failures }, () => "fail" as const) });
    expect(commandsOf(ran, "send-back").map(({ failure, failureLimit }) => [failure, failureLimit])).toEqual(
      [
        [1, 3],
        [2, 3],
      ].slice(0, failures),
    );
    expect(stateOf(ran.run, "a").ending?.how).toBe("accepted");
  });

  // S0.6, S0.18, S0.37, S2.24
  it.each(["review", "audit"] as const)("the third %s failure ends the work and asks a person", (gate) => {
    const ran = run({ [gate]: ["fail", "fail", "fail"] });
    expect(commandsOf(ran, "send-back")).toHaveLength(2);
    expect(stateOf(ran.run, "a").escalation?.reason).toEqual({
      type: "budget",
      budget: `failures:${gate}`,
      used: 3,
      limit: 3,
    });
  });

  // S0.17, S0.31
  it("each type of failure has its own counter: two reviews and two audits may fail", () => {
    const ran = run({ review: ["fail", "fail"], audit: ["fail", "fail"] });
    expect(stateOf(ran.run, "a").ending?.how).toBe("accepted");
    expect(reasonFor(ran.run, "a")).toBeNull();
  });

  // S0.38
  it("the counter of one type is not reset by a failure of the other", () => {
    const ran = run({ review: ["fail", "pass", "fail", "pass", "fail"], audit: ["fail", "fail"] });
    expect(stateOf(ran.run, "a").escalation?.reason).toMatchObject({ budget: "failures:review", used: 3 });
  });

  // S0.3, S0.35, S4.95
  it("the first brief has the feedback, later ones what was tried before as well", () => {
    const [first, second] = briefs({ review: ["fail", "fail"] });
    expect(first).toMatchObject({ failure: 1, failureLimit: 3, attempt: 2, earlier: [], summary: "review says fail" });
    expect(first?.required).toHaveLength(19);
    expect(second).toMatchObject({
      failure: 2,
      earlier: [{ attempt: 1, tried: "attempt 1", failed: "review says fail" }],
    });
  });

  // S0.36
  it("feedback accumulates over types: the audit's brief tells what the review sent back", () => {
    const [, , audit] = briefs({ review: ["fail", "fail"], audit: ["fail"] });
    expect(audit?.earlier.map(({ attempt, failed }) => [attempt, failed])).toEqual([
      [1, "review says fail"],
      [2, "review says fail"],
    ]);
    // Not only that it failed: each issue of both reviews, which the third review did not raise again.
    const issues = audit?.earlier.map(({ findings = [] }) => findings.map(({ title, status }) => `${status} ${title}`));
    expect(issues?.map((each) => [each.length, each[0]])).toEqual([
      [19, "fixed review 1 0x"],
      [18, "fixed review 2 0x"],
    ]);
  });
});

describe("S0 environments", () => {
  const cell = (environment: string, result: CheckRun["result"], check = "tests"): CheckRun => ({
    check,
    command: "npm test",
    environment,
    result,
    exitCode: result === "pass" ? 0 : 1,
    details: "",
  });

  // S0.25
  it.each([
    ["some pass and some fail", [cell("node20", "pass"), cell("node22", "fail")], "environment"],
    ["all fail", [cell("node20", "fail"), cell("node22", "fail")], "audit"],
    ["another check passes", [cell("node20", "fail"), cell("node20", "pass", "lint")], "audit"],
    ["nothing was run", [], "audit"],
  ] as const)("an audit where %s", (_name, runs, variant) => {
    const ran = run({ audit: [{ result: "fail", more: { runs } }] });
    expect(commandsOf(ran, "send-back")[0]?.variant).toBe(variant);
  });

  // S0.30
  it("the checks of the engine tell it too", () => {
    const ran = run({ checks: [{ result: "fail", more: { runs: [cell("linux", "pass"), cell("macos", "fail")] } }] });
    expect(commandsOf(ran, "send-back")[0]?.variant).toBe("environment");
  });
});

describe("S0 failed tasks", () => {
  // S0.34
  it("with onExhausted: error the task is listed, with reason and attempts of each type", () => {
    const ran = run({ review: ["fail"], audit: ["fail", "fail", "fail"] }, { ...POLICY, onExhausted: "error" });
    const { ending, gates, story: task } = stateOf(ran.run, "a");
    expect(ending?.how).toBe("exhausted");
    const reason = ending !== null && ending.how !== "accepted" ? ending.reason : "";
    expect(reason).toBe("Story a: the audit gate failed 3 times");
    const listed = {
      taskId: task.id,
      reason,
      reviewAttempts: gates.review?.failuresEver ?? 0,
      auditAttempts: gates.audit?.failuresEver ?? 0,
    };
    expect(JSON.parse(writeFailedTasks([listed]))).toEqual([
      { task_id: "a", reason, review_attempts: 1, audit_attempts: 3 },
    ]);
  });

  // S0.33
  it("a failed task is removed from active work: nothing is dispatched for it any more", () => {
    const ran = run({ review: ["fail", "fail", "fail"] }, { ...POLICY, onExhausted: "error" });
    expect(ran.run.inFlight).toBe(0);
    expect(statusOf(ran.run, stateOf(ran.run, "a"))).toMatchObject({ status: "failed", actor: "none" });
    expect(runScript(ran.run).lines).toEqual([]);
  });
});
