import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import type { AttemptOutcome } from "../../src/core/stories/attempt.ts";
import type { AttemptFinished } from "../../src/core/events/event.ts";
import { roleName } from "../../src/core/events/ids.ts";
import type { Policy } from "../../src/core/events/policy.ts";
import { nextWake } from "../../src/decide/decide.ts";
import { standIn } from "../../src/decide/route.ts";
import { answer, attemptEnd, attemptStart, story } from "../kit/story-world.ts";
import { begin, commandsOf, runScript, stateOf, foldEvents, type Script } from "../seeds/scripted-run.ts";

const POLICY = presetPolicy("critic-audit");
const ends = (outcome: AttemptOutcome, times: number): Script => {
  let left = times;
  return (command, state) =>
    command.type === "start-attempt" && left-- > 0
      ? [
          attemptStart(command),
          attemptEnd(command.attempt, outcome, state!.tree!, { changed: [], productChanged: false }),
        ]
      : null;
};

describe("a dispatch without a usable result", () => {
  it.each<[AttemptOutcome, number, string]>([
    [{ type: "crashed", detail: "exit 1" }, 3, "the agent crashed 3 times"],
    [{ type: "timed-out", afterMs: 60_000 }, 3, "the agent timed out 3 times"],
    [{ type: "rate-limited", retryAt: 5 }, 20, "the agent was rate-limited 20 times"],
    [{ type: "refused", detail: "no" }, 2, "the agent refused 2 times"],
    [{ type: "unusable", detail: "no credit", fix: "add credit" }, 1, "the agent can't start: no credit"],
  ])("%j asks a person after %i", (outcome, limit, title) => {
    const once = runScript(begin(POLICY, story("a")), ends(outcome, limit));
    expect(stateOf(once.run, "a").escalation?.title).toBe(`Story a: ${title}`);
    if (limit === 1) return;
    const fewer = runScript(begin(POLICY, story("a")), ends(outcome, limit - 1));
    expect(stateOf(fewer.run, "a").ending?.how).toBe("accepted");
    expect(stateOf(fewer.run, "a").counters.attempts).toBe(1);
  });

  it("explains how to fix an agent that cannot run", () => {
    const ran = runScript(
      begin(POLICY, story("a")),
      ends({ type: "unusable", detail: "no credit", fix: "add credit" }, 1),
    );
    expect(stateOf(ran.run, "a").escalation?.assessment).toContain("no credit — add credit");
    const mended = runScript(foldEvents(ran.run, "a", answer("send-back")));
    expect(stateOf(mended.run, "a").ending?.how).toBe("accepted");
  });

  // S4.75
  it("waits as long as the provider says, and doubles the default waits", () => {
    const limited = runScript(begin(POLICY, story("a")), ends({ type: "rate-limited", retryAt: 70_000 }, 1));
    expect(limited.now).toBe(70_000);
    const crashed = runScript(begin(POLICY, story("a")), ends({ type: "crashed", detail: "" }, 2));
    expect(crashed.now).toBe(POLICY.limits.backoffMs * 3);
  });

  it("stopped by a person: paused until resumed, and not counted", () => {
    const ran = runScript(begin(POLICY, story("a")), ends({ type: "stopped", by: "Ada" }, 1));
    expect(stateOf(ran.run, "a")).toMatchObject({ held: true, counters: { attempts: 0, lastFailure: null } });
    expect(nextWake(ran.run)).toBeNull();
    const released = runScript(foldEvents(ran.run, "a", { type: "story.released", by: "Ada" }));
    expect(stateOf(released.run, "a").ending?.how).toBe("accepted");
  });

  // S4.33, S4.54, S4.102
  it("interrupted with the engine: not counted, and the step is decided again", () => {
    let run = begin(POLICY, story("a"));
    run = runScript(run, (command) => (command.type === "start-attempt" ? [attemptStart(command)] : null)).run;
    expect(stateOf(run, "a").counters.attempts).toBe(1);
    const again = foldEvents(run, "a", { type: "work.interrupted", detail: "the power failed" });
    expect(stateOf(again, "a")).toMatchObject({
      running: null,
      counters: { attempts: 0 },
      attempts: [{ outcome: "interrupted" }],
    });
    const ran = runScript(again);
    expect(commandsOf(ran, "start-attempt")[0]?.attempt).toBe(2);
    expect(stateOf(ran.run, "a").ending?.how).toBe("accepted");
  });

  it("interrupted in a gate: the gate runs again", () => {
    const run = runScript(begin(POLICY, story("a")), (command) =>
      command.type === "start-gate"
        ? [{ type: "gate.started", gate: command.gate, tree: command.tree, stages: [] }]
        : null,
    ).run;
    expect(runScript(foldEvents(run, "a", { type: "work.interrupted", detail: "" })).lines[0]).toBe("judge integrity");
  });
});

