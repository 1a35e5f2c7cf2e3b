import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import { storyId } from "../../src/core/events/ids.ts";
import type { Policy } from "../../src/core/events/policy.ts";
import { decide } from "../../src/decide/decide.ts";
import { statusOf } from "../../src/views/story/story-status.ts";
import { answer, attemptEnd, attemptStart, story } from "../kit/story-world.ts";
import {
  begin,
  commandsOf,
  lineOf,
  ofStory,
  performCommand,
  runScript,
  stateOf,
  foldEvents,
  world,
  type Script,
} from "./scripted-run.ts";

const POLICY = presetPolicy("critic-audit");
const offered = (run: Parameters<typeof decide>[0]) =>
  decide(run, POLICY, 0).map((command) => `${command.story ?? "project"}: ${lineOf(command)}`);

describe("S2 steps 5 to 9", () => {
  // S0.24, S2.1, S2.35, S2.37
  it("READY_FOR_REVIEW → critic → REVIEW_PASSED → auditor → AUDIT_PASSED → complete", () => {
    const ran = runScript(begin(POLICY, story("a")));
    expect(ran.lines).toEqual([
      "start-story",
      "implement by developer",
      "judge integrity",
      "judge checks",
      "judge review",
      "judge audit",
      "accept",
    ]);
  });

  // S2.2, S2.3, S2.4, S2.5, S2.6, S3.2
  it.each([
    ["REVIEW_PASSED", "review", "pass", "judge audit"],
    ["REVIEW_FAILED", "review", "fail", "send back from review to implement"],
    ["AUDIT_PASSED", "audit", "pass", "accept"],
    ["AUDIT_FAILED", "audit", "fail", "send back from audit to implement"],
    ["AUDIT_BLOCKED", "audit", "blocked", "start-remediation"],
  ] as const)("%s leads on", (_signal, gate, result, next) => {
    const ran = runScript(begin(POLICY, story("a")), world({ gates: { [gate]: [result] } }));
    expect(ran.lines[ran.lines.indexOf(`judge ${gate}`) + 1]).toBe(next);
  });

  // S2.36
  it("acceptance unblocks a dependent when the last of its blockers is done, and not before", () => {
    const blocked = story("c", { dependsOn: [storyId("a"), storyId("b")] });
    const ran = runScript(begin(POLICY, story("a"), story("b"), blocked));
    const order = ran.commands.map((command) => `${command.story}: ${command.type}`);
    expect(order.indexOf("c: start-story")).toBeGreaterThan(
      Math.max(order.indexOf("a: accept"), order.indexOf("b: accept")),
    );
    expect(stateOf(ran.run, "c").ending?.how).toBe("accepted");
  });

  it("a blocked task says what it waits for", () => {
    const run = begin(POLICY, story("a"), story("c", { dependsOn: [storyId("a")] }));
    expect(statusOf(run, stateOf(run, "c"))).toMatchObject({ status: "waiting", actor: "story", why: "a" });
  });
});

