import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import type { AttemptOutcome } from "../../src/core/stories/attempt.ts";
import { identifyFinding } from "../../src/core/gates/finding-identity.ts";
import { roleName, storyId } from "../../src/core/events/ids.ts";
import type { Severity } from "../../src/core/gates/finding.ts";
import { judge } from "../../src/decide/verdict.ts";
import { decide } from "../../src/decide/decide.ts";
import { attemptEnd, attemptStart, story } from "../kit/story-world.ts";
import {
  begin,
  commandsOf,
  judgedGates,
  lineOf,
  ofStory,
  reasonFor,
  runScript,
  stateOf,
  foldEvents,
  world,
  type Says,
  type Script,
} from "./scripted-run.ts";

const POLICY = presetPolicy("story");
const FAIL: Says = "fail";
/** A story whose first three phases are done, so that a test of `implement` is about nothing else. */
const planned = (id: string, more = {}) => story(id, { completed: ["refine", "research", "plan"], ...more });

describe("S4 reviewers", () => {
  const finding = (stage: string, message: string, suggestedFix: string, severity: Severity = "critical") =>
    identifyFinding({ severity, category: "logic", message, suggestedFix, source: stage, file: "src/a.ts", line: 10 });
  const verdict = (stage: string, findings: ReturnType<typeof finding>[]) => ({
    stage,
    reviewer: roleName(stage),
    result: findings.length > 0 ? ("fail" as const) : ("pass" as const),
    findings,
    summary: "",
  });
  const heard = (...verdicts: ReturnType<typeof verdict>[]) =>
    world({
      gates: {
        review: [
          (() => {
            const result = judge({
              gate: "review",
              tree: "t" as never,
              rules: POLICY.gates.review,
              verdicts,
              kept: [],
              overturned: [],
            });
            const { tree: _tree, gate: _gate, failure: _failure, ...more } = result;
            return { result: result.result, more };
          })(),
        ],
      },
    });

  // S4.32, S4.83
  it("security's word counts before the code reviewer's, and the work goes back with the conflict", () => {
    const ran = runScript(
      begin(POLICY, planned("a")),
      heard(
        verdict("security", [finding("security", "an open door", "Add a check of the token")]),
        verdict("code", [finding("code", "noise", "Remove the check of the token")]),
      ),
    );
    expect(ran.lines).toContain("send back from review to implement");
    expect(stateOf(ran.run, "a").ending?.how).toBe("accepted");
  });

  // S4.19
  it("equals who contradict each other ask a person, who decides by guidance", () => {
    const tie = heard(
      verdict("code", [finding("code", "too flat", "Extract a class")]),
      verdict("quality", [finding("quality", "too deep", "Inline the class")]),
    );
    const ran = runScript(begin(POLICY, planned("a")), tie);
    expect(reasonFor(ran.run, "a")).toBe("conflict");
    const answered = foldEvents(ran.run, "a", {
      type: "person.answered",
      answer: { verb: "send-back", by: "Ada", message: "keep it simple", escalation: null },
    });
    const after = runScript(answered);
    expect(after.lines.slice(0, 2)).toEqual([
      "send back from review to implement",
      "implement by developer after review",
    ]);
    expect(stateOf(after.run, "a").ending?.how).toBe("accepted");
  });

  // S4.52
  it("a reviewer that breaks sends nothing back, is charged to nobody, and is asked again", () => {
    const ran = runScript(begin(POLICY, planned("a")), world({ gates: { review: ["error", "error"] } }));
    expect(commandsOf(ran, "send-back")).toEqual([]);
    expect(stateOf(ran.run, "a").gates.review).toMatchObject({ failures: 0, failuresEver: 0 });
    expect(stateOf(ran.run, "a").ending?.how).toBe("accepted");
  });
});

