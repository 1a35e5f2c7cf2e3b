import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import { identifyFinding } from "../../src/core/gates/finding-identity.ts";
import type { Policy } from "../../src/core/events/policy.ts";
import type { RunState } from "../../src/core/stories/run-state.ts";
import { gateOfBudget } from "../../src/fold/fold-answer.ts";
import { answer, attemptEnd, attemptStart, story } from "../kit/story-world.ts";
import {
  begin,
  commandsOf,
  reasonFor,
  runScript,
  stateOf,
  foldEvents,
  world,
  type Script,
  type World,
} from "../seeds/scripted-run.ts";

const POLICY = presetPolicy("critic-audit");
const stopped = (gates: NonNullable<World["gates"]>, policy: Policy = POLICY): RunState =>
  runScript(begin(policy, story("a")), world({ gates })).run;
const SAME = { result: "fail", failure: "same", blocking: 1 } as const;
/** What the engine's own run printed, among what an audit found. */
const VERIFIED = identifyFinding({
  severity: "critical",
  category: "test",
  source: "engine",
  message: "1 of 2 tests failed",
  stage: "verification",
});
const exhausted = (): RunState => stopped({ review: ["fail", "fail", "fail"] });

describe("a person's answer", () => {
  it("resolve: adopts the person's fix, runs every gate on it, and resets the counter", () => {
    const ran = runScript(foldEvents(exhausted(), "a", answer("resolve")));
    expect(ran.lines).toEqual([
      "adopt-work",
      "judge integrity",
      "judge checks",
      "judge review",
      "judge audit",
      "accept",
    ]);
    expect(stateOf(ran.run, "a").gates.review?.failures).toBe(0);
  });

  it("send-back resets that gate only: the counts of other gates stay", () => {
    const run = stopped({ checks: ["fail", "fail"], review: ["fail", "fail", "fail"] });
    const counts = (of: RunState) => [stateOf(of, "a").gates.checks?.failures, stateOf(of, "a").gates.review?.failures];
    expect(counts(run)).toEqual([2, 3]);
    const back = foldEvents(run, "a", answer("send-back", { message: "use the other one" }));
    expect(counts(back)).toEqual([2, 0]);
    expect(stateOf(back, "a").gates.review?.failuresEver).toBe(3);
    expect(stateOf(back, "a").guidance).toEqual(["Ada: use the other one"]);
  });

  it("send-back to a named phase requests that phase's work, whatever failed", () => {
    const back = foldEvents(
      stopped({ review: ["fail", "fail", "fail", "fail"] }, presetPolicy("story")),
      "a",
      answer("send-back", { phase: "refine", message: "narrow it" }),
    );
    const ran = runScript(back);
    expect(ran.lines.slice(0, 2)).toEqual(["send back from person to refine", "refine by refiner after person"]);
  });

  // S3.4
  it("send-back without a question: the running work is sent back when it ends", () => {
    const half = runScript(begin(POLICY, story("a")), (command) =>
      command.type === "start-gate" && command.gate === "review" ? [{ type: "story.held", by: "Ada" }] : null,
    ).run;
    const back = foldEvents(half, "a", answer("send-back", { message: "use the other library" }), {
      type: "story.released",
      by: "Ada",
    });
    const ran = runScript(back);
    expect(ran.lines.slice(0, 2)).toEqual([
      "send back from person to implement",
      "implement by developer after person",
    ]);
    const [sent] = commandsOf(ran, "send-back");
    expect(sent).toMatchObject({
      variant: "phase",
      failure: 0,
      failureLimit: null,
      scope: { allow: [], tests: "open" },
    });
    expect(stateOf(ran.run, "a").ending?.how).toBe("accepted");
  });

  it("a person's rework that changes nothing is a stall", () => {
    const back = foldEvents(exhausted(), "a", answer("send-back", { phase: "implement", message: "again" }));
    const ran = runScript(back, (command, state) =>
      command.type === "start-attempt"
        ? [
            attemptStart(command),
            attemptEnd(command.attempt, { type: "ready" }, state!.tree!, { changed: [], productChanged: false }),
          ]
        : null,
    );
    expect(stateOf(ran.run, "a").escalation?.reason).toMatchObject({ stall: "no-change" });
  });

  it("send-back without a message gives no guidance", () => {
    expect(stateOf(foldEvents(exhausted(), "a", answer("send-back", { message: "" })), "a").guidance).toEqual([]);
  });

  it("raise-budget: sets the named limit, never above the ceiling, and work continues", () => {
    const raised = foldEvents(exhausted(), "a", answer("raise-budget", { budget: "failures:review", limit: 99 }));
    expect(stateOf(raised, "a").raised).toEqual({ "failures:review": 10 });
    expect(runScript(raised).lines[0]).toBe("send back from review to implement");
    const nothing = foldEvents(exhausted(), "a", answer("raise-budget"));
    expect(stateOf(nothing, "a").raised).toEqual({});
    expect(runScript(nothing).lines).toEqual(["ask: budget"]);
  });

  it("abandon ends the story with the person's message", () => {
    const state = stateOf(foldEvents(exhausted(), "a", answer("abandon", { message: "not needed" })), "a");
    expect(state.ending).toMatchObject({ how: "abandoned", reason: "Ada: not needed" });
  });

  it("waive and dispute without a gate only close the question", () => {
    const run = begin(POLICY, story("a"));
    for (const verb of ["waive", "dispute"] as const) {
      const state = stateOf(foldEvents(run, "a", answer(verb)), "a");
      expect([state.waivers, state.disputes]).toEqual([[], []]);
    }
  });

  it.each(["retry", "declare-healthy", "halt"] as const)(
    "%s is about the project: a story's question stays open",
    (verb) => {
      expect(reasonFor(foldEvents(exhausted(), "a", answer(verb)), "a")).toBe("budget");
    },
  );

  it("an answer about a story changes nothing in the project", () => {
    const happens = world({ gates: { audit: ["blocked"] }, health: [false, false, false] });
    const run = runScript(begin(POLICY, story("a")), happens).run;
    expect(run.escalation?.reason.type).toBe("infrastructure");
    expect(foldEvents(run, null, answer("resolve")).escalation).toBe(run.escalation);
    expect(foldEvents(run, null, answer("raise-budget")).raised).toEqual({});
    expect(foldEvents(begin(POLICY), null, answer("retry")).remediation).toBeNull();
  });

  it.each([
    ["failures:review", "review"],
    ["failures:nonsense", null],
    ["cost", null],
  ])("the gate of the budget %s is %s", (budget, gate) => {
    expect(gateOfBudget(budget)).toBe(gate);
  });
});