describe("S2 AUDIT_BLOCKED: remediation", () => {
  /** Three stories: `b` is at work, the audit of `a` finds the infrastructure broken, `c` is ready. */
  const blocked = () => {
    let run = begin(POLICY, story("a"), story("b"), story("c"));
    const next = (id: string) => decide(run, POLICY, 0).find((command) => command.story === id)!;
    run = performCommand(run, next("b"));
    run = performCommand(run, next("b"), (command) =>
      command.type === "start-attempt" ? [attemptStart(command)] : null,
    );
    const happens = world({ gates: { audit: ["blocked"] } });
    while (run.remediation === null) run = performCommand(run, next("a"), happens);
    return run;
  };

  // S2.39, S2.40
  it("halts every new dispatch, keeps what runs, and repairs", () => {
    let run = blocked();
    expect(offered(run)).toEqual(["project: start-remediation"]);
    expect(stateOf(run, "b").running).toMatchObject({ type: "attempt", attempt: 1 });
    // The running developer ends its work while all is halted: the work counts, and goes no further yet.
    run = foldEvents(run, "b", attemptEnd(1, { type: "ready" }, "t9"));
    expect(stateOf(run, "b")).toMatchObject({ productReady: true, tree: "t9" });
    expect(offered(run)).toEqual(["project: start-remediation"]);
    const remediation = decide(run, POLICY, 0)[0]!;
    run = performCommand(run, remediation);
    expect(offered(run)).toEqual(["project: check-health"]);
    run = performCommand(run, decide(run, POLICY, 0)[0]!);
    expect(run.remediation).toBeNull();
    expect(offered(run)).toContain("b: judge integrity");
    expect(offered(run)).toContain("c: start-story");
  });

  // S2.41
  it("an independent health check decides; unhealthy means another try, with what remains", () => {
    const ran = runScript(begin(POLICY, story("a")), world({ gates: { audit: ["blocked"] }, health: [false, true] }));
    const from = ran.lines.indexOf("start-remediation");
    expect(ran.lines.slice(from, from + 5)).toEqual([
      "start-remediation",
      "check-health",
      "start-remediation",
      "check-health",
      "judge audit",
    ]);
    expect(stateOf(ran.run, "a").ending?.how).toBe("accepted");
    expect(stateOf(ran.run, "a").gates.audit?.failuresEver).toBe(0);
  });

  const given = () =>
    runScript(
      begin(POLICY, story("a"), story("b")),
      world({ gates: { audit: ["blocked"] }, health: [false, false, false] }),
    );

  // S2.43
  it("after three tries a person is asked, with S2's three answers", () => {
    const ran = given();
    expect(commandsOf(ran, "start-remediation").map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(ran.run.escalation?.reason).toMatchObject({ type: "infrastructure", tries: 3 });
    expect(ran.run.escalation?.options.map(({ verb }) => verb)).toEqual(["retry", "declare-healthy", "halt"]);
    expect(ran.run.escalation?.id).toBe("esc-project-1");
    expect(ran.run.escalation?.attempts).toEqual(
      [1, 2, 3].map((attempt) => ({ attempt, tried: "restarted it", failed: "the database is down" })),
    );
  });

  it("retry: three new tries, and the remediation agent gets the guidance", () => {
    const ran = runScript(foldEvents(given().run, null, answer("retry", { message: "restart the database" })));
    expect(commandsOf(ran, "start-remediation")[0]).toMatchObject({ attempt: 1, guidance: ["restart the database"] });
    expect(["a", "b"].map((id) => stateOf(ran.run, id).ending?.how)).toEqual(["accepted", "accepted"]);
  });

  it("declare-healthy: work goes on", () => {
    const ran = runScript(foldEvents(given().run, null, answer("declare-healthy")));
    expect(commandsOf(ran, "start-remediation")).toEqual([]);
    expect(stateOf(ran.run, "a").ending?.how).toBe("accepted");
  });

  it("halt: nothing more starts until a person resumes", () => {
    const halted = foldEvents(given().run, null, answer("halt"));
    expect(runScript(halted).lines).toEqual([]);
    const resumed = foldEvents(halted, null, { type: "run.resumed", by: "Ada" });
    const again = runScript(resumed);
    expect(again.lines[0]).toBe("ask: infrastructure");
    expect(again.run.escalation?.id).toBe("esc-project-2");
  });

  it("infrastructure that is called healthy three times and is not asks about the story", () => {
    const ran = runScript(begin(POLICY, story("a")), world({ gates: { audit: ["blocked", "blocked", "blocked"] } }));
    expect(stateOf(ran.run, "a").escalation?.reason).toMatchObject({ type: "gate-blocked", times: 3 });
  });
});

describe("S2 slots", () => {
  /** Four stories, each at another step. */
  const four = (policy: Policy) => {
    const at =
      (id: string, stop: string): Script =>
      (command) =>
        command.story === id && lineOf(command) === stop ? [{ type: "story.held", by: "Ada" }] : null;
    const stops: Record<string, string> = {
      a: "start-story",
      b: "judge review",
      c: "judge audit",
      d: "implement by developer",
    };
    const held = runScript(begin(policy, ...Object.keys(stops).map((id) => story(id))), (command, state, run) =>
      command.story === null ? null : at(command.story, stops[command.story]!)(command, state, run),
    );
    return Object.keys(stops).reduce((run, id) => foldEvents(run, id, { type: "story.released", by: "Ada" }), held.run);
  };

  // S2.46
  it("are given to critics, then auditors, then developers; begun work before new work", () => {
    expect(offered(four(POLICY))).toEqual([
      "b: judge review",
      "c: judge audit",
      "d: implement by developer",
      "a: start-story",
    ]);
  });

  it("are as many as the limits say, of each kind apart", () => {
    const one: Policy = { ...POLICY, concurrency: { ...POLICY.concurrency, developers: 1 } };
    expect(decide(four(one), one, 0).map(lineOf)).toEqual(["judge review", "judge audit", "implement by developer"]);
    const none: Policy = { ...POLICY, concurrency: { ...POLICY.concurrency, critics: 0 } };
    expect(decide(four(POLICY), none, 0).map(lineOf)).toEqual(["judge audit", "implement by developer", "start-story"]);
  });

  // S4.27, S4.64
  it("within a lane: reworks before new work, then priority, then age", () => {
    const stories = [
      story("new-late", { priority: 5 }),
      story("new-urgent", { priority: 1 }),
      story("new-old", { priority: 2 }),
      story("new-young", { priority: 2 }),
    ];
    const run = begin(POLICY, ...stories);
    expect(decide(run, POLICY, 0).map((command) => command.story)).toEqual([
      "new-urgent",
      "new-old",
      "new-young",
      "new-late",
    ]);
    const begun = performCommand(
      run,
      decide(run, POLICY, 0).find((command) => command.story === "new-late")!,
    );
    expect(decide(begun, POLICY, 0).map((command) => command.story)).toEqual([
      "new-late",
      "new-urgent",
      "new-old",
      "new-young",
    ]);
    expect(ofStory(runScript(begun), "new-late")[0]).toBe("implement by developer");
  });
});