describe("S4 edge cases", () => {
  // S4.22
  it("concurrent loops of different stories count apart", () => {
    const a = world({ story: "a", gates: { review: [FAIL, FAIL, FAIL] } });
    const b = world({ story: "b", gates: { review: [FAIL] } });
    const ran = runScript(begin(POLICY, planned("a"), planned("b")), (command, state, run) =>
      (command.story === "a" ? a : b)(command, state, run),
    );
    expect(
      [stateOf(ran.run, "a"), stateOf(ran.run, "b")].map((state) => [state.ending?.how, state.gates.review?.failures]),
    ).toEqual([
      ["accepted", 3],
      ["accepted", 1],
    ]);
    const alone = runScript(begin(POLICY, planned("a")), world({ gates: { review: [FAIL, FAIL, FAIL] } }));
    expect(ofStory(ran, "a")).toEqual(alone.lines);
  });

  const gone: Script = (command, state) => {
    if (command.type !== "start-attempt") return null;
    const outcome: AttemptOutcome =
      command.role === "planner" ? { type: "missing", detail: "not installed" } : { type: "ready" };
    return [attemptStart(command), attemptEnd(command.attempt, outcome, `t${state!.seq}`)];
  };
  const inPlan = story("a", { completed: ["refine", "research"] });

  // S4.20
  it("an agent that is gone is replaced by its fallback", () => {
    const ran = runScript(begin(POLICY, inPlan), gone);
    expect(ran.lines.slice(1, 3)).toEqual(["plan by planner", "plan by developer"]);
    expect(stateOf(ran.run, "a").ending?.how).toBe("accepted");
  });

  it("without a fallback a person is asked, by the role's name; the answer starts the work", () => {
    const ran = runScript(begin({ ...POLICY, roles: { ...POLICY.roles, fallback: {} } }, inPlan), gone);
    expect(stateOf(ran.run, "a").escalation?.reason).toEqual({ type: "agent-missing", role: "planner" });
    const back = foldEvents(ran.run, "a", {
      type: "person.answered",
      answer: { verb: "send-back", by: "Ada", message: "installed", escalation: null },
    });
    expect(runScript(back).lines[0]).toBe("plan by planner");
  });

  it("a dependency that changes while the story waits is noticed: added it blocks, removed it frees", () => {
    const waiting = planned("b", { dependsOn: [storyId("x")] });
    const run = begin(POLICY, waiting);
    expect(decide(run, POLICY, 0)).toEqual([]);
    const freed = foldEvents(run, "b", { type: "story.changed", story: planned("b"), what: ["dependsOn"] });
    expect(decide(freed, POLICY, 0).map(lineOf)).toEqual(["start-story"]);
    const again = foldEvents(freed, "b", { type: "story.changed", story: waiting, what: ["dependsOn"] });
    expect(decide(again, POLICY, 0)).toEqual([]);
  });

  it("a dependency that was added later frees the story when it is accepted", () => {
    const run = begin(POLICY, planned("b"), planned("x"));
    const waiting = foldEvents(run, "b", {
      type: "story.changed",
      story: planned("b", { dependsOn: [storyId("x")] }),
      what: ["dependsOn"],
    });
    const ran = runScript(waiting);
    const order = ran.commands.map((command) => `${command.story}: ${command.type}`);
    expect(order.indexOf("b: start-story")).toBeGreaterThan(order.indexOf("x: accept"));
    expect(stateOf(ran.run, "b").ending?.how).toBe("accepted");
  });

  // S4.21
  it("a dependency that changes between attempts is in the record, and the rework goes on", () => {
    const ran = runScript(begin(POLICY, planned("a")), world({ gates: { review: [FAIL, FAIL, FAIL, FAIL] } }));
    const changed = planned("a", { dependsOn: [storyId("x")] });
    const noticed = foldEvents(ran.run, "a", { type: "story.changed", story: changed, what: ["dependsOn"] });
    expect(stateOf(noticed, "a").story.dependsOn).toEqual(["x"]);
    const back = foldEvents(noticed, "a", {
      type: "person.answered",
      answer: { verb: "send-back", by: "Ada", message: "again", escalation: null },
    });
    expect(stateOf(runScript(back).run, "a").ending?.how).toBe("accepted");
  });

  // S4.30
  it("flags that a file brings are believed: only what is not complete is done", () => {
    const ran = runScript(begin(POLICY, story("a", { completed: ["refine", "research", "plan", "implement"] })));
    expect(ran.lines.slice(1)).toEqual([
      "judge integrity",
      "judge checks",
      "judge review",
      "deliver by pull-request",
      "accept",
    ]);
    expect(judgedGates(ran)).toEqual(["integrity", "checks", "review"]);
  });
});
