import { describe, expect, it } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import type { AttemptSummary } from "../../src/core/stories/attempt.ts";
import { type AgentSession, type RoleName, roleName } from "../../src/core/events/ids.ts";
import type { Policy, Reinforcement } from "../../src/core/events/policy.ts";
import { reinforceRole } from "../../src/decide/after-agent.ts";
import { attemptEnd, attemptStart, story } from "../kit/story-world.ts";
import { type Script, begin, commandsOf, runScript, stateOf, world } from "../seeds/scripted-run.ts";

const DEVELOPER = roleName("developer");
const SESSION: AgentSession = { agent: "claude", id: "s1" };

type Rule = Omit<Reinforcement, "role">;

function policyWith(rule: Rule): Policy {
  const preset = presetPolicy("critic-audit");
  return { ...preset, roles: { ...preset.roles, reinforcement: [{ role: DEVELOPER, ...rule }] } };
}

const attempt = (more: Partial<AttemptSummary> = {}): AttemptSummary => ({
  attempt: 1,
  phase: "implement",
  role: DEVELOPER,
  reworkOf: null,
  outcome: "ready",
  asked: 0,
  tree: null,
  summary: "",
  failed: "checks: fail",
  ...more,
});

const next = (rule: Rule, attempts: readonly AttemptSummary[], role: RoleName = DEVELOPER) =>
  reinforceRole({ attempts, sessions: { [DEVELOPER]: SESSION } }, policyWith(rule), role, "implement");

describe("a stronger model", () => {
  const rule = { stronger: { model: "opus", after: 2 } };
  it("is used after a number of failures, which the attempt records", () => {
    expect(next(rule, [])).toEqual({});
    expect(next(rule, [attempt()])).toEqual({});
    expect(next(rule, [attempt(), attempt()])).toEqual({ stronger: { model: "opus", failures: 2 } });
    expect(next(rule, [attempt(), attempt(), attempt()])).toEqual({ stronger: { model: "opus", failures: 3 } });
  });

  it("is for rejected work of this role and phase, and not for a crash", () => {
    const crash = attempt({ outcome: "crashed", failed: "" });
    expect(next(rule, [crash, crash, attempt()])).toEqual({});
    expect(next(rule, [attempt({ phase: "plan" }), attempt()])).toEqual({});
    expect(next(rule, [attempt({ role: roleName("tdd-pair") }), attempt()])).toEqual({});
    expect(next(rule, [attempt(), attempt()], roleName("tdd-pair"))).toEqual({});
  });
});

describe("a new conversation", () => {
  const rule = { freshAfter: 2 };
  it("begins after a number of failures in the previous one, each time", () => {
    const fresh = attempt({ fresh: true });
    expect(next(rule, [attempt()])).toEqual({});
    expect(next(rule, [attempt(), attempt()])).toEqual({ fresh: { failures: 2 } });
    expect(next(rule, [attempt(), attempt(), fresh])).toEqual({});
    expect(next(rule, [attempt(), attempt(), fresh, attempt()])).toEqual({ fresh: { failures: 2 } });
  });

  it("needs a previous one", () => {
    const attempts = [attempt(), attempt()];
    expect(reinforceRole({ attempts, sessions: {} }, policyWith(rule), DEVELOPER, "implement")).toEqual({});
  });
});

describe("in a run", () => {
  const rule = { stronger: { model: "opus", after: 1 }, freshAfter: 2 };
  const talking: Script = (command, state) =>
    command.type !== "start-attempt"
      ? null
      : [
          attemptStart(command),
          {
            ...attemptEnd(command.attempt, { type: "ready" }, `t${state!.seq}`),
            session: { agent: "claude", id: `s${command.attempt}` },
          } as ReturnType<typeof attemptEnd>,
        ];
  const script = (): Script => {
    const gates = world({ gates: { checks: ["fail", "fail", "pass"] }, story: "a" });
    return (command, state, run) => talking(command, state, run) ?? gates(command, state, run);
  };

  it("changes are decided and recorded in the attempt, and the old conversation is dropped", () => {
    const ran = runScript(begin(policyWith(rule), story("a")), script());
    const starts = commandsOf(ran, "start-attempt");
    expect(starts.map(({ stronger, fresh }) => [stronger ?? null, fresh ?? null])).toEqual([
      [null, null],
      [{ model: "opus", failures: 1 }, null],
      [{ model: "opus", failures: 2 }, { failures: 2 }],
    ]);
    const state = stateOf(ran.run, "a");
    expect(state.ending?.how).toBe("accepted");
    expect(state.attempts.map(({ model, fresh }) => [model, fresh])).toEqual([
      [undefined, undefined],
      ["opus", undefined],
      ["opus", true],
    ]);
  });

  it("an interrupted attempt with a new conversation does not restore the old one", () => {
    const usual = script();
    const heard: string[] = [];
    const ran = runScript(begin(policyWith(rule), story("a")), (command, state, run) => {
      if (command.type !== "start-attempt") return usual(command, state, run);
      heard.push(state!.sessions[DEVELOPER]?.id ?? "none");
      return command.attempt === 3
        ? [attemptStart(command), { type: "work.interrupted", detail: "killed" }]
        : usual(command, state, run);
    });
    expect(heard).toEqual(["none", "s1", "s2", "none"]);
    expect(commandsOf(ran, "start-attempt").map(({ fresh }) => fresh !== undefined)).toEqual([
      false,
      false,
      true,
      false,
    ]);
    expect(stateOf(ran.run, "a").ending?.how).toBe("accepted");
  });
});