describe("a disputed finding", () => {
  const firstOf = (run: RunState) => stateOf(run, "a").gates.review!.last!.blocking[0]!;
  const disputed = () => {
    const run = exhausted();
    const first = firstOf(run);
    return { first, run: foldEvents(run, "a", answer("dispute", { findings: [first], message: "the caller checks" })) };
  };
  const ruling =
    (upheld: (finding: string) => boolean, then: Script = () => null): Script =>
    (command, state, run) =>
      command.type === "adjudicate"
        ? [
            { type: "step.started", step: "adjudication" },
            {
              type: "finding.adjudicated",
              finding: command.finding,
              upheld: upheld(command.finding),
              by: command.role,
              reason: "read",
              costUsd: 0.1,
              durationMs: 5,
            },
          ]
        : then(command, state, run);
  const verbs = (run: RunState) => stateOf(run, "a").escalation!.options.map(({ verb }) => verb);

  it("is ruled on by another role; if upheld, the question returns with the ruling, and nothing is charged", () => {
    const before = stateOf(exhausted(), "a").gates.review!;
    const ran = runScript(
      disputed().run,
      ruling(() => true),
    );
    expect(ran.lines).toEqual(["adjudicate by adjudicator", "ask: budget"]);
    const { escalation, gates, spent, disputes } = stateOf(ran.run, "a");
    expect(escalation).toMatchObject({
      reason: { type: "budget", budget: "failures:review", used: 3, limit: 3 },
      assessment: expect.stringContaining(`finding ${disputed().first} was upheld by adjudicator: read`),
    });
    expect(gates.review).toMatchObject({ failures: before.failures, rounds: before.rounds, last: before.last });
    expect(disputes).toEqual([]);
    expect(spent.costUsd).toBeCloseTo(0.1);
  });

  it("that was upheld is not ruled on again: the question returns unchanged, and no agent is asked", () => {
    const upheld = runScript(
      disputed().run,
      ruling(() => true),
    ).run;
    const again = foldEvents(upheld, "a", answer("dispute", { findings: [firstOf(upheld)] }));
    expect(runScript(again).lines).toEqual(["ask: budget"]);
  });

  it("can be disputed while a finding without a ruling is left", () => {
    let run = stopped({ review: ["fail", "fail", { result: "fail", blocking: 2 }] });
    for (const finding of stateOf(run, "a").gates.review!.last!.blocking) {
      expect(verbs(run)).toContain("dispute");
      run = runScript(
        foldEvents(run, "a", answer("dispute", { findings: [finding] })),
        ruling(() => true),
      ).run;
    }
    expect(verbs(run)).toEqual(["send-back", "resolve", "waive", "raise-budget", "force-complete", "abandon"]);
  });

  it("that was overturned makes the gate run again; only the new result is charged", () => {
    const passed = runScript(
      disputed().run,
      ruling(() => false),
    );
    expect(passed.lines).toEqual(["adjudicate by adjudicator", "judge review", "judge audit", "accept"]);
    expect(stateOf(passed.run, "a").gates.review).toMatchObject({ failures: 2, failuresEver: 2 });
    const failed = runScript(
      disputed().run,
      ruling(() => false, world({ gates: { review: ["fail"] } })),
    );
    expect(failed.lines).toEqual(["adjudicate by adjudicator", "judge review", "ask: budget"]);
    expect(stateOf(failed.run, "a").gates.review).toMatchObject({ failures: 3, failuresEver: 3 });
    expect(stateOf(failed.run, "a").gates.review!.rounds).toHaveLength(3);
  });

  it("that was upheld does not prevent a ruling on another one", () => {
    const run = exhausted();
    const [first, second] = stateOf(run, "a").gates.review!.last!.blocking;
    const both = foldEvents(run, "a", answer("dispute", { findings: [first!, second!] }));
    const ran = runScript(
      both,
      ruling((finding) => finding === first, world({ gates: { review: ["fail"] } })),
    );
    expect(ran.lines).toEqual([
      "adjudicate by adjudicator",
      "adjudicate by adjudicator",
      "judge review",
      "ask: budget",
    ]);
    expect(stateOf(ran.run, "a").gates.review!.failures).toBe(3);
  });

  const conservative: Policy = { ...POLICY, autonomy: "conservative" };
  it.each([
    ["a stall", { ...POLICY, stall: { ...POLICY.stall, sameFailure: 2 } }, { review: [SAME, SAME] }, "stall"],
    ["an approval", conservative, { review: ["fail" as const] }, "approval"],
    ["an audit's budget", POLICY, { audit: ["fail" as const, "fail" as const, "fail" as const] }, "budget"],
  ])("can be the answer to %s, which returns if it is upheld", (_what, policy, gates, reason) => {
    const run = stopped(gates, policy);
    expect(reasonFor(run, "a")).toBe(reason);
    expect(verbs(run)).toContain("dispute");
    const { gate } = stateOf(run, "a").escalation!;
    const finding = stateOf(run, "a").gates[gate!]!.last!.blocking[0]!;
    const ran = runScript(
      foldEvents(run, "a", answer("dispute", { findings: [finding] })),
      ruling(() => true),
    );
    expect(ran.lines).toEqual(["adjudicate by adjudicator", `ask: ${reason}`]);
    const charges = ({ gates: of }: ReturnType<typeof stateOf>) => [of[gate!]!.failures, of[gate!]!.rounds.length];
    expect(charges(stateOf(ran.run, "a"))).toEqual(charges(stateOf(run, "a")));
  });

  it("can be the answer to a rework without changes, which still counts", () => {
    let turns = 0;
    const idle: Script = (command, state, run) =>
      command.type === "start-attempt" && ++turns > 1
        ? [
            attemptStart(command),
            attemptEnd(command.attempt, { type: "ready" }, state!.tree!, { changed: [], productChanged: false }),
          ]
        : command.type === "start-gate" && command.gate === "review"
          ? world({ gates: { review: [SAME] } })(command, state, run)
          : null;
    const run = runScript(begin(POLICY, story("a")), idle).run;
    expect(stateOf(run, "a").escalation!.reason).toMatchObject({ type: "stall", stall: "no-change" });
    const ran = runScript(
      foldEvents(run, "a", answer("dispute", { findings: [firstOf(run)], gate: "review" })),
      ruling(() => true, idle),
    );
    expect(ran.lines).toEqual(["adjudicate by adjudicator", "ask: stall"]);
  });

  it("is not an answer if a command printed the failure", () => {
    for (const gate of ["checks", "mutation"] as const) {
      const run = stopped({ [gate]: ["fail", "fail", "fail"] }, gate === "checks" ? POLICY : presetPolicy("factory"));
      expect(verbs(run)).not.toContain("dispute");
    }
    const seen = { result: "fail", more: { findings: [VERIFIED], blocking: [VERIFIED.id] } } as const;
    const audited = stopped({ audit: [seen, seen, seen] });
    expect(stateOf(audited, "a").escalation?.gate).toBe("audit");
    expect(verbs(audited)).not.toContain("dispute");
  });

  it("by an agent that was upheld is decided by a person, with both sides", () => {
    const upheld = runScript(
      byAgent(),
      ruling(() => true),
    );
    expect(upheld.lines).toEqual(["adjudicate by adjudicator", "ask: dispute"]);
    const { escalation } = stateOf(upheld.run, "a");
    expect(escalation?.reason).toMatchObject({
      type: "dispute",
      finding: disputed().first,
      detail: "disputed by developer: see the caller — upheld by adjudicator: read",
    });
    expect(escalation?.assessment).not.toContain("was upheld");

    const back = runScript(foldEvents(upheld.run, "a", answer("send-back")));
    expect(back.lines[0]).toBe("send back from review to implement");
    expect(stateOf(back.run, "a").ending?.how).toBe("accepted");

    const waived = foldEvents(upheld.run, "a", answer("waive", { findings: [disputed().first] }));
    expect(stateOf(waived, "a").disputes).toEqual([]);
    expect(runScript(waived).lines[0]).toBe("ask: budget");
  });

  it("is disputed only once", () => {
    const { run, first } = disputed();
    expect(
      stateOf(foldEvents(run, "a", answer("dispute", { findings: [first, first], gate: "review" })), "a").disputes,
    ).toHaveLength(1);
    expect(stateOf(foldEvents(run, "a", answer("dispute", { gate: "review" })), "a").disputes).toHaveLength(1);
  });

  const byAgent = () =>
    foldEvents(foldEvents(exhausted(), "a", answer("dispute")), "a", {
      type: "finding.disputed",
      gate: "review",
      finding: disputed().first,
      by: "developer",
      rationale: "see the caller",
    });

  it("may be disputed by the agent; a ruling on an undisputed finding only adds its cost", () => {
    const run = byAgent();
    expect(stateOf(run, "a").disputes).toMatchObject([{ by: "developer", standing: "open" }]);
    const other = foldEvents(run, "a", {
      type: "finding.adjudicated",
      finding: "other" as never,
      upheld: false,
      by: "x",
      reason: "",
      costUsd: 2,
      durationMs: 0,
    });
    expect(stateOf(other, "a")).toMatchObject({ spent: { costUsd: 2 }, disputes: [{ standing: "open" }] });
  });
});

