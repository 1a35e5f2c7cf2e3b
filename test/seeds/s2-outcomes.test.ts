import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import type { AttemptOutcome } from "../../src/core/stories/attempt.ts";
import { answer, attemptEnd, attemptStart, story } from "../kit/story-world.ts";
import {
  begin,
  commandsOf,
  judgedGates,
  reasonFor,
  runScript,
  stateOf,
  foldEvents,
  world,
  type Script,
} from "./scripted-run.ts";

const POLICY = presetPolicy("critic-audit");

describe("S2 what a developer can say besides READY_FOR_REVIEW", () => {
  /** The first attempts end so; what comes after them goes well. */
  const ends = (...outcomes: AttemptOutcome[]): Script => {
    let at = 0;
    return (command, state) => {
      const outcome = command.type === "start-attempt" ? outcomes[at++] : undefined;
      if (command.type !== "start-attempt" || outcome === undefined) return null;
      return [
        attemptStart(command),
        attemptEnd(command.attempt, outcome, state!.tree!, { changed: [], productChanged: false }),
      ];
    };
  };
  const incomplete = (
    category: Extract<AttemptOutcome, { type: "incomplete" }>["category"],
    waitsFor?: string,
  ): AttemptOutcome => ({
    type: "incomplete",
    category,
    blocker: "the API is not described",
    attempted: ["read the docs"],
    needed: "the API's description",
    ...(waitsFor === undefined ? {} : { waitsFor }),
  });

  // S2.7
  it.each(["missing_info", "out_of_scope"] as const)(
    "TASK_INCOMPLETE %s asks a person at once, with what is needed",
    (category) => {
      const ran = runScript(begin(POLICY, story("a")), ends(incomplete(category)));
      expect(ran.lines.slice(1)).toEqual(["implement by developer", "ask: incomplete"]);
      expect(stateOf(ran.run, "a").escalation).toMatchObject({
        reason: { category, needed: "the API's description" },
        question: "Can you give what the agent needs: the API's description?",
      });
      const helped = runScript(foldEvents(ran.run, "a", answer("send-back", { message: "here it is" })));
      expect(helped.lines[0]).toBe("implement by developer");
      expect(stateOf(helped.run, "a").ending?.how).toBe("accepted");
    },
  );

  it("TASK_INCOMPLETE infrastructure, and INFRA_BLOCKED, start remediation", () => {
    for (const outcome of [incomplete("infrastructure"), { type: "blocked", issue: "no database" } as const]) {
      const ran = runScript(begin(POLICY, story("a")), ends(outcome));
      expect(ran.lines.slice(1, 5)).toEqual([
        "implement by developer",
        "start-remediation",
        "check-health",
        "implement by developer",
      ]);
      expect(stateOf(ran.run, "a").ending?.how).toBe("accepted");
    }
  });

  it("TASK_INCOMPLETE blocked_by_dependency waits for the story it names", () => {
    const ran = runScript(begin(POLICY, story("a"), story("b")), ends(incomplete("blocked_by_dependency", "b")));
    const order = ran.commands.map((command) => `${command.story}: ${command.type}`);
    expect(order.lastIndexOf("a: start-attempt")).toBeGreaterThan(order.indexOf("b: accept"));
    expect(stateOf(ran.run, "a").ending?.how).toBe("accepted");
  });

  it("TASK_INCOMPLETE blocked_by_dependency, three times: a person", () => {
    const waits = incomplete("blocked_by_dependency");
    const ran = runScript(begin(POLICY, story("a")), ends(waits, waits, waits));
    expect(stateOf(ran.run, "a").escalation?.reason).toMatchObject({
      type: "incomplete",
      category: "blocked_by_dependency",
    });
    expect(ran.now).toBe(POLICY.limits.backoffMs * 3);
  });

  // S4.89
  it("none of these charges a rework budget, nor an iteration", () => {
    for (const outcome of [
      incomplete("infrastructure"),
      incomplete("blocked_by_dependency"),
      { type: "timed-out", afterMs: 1 },
      { type: "crashed", detail: "x" },
    ] as const) {
      const ran = runScript(begin(POLICY, story("a")), ends(outcome));
      expect(stateOf(ran.run, "a").counters.attempts).toBe(1);
      expect(Object.values(stateOf(ran.run, "a").gates).map((gate) => gate.failuresEver)).toEqual([0, 0, 0, 0]);
    }
  });

  const unreadable = (times: number): Script => {
    let said = 0;
    return (command) => {
      const attempt = command.type === "start-attempt" || command.type === "ask-again" ? command.attempt : null;
      if (attempt === null || said++ >= times) return null;
      const unclear = { type: "attempt.unclear", attempt, detail: "no signal", durationMs: 0 } as const;
      return command.type === "start-attempt" ? [attemptStart(command), unclear] : [unclear];
    };
  };

  // S2.20
  it("unknown output is asked about twice; the third time it is an agent failure, dispatched again with the format", () => {
    const ran = runScript(begin(POLICY, story("a")), unreadable(3));
    expect(ran.lines.slice(1, 5)).toEqual([
      "implement by developer",
      "ask-again",
      "ask-again",
      "implement by developer",
    ]);
    expect(commandsOf(ran, "ask-again").map(({ attempt, times }) => [attempt, times])).toEqual([
      [1, 1],
      [1, 2],
    ]);
    expect(commandsOf(ran, "start-attempt").map(({ spellOutFormat }) => spellOutFormat)).toEqual([false, true]);
    expect(stateOf(ran.run, "a").ending?.how).toBe("accepted");
  });

  it("an answer that can be read when asked again is as good as any", () => {
    const ran = runScript(begin(POLICY, story("a")), unreadable(1));
    expect(commandsOf(ran, "start-attempt")).toHaveLength(1);
    expect(stateOf(ran.run, "a").ending?.how).toBe("accepted");
  });

  it("three agent failures in a row ask a person", () => {
    const ran = runScript(begin(POLICY, story("a")), unreadable(9));
    expect(stateOf(ran.run, "a").escalation?.reason).toMatchObject({
      type: "agent-failure",
      times: 3,
      outcome: "sent an unreadable reply",
    });
  });

  // S2.45
  it("three timeouts of one story ask a person, even with work between them", () => {
    const timeout: AttemptOutcome = { type: "timed-out", afterMs: 900_000 };
    const between = ends(timeout, timeout, { type: "ready" }, timeout);
    const gates = world({ gates: { review: ["fail"] } });
    const ran = runScript(
      begin(POLICY, story("a")),
      (command, state, run) =>
        between(command, state, run) ?? (command.type === "start-gate" ? gates(command, state, run) : null),
    );
    expect(stateOf(ran.run, "a").escalation?.reason).toMatchObject({
      type: "agent-failure",
      times: 3,
      outcome: "timed out",
      detail: "no answer within 900 s",
    });
    expect(POLICY.limits.timeoutMs).toEqual({
      developer: 900_000,
      critic: 600_000,
      auditor: 600_000,
      remediation: 300_000,
    });
  });

  // S2.34, S2.44
  it("a critic or auditor that says nothing readable is a gate that broke: tried again, then a person, never charged", () => {
    const ran = runScript(begin(POLICY, story("a")), world({ gates: { audit: ["error", "error", "error"] } }));
    expect(judgedGates(ran).filter((gate) => gate === "audit")).toHaveLength(3);
    expect(stateOf(ran.run, "a").escalation?.reason).toMatchObject({ type: "gate-error", errors: 3 });
    expect(stateOf(ran.run, "a").gates.audit?.failuresEver).toBe(0);
    expect(reasonFor(ran.run, "a")).toBe("gate-error");
  });
});