describe("a late result of an attempt", () => {
  const working = () =>
    runScript(begin(POLICY, story("a")), (command) =>
      command.type === "start-attempt" ? [attemptStart(command)] : null,
    ).run;

  it("of another attempt only adds its cost", () => {
    const run = foldEvents(working(), "a", attemptEnd(7, { type: "ready" }, "t7", { costUsd: 2, durationMs: 3 }));
    expect(stateOf(run, "a")).toMatchObject({
      running: { attempt: 1 },
      spent: { costUsd: 2, timeMs: 3 },
      productReady: false,
    });
    expect(run.spent.costUsd).toBe(2);
  });

  it("an agent without a reported cost makes every sum a minimum; a step of the engine does not", () => {
    const { costUsd: _unknown, ...silent } = attemptEnd(1, { type: "ready" }, "t7") as {
      costUsd?: number;
    } & AttemptFinished;
    const run = foldEvents(working(), "a", silent);
    expect([stateOf(run, "a").spent.costUnknown, run.spent.costUnknown]).toEqual([true, true]);
    const blame = {
      verdict: "unmet",
      basis: "ranked",
      confidence: 1,
      suspects: [],
      explanation: "",
      testRuns: 0,
    } as const;
    const step = foldEvents(working(), "a", { type: "blame.found", gate: "checks", blame, durationMs: 5 });
    expect([stateOf(step, "a").spent.costUnknown, step.spent.costUnknown]).toEqual([false, false]);
  });

  it("of a settled story only adds its cost", () => {
    const over = foldEvents(working(), "a", answer("abandon"), attemptEnd(1, { type: "ready" }, "t7", { costUsd: 2 }));
    expect(stateOf(over, "a")).toMatchObject({ ending: { how: "abandoned" }, spent: { costUsd: 2 } });
    expect(stateOf(foldEvents(over, "a", { type: "story.held", by: "Ada" }), "a").held).toBe(false);
  });

  it("an unreadable reply adds its cost, and the agent is asked again in its conversation", () => {
    const session = { agent: "claude", id: "c1", totals: { tokens: 70 } };
    const unclear = {
      type: "attempt.unclear",
      attempt: 1,
      detail: "",
      durationMs: 5,
      costUsd: 2,
      tokens: 70,
      session,
    } as const;
    const run = foldEvents(working(), "a", unclear);
    const { spent, sessions, running } = stateOf(run, "a");
    expect(spent).toEqual({ costUsd: 2, tokens: 70, timeMs: 5, costUnknown: false });
    expect(run.spent.costUsd).toBe(2);
    expect(sessions).toEqual({ developer: session });
    expect(running).toMatchObject({ type: "attempt", attempt: 1, unclear: 1 });
    expect(stateOf(foldEvents(run, "a", { ...unclear, attempt: 9 }), "a").spent.costUsd).toBe(4);
  });

  it("an unreadable reply of another attempt changes nothing", () => {
    const run = foldEvents(working(), "a", { type: "attempt.unclear", attempt: 9, detail: "", durationMs: 0 });
    expect(stateOf(run, "a").running).toMatchObject({ unclear: 0 });
  });
});

describe("a missing agent", () => {
  const roles = (fallback: Record<string, string>): Policy => ({
    ...POLICY,
    roles: {
      ...POLICY.roles,
      fallback: Object.fromEntries(Object.entries(fallback).map(([role, other]) => [role, roleName(other)])),
    },
  });
  const [a, b, c] = [roleName("a"), roleName("b"), roleName("c")];

  it.each([
    ["itself while it is there", {}, [], "a"],
    ["its fallback", { a: "b" }, [a], "b"],
    ["the fallback's fallback", { a: "b", b: "c" }, [a, b], "c"],
    ["nobody at the end", { a: "b" }, [a, b], null],
    ["nobody in a circle", { a: "b", b: "a" }, [a, b], null],
    ["nobody by the name of a method", {}, [a], null],
  ])("is replaced by %s", (_name, fallback, missing, role) => {
    expect(standIn(roles(fallback), a, missing)).toBe(role);
    expect(standIn(roles(fallback), c, [])).toBe("c");
    expect(standIn(roles({}), roleName("constructor"), [roleName("constructor")])).toBeNull();
  });

  it("stays missing for the rest of the story", () => {
    const gone: Script = (command, state) =>
      command.type === "start-attempt" && command.role === "developer"
        ? [
            attemptStart(command),
            attemptEnd(command.attempt, { type: "missing", detail: "" }, state!.tree!, {
              changed: [],
              productChanged: false,
            }),
          ]
        : null;
    const ran = runScript(begin(roles({ developer: "junior" }), story("a")), gone);
    expect(commandsOf(ran, "start-attempt").map(({ role }) => role)).toEqual(["developer", "junior"]);
    expect(stateOf(ran.run, "a").ending?.how).toBe("accepted");
  });

  it("a story's own role comes before the phase's", () => {
    const ran = runScript(begin(POLICY, story("a", { role: roleName("rustacean") })));
    expect(commandsOf(ran, "start-attempt")[0]?.role).toBe("rustacean");
  });
});
