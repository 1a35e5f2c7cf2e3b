import { describe, expect, test } from "vitest";
import type { Event } from "../../src/core/events/event.ts";
import type { RunState } from "../../src/core/stories/run-state.ts";
import { evolveProject } from "../../src/fold/fold-event.ts";
import { EMPTY_RUN } from "../../src/fold/new-state.ts";
import { answer, recordedEvent } from "../kit/story-world.ts";
import { changes, escalation, POLICY } from "../kit/story-states.ts";

const RUN: RunState = { ...EMPTY_RUN, seq: 4, policy: POLICY };
const REMEDIATION = {
  issue: "the database is down",
  since: 3,
  tries: 1,
  stage: "repairing",
  guidance: ["g"],
  history: [],
} as const;
const TRIED = { attempt: 1, fixes: ["restarted it"], healthy: false, remaining: [] };
const BROKEN: RunState = { ...RUN, remediation: REMEDIATION };
const ASKED: RunState = {
  ...RUN,
  escalation: escalation({ type: "infrastructure", issue: "", tries: 3 }, null),
  escalations: 1,
};

/** What an event of the project changes; that it is counted goes without saying. */
function after(run: RunState, event: Event): Partial<RunState> {
  const { seq, ...changed } = changes(run, evolveProject(run, recordedEvent(9, null, event)));
  expect(seq).toBe(run.seq + 1);
  return changed;
}

describe("the project's own events", () => {
  test("set the policy, the base, and the warnings", () => {
    const policy = { ...POLICY, preset: "goal" } as const;
    expect(after(RUN, { type: "policy.set", policy, by: "t" })).toEqual({ policy });
    expect(after(RUN, { type: "base.moved", commit: "b2" })).toEqual({ base: "b2" });
    const warned: RunState = { ...RUN, warned: ["run-time"] };
    expect(after(warned, { type: "budget.warned", budget: "run-cost", used: 9, limit: 10 })).toEqual({
      warned: ["run-time", "run-cost"],
    });
  });

  test("a resumed run is no longer halted", () => {
    const halted: RunState = { ...RUN, halted: { by: "Ada", reason: "x" } };
    expect(after(halted, { type: "run.resumed", by: "Ada" })).toEqual({ halted: null });
  });

  test("a question is stored and counted", () => {
    const asked = ASKED.escalation!;
    expect(after(RUN, { type: "escalation.raised", escalation: asked })).toEqual({ escalation: asked, escalations: 1 });
  });

  test("an event without meaning for the project changes nothing", () => {
    expect(after(RUN, { type: "story.held", by: "Ada" })).toEqual({});
    expect(after(BROKEN, { type: "story.held", by: "Ada" })).toEqual({});
  });
});

describe("a repair", () => {
  const started: Event = { type: "remediation.started", attempt: 2 };
  const finished: Event = {
    type: "remediation.finished",
    attempt: 1,
    fixes: ["restarted it"],
    costUsd: 1,
    durationMs: 2,
  };
  const checked = (healthy: boolean): Event => ({
    type: "health.checked",
    healthy,
    remaining: healthy ? [] : ["still down"],
    costUsd: 1,
    durationMs: 2,
  });
  const PAID = { costUsd: 1, tokens: 0, timeMs: 2, costUnknown: false };

  test("begins when infrastructure is reported broken, and a second report does not begin another", () => {
    const blocked: Event = { type: "infrastructure.blocked", issue: "no network" };
    expect(after(RUN, blocked)).toEqual({
      remediation: { issue: "no network", since: 9, tries: 0, stage: "waiting", guidance: [], history: [] },
    });
    expect(after(BROKEN, blocked)).toEqual({});
  });

  test("is counted before it starts", () => {
    expect(after({ ...RUN, remediation: { ...REMEDIATION, stage: "waiting" } }, started)).toEqual({
      remediation: { ...REMEDIATION, tries: 2, stage: "repairing" },
    });
    expect(after(RUN, started)).toEqual({});
  });

  test("that is done waits for a health check, with its fixes", () => {
    expect(after(BROKEN, finished)).toEqual({
      spent: PAID,
      remediation: { ...REMEDIATION, stage: "repaired", history: [TRIED] },
    });
    expect(after(RUN, finished)).toEqual({ spent: PAID });
  });

  test("ends if the check passes, and otherwise waits for another try with the remaining problems", () => {
    const earlier = { ...TRIED, attempt: 0 };
    const repaired: RunState = {
      ...RUN,
      remediation: { ...REMEDIATION, stage: "repaired", history: [earlier, TRIED] },
    };
    expect(after(repaired, checked(true))).toEqual({ spent: PAID, remediation: null });
    expect(after(repaired, checked(false))).toEqual({
      spent: PAID,
      remediation: {
        ...REMEDIATION,
        stage: "waiting",
        history: [earlier, { ...TRIED, remaining: ["still down"] }],
      },
    });
    expect(after(RUN, checked(false))).toEqual({ spent: PAID });
  });

  test("of an agent without a reported cost makes the sum a minimum", () => {
    expect(after(BROKEN, { type: "remediation.finished", attempt: 1, fixes: [], durationMs: 2 }).spent).toEqual({
      costUsd: 0,
      tokens: 0,
      timeMs: 2,
      costUnknown: true,
    });
  });
});

describe("a person's answer about the project", () => {
  const asked: RunState = { ...ASKED, remediation: { ...REMEDIATION, tries: 3, stage: "repaired" } };

  test("retry resets the tries, with the person's message", () => {
    expect(after(asked, answer("retry"))).toEqual({
      escalation: null,
      remediation: { ...REMEDIATION, tries: 0, stage: "waiting", guidance: ["g", "because"] },
    });
    expect(after(ASKED, answer("retry"))).toEqual({ escalation: null });
  });

  test("declare-healthy ends the repair, and halt ends the run", () => {
    expect(after(asked, answer("declare-healthy"))).toEqual({ escalation: null, remediation: null });
    expect(after(ASKED, answer("halt"))).toEqual({ escalation: null, halted: { by: "Ada", reason: "because" } });
  });

  test("raise-budget sets the named limit and keeps others", () => {
    const raised: RunState = { ...ASKED, raised: { "run-time": 5 } };
    expect(after(raised, answer("raise-budget", { budget: "run-cost", limit: 20 }))).toEqual({
      escalation: null,
      raised: { "run-time": 5, "run-cost": 20 },
    });
    expect(after(raised, answer("raise-budget", { budget: "run-cost" }))).toEqual({ escalation: null });
    expect(after(raised, answer("raise-budget", { limit: 20 }))).toEqual({ escalation: null });
  });

  test("an answer about a story leaves the question open", () => {
    expect(after(asked, answer("send-back"))).toEqual({});
  });
});