describe("approvals of a conservative run", () => {
  const policy: Policy = { ...POLICY, autonomy: "conservative" };

  it("a broken gate is retried only if a person approves", () => {
    const first = stopped({ review: ["error"] }, policy);
    expect(stateOf(first, "a").escalation?.reason).toEqual({ type: "approval", of: "retry" });
    expect(runScript(foldEvents(first, "a", answer("send-back"))).lines[0]).toBe("judge review");
  });

  it("a crashed agent is retried only if a person approves", () => {
    let crashes = 1;
    const ran = runScript(begin(policy, story("a")), (command, state) =>
      command.type === "start-attempt" && crashes-- > 0
        ? [
            attemptStart(command),
            attemptEnd(command.attempt, { type: "crashed", detail: "exit 1" }, state!.tree!, {
              changed: [],
              productChanged: false,
            }),
          ]
        : null,
    );
    expect(stateOf(ran.run, "a").escalation?.reason).toEqual({ type: "approval", of: "retry" });
    const allowed = runScript(foldEvents(ran.run, "a", answer("resolve")));
    expect(allowed.lines[0]).toBe("implement by developer");
    expect(stateOf(allowed.run, "a").ending?.how).toBe("accepted");
  });
});

describe("a flaky test", () => {
  const flaky = { result: "inconclusive", more: { flaky: ["pays twice", "logs in"] } } as const;
  const ask = (...checks: readonly (typeof flaky | "inconclusive")[]) => stopped({ checks });

  it("raises a question as non-deterministic, by its name", () => {
    const { escalation } = stateOf(ask(flaky, flaky), "a");
    expect(escalation).toMatchObject({
      reason: {
        type: "non-deterministic",
        detail: "pays twice, logs in gave different answers about the same tree, 2 times",
      },
      gate: "checks",
    });
    expect(escalation?.options.map(({ verb }) => verb)).toEqual([
      "resolve",
      "send-back",
      "waive",
      "force-complete",
      "abandon",
    ]);
  });

  it("is named even if the last run was inconclusive for another reason", () => {
    expect(reasonFor(ask(flaky, "inconclusive"), "a")).toBe("non-deterministic");
    expect(reasonFor(ask("inconclusive", "inconclusive"), "a")).toBe("gate-inconclusive");
  });

  it("runs again when a person has fixed it, and its earlier results are dropped", () => {
    const ran = runScript(
      foldEvents(ask(flaky, flaky), "a", answer("resolve")),
      world({ gates: { checks: ["inconclusive", "inconclusive"] } }),
    );
    expect(reasonFor(ran.run, "a")).toBe("gate-inconclusive");
  });
});
