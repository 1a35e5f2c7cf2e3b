import { describe, expect, test } from "vitest";
import { presetPolicy } from "../../src/config/presets.ts";
import type { Event } from "../../src/core/events/event.ts";
import { recover, recoverStory, whatRan } from "../../src/engine/recover.ts";
import { newStory } from "../../src/fold/new-state.ts";
import { agentResult } from "../contract/agent-result.ts";
import { story } from "../kit/story-world.ts";
import type { AgentRuns } from "../../src/ports/agent.ts";
import type { Gate } from "../../src/ports/gate.ts";
import { READY, edit, createStage, ready, type Stage } from "../kit/one-story.ts";

const POLICY = presetPolicy("critic-audit");

/** A story whose agent has changed a file and is still at it. */
async function working(): Promise<Stage> {
  const stage = await createStage(POLICY, (on) => () => {
    edit(on);
    return agentResult({ status: "cancelled" });
  });
  stage.disk.nowMs = 1000;
  await stage.until("start-attempt");
  return stage;
}

const toProject = async (stage: Stage, ...events: readonly Event[]): Promise<void> => {
  expect(await (await stage.ledger()).append(null, events)).toBe(true);
};
const BLOCKED: Event = { type: "infrastructure.blocked", issue: "the database is down" };
const REPAIRING: Event = { type: "remediation.started", attempt: 1 };
const REPAIRED: Event = { type: "remediation.finished", attempt: 1, fixes: ["restarted it"], durationMs: 1 };

describe("a running step when the engine ended", () => {
  test.each([
    ["stopped", -1, { detail: "the engine stopped during attempt 1", engine: "stopped" }],
    ["died", -1, { detail: "the engine died during attempt 1", engine: "died" }],
    ["died", 1001, { detail: "the machine was restarted during attempt 1", engine: "rebooted" }],
    ["died", 1000, { detail: "the engine died during attempt 1", engine: "died" }],
    ["stopped", 1001, { detail: "the engine stopped during attempt 1", engine: "stopped" }],
  ] as const)("is interrupted: %s, machine started at %i", async (how, bootedAt, told) => {
    const stage = await working();
    stage.disk.bootedAt = bootedAt;
    expect(await recover(await stage.ledger(), stage.world, how)).toBe(1);
    expect(await stage.events("work.interrupted")).toEqual([{ type: "work.interrupted", ...told }]);
    // What the agent left is forgotten: the attempt starts from what was kept.
    expect(stage.disk.files.get(stage.story.id)!.tree).toBe("t0");
    const { attempts, counters } = (await stage.ledger()).story(stage.story.id);
    expect([attempts[0]!.outcome, counters.attempts]).toEqual(["interrupted", 0]);
  });

  test("is interrupted if the start of the machine is unknown", async () => {
    const stage = await working();
    const { bootedAt: _unknown, ...clock } = stage.world.clock;
    stage.world = { ...stage.world, clock };
    await recover(await stage.ledger(), stage.world, "died");
    expect(await stage.events("work.interrupted")).toMatchObject([{ engine: "died" }]);
  });

  test("is reported if it had finished and only the journal did not have it", async () => {
    const stage = await working();
    const ended = { outcome: { type: "ready" }, summary: "done", durationMs: 4 };
    stage.disk.outbox.set("a/attempt-1", JSON.stringify(ended));
    stage.disk.deeds.outboxAsked.add("a/attempt-1");
    expect(await recover(await stage.ledger(), stage.world, "died")).toBe(0);
    expect(await stage.events("attempt.finished")).toMatchObject([{ attempt: 1, ...ended, tree: "t0+" }]);
    expect(await stage.events("work.interrupted")).toEqual([]);
    expect(stage.disk.outbox.size).toBe(0);
  });

  test("does not exist: nothing is interrupted", async () => {
    const idle = await createStage(POLICY);
    expect(await recoverStory(idle.story.id, await idle.ledger(), idle.world, "died")).toBe(false);
    expect(await recover(await idle.ledger(), idle.world, "died")).toBe(0);
    expect(await idle.events("work.interrupted")).toEqual([]);
  });

  test("is a set-up without files: nothing to forget", async () => {
    const stage = await createStage(POLICY);
    await stage.tell({ type: "story.started", by: "test" });
    const forgotten: string[] = [];
    const forget = async (id: string) => void forgotten.push(id);
    stage.world = { ...stage.world, workspace: { ...stage.world.workspace, forget } };
    expect(await recoverStory(stage.story.id, await stage.ledger(), stage.world, "died")).toBe(true);
    expect(forgotten).toEqual([]);
    expect(await stage.events("work.interrupted")).toMatchObject([{ detail: "the engine died during prepare" }]);
  });

  test("is a gate: it runs again, and the outbox is not read", async () => {
    const stage = await createStage(POLICY);
    await stage.until("start-attempt");
    const tree = (await stage.ledger()).story(stage.story.id).tree!;
    await stage.tell({ type: "gate.started", gate: "review", tree, stages: [] });
    stage.world = { ...stage.world, outbox: { ...stage.world.outbox, get: () => expect.unreachable() } };
    expect(await recoverStory(stage.story.id, await stage.ledger(), stage.world, "stopped")).toBe(true);
    expect(await stage.events("work.interrupted")).toMatchObject([
      { detail: "the engine stopped during the review gate" },
    ]);
  });

  test("is not interrupted by an engine that read an older journal", async () => {
    const stage = await working();
    const ledger = await stage.ledger();
    const state = ledger.story(stage.story.id);
    await stage.disk.journal.append(stage.story.id, state.seq, [{ type: "story.held", by: "ada" }], 0);
    expect(await recoverStory(stage.story.id, ledger, stage.world, "died")).toBe(false);
    expect(await stage.events("work.interrupted")).toEqual([]);
  });
});

describe("an agent that outlived the engine", () => {
  /** What is known of the programs: those of these dispatches are there. */
  function runsOf(stage: Stage, ...keys: readonly string[]): { asked: string[] } {
    const asked: string[] = [];
    const agentRuns: AgentRuns = {
      has: async (key) => keys.includes(key),
      endUnfinished: async (key) => void asked.push(`end unfinished ${key}`),
      drop: async (id) => void asked.push(`drop ${id}`),
      dropAllBut: async (kept) => void asked.push(`drop all but ${[...kept].join(", ")}`),
    };
    stage.world = { ...stage.world, agentRuns };
    return { asked };
  }

  test("is resumed with the same call on the current files, and its result counts", async () => {
    let hasDied = false;
    const stage = await createStage(POLICY, (on) => () => {
      if (!hasDied) edit(on);
      return agentResult(hasDied ? { text: READY, durationMs: 70 } : { status: "cancelled" });
    });
    await stage.until("start-attempt");
    hasDied = true;
    const { asked } = runsOf(stage, "a:3");
    expect(stage.requests[0]!.key).toBe("a:3");
    expect(await recover(await stage.ledger(), stage.world, "died")).toBe(0);
    const detail = "the engine died during attempt 1; its agent was found again";
    expect(await stage.events("work.resumed")).toEqual([{ type: "work.resumed", detail, engine: "died" }]);
    expect(asked).toEqual(["drop all but a:3"]);
    await stage.until("resume-work");
    const [first, again] = stage.requests;
    expect({ ...again, prompt: "" }).toEqual({ ...first, prompt: "" });
    expect(await stage.events("attempt.finished")).toMatchObject([
      { attempt: 1, outcome: { type: "ready" }, tree: "t0+", durationMs: 70 },
    ]);
    expect(await stage.events("attempt.started")).toHaveLength(1);
    expect(asked.at(-1)).toBe("drop a");
    expect((await stage.ledger()).story(stage.story.id).counters.engineDeaths).toBeUndefined();
  });

  test("with an unreadable reply is asked again, even if the engine died before it asked", async () => {
    const texts = ["Hm."];
    const stage = await createStage(POLICY, (on) => () => ready(on, { text: texts.shift() ?? READY }));
    await stage.until("start-attempt");
    runsOf(stage);
    expect(await recover(await stage.ledger(), stage.world, "died")).toBe(0);
    await stage.until("ask-again");
    expect(stage.requests.map(({ key, turn }) => [key, turn])).toEqual([
      ["a:3", 0],
      ["a:3", 1],
    ]);
    expect(await stage.events("attempt.finished")).toMatchObject([{ attempt: 1, outcome: { type: "ready" } }]);
  });

  test("is ended if the engine was stopped, or died three times in the same step", async () => {
    const stopped = await working();
    const { asked } = runsOf(stopped, "a:3");
    expect(await recover(await stopped.ledger(), stopped.world, "stopped")).toBe(1);
    expect(asked).toEqual(["drop a", "drop all but "]);
    const stage = await working();
    runsOf(stage, "a:3");
    const ledger = await stage.ledger();
    expect(await recover(ledger, stage.world, "died")).toBe(0);
    expect(await recover(ledger, stage.world, "died")).toBe(0);
    expect(await recover(ledger, stage.world, "died")).toBe(1);
    await stage.until("raise-escalation");
    expect(await stage.events("escalation.raised")).toMatchObject([
      { escalation: { reason: { type: "engine-died", times: 3, during: "attempt 1" } } },
    ]);
  });

  test("is a reviewer: its reply is found, and an unfinished one is asked again", async () => {
    const stage = await createStage(POLICY);
    await stage.until("start-attempt");
    await stage.until("start-gate");
    const { tree, seq } = (await stage.ledger()).story(stage.story.id);
    await stage.tell({ type: "gate.started", gate: "review", tree: tree!, stages: [] });
    const key = `a:${seq}`;
    const { asked } = runsOf(stage, key);
    const keys: string[] = [];
    const gate = stage.world.gates.get("review")!;
    const seen: Gate = { ...gate, run: (request, control) => (keys.push(request.key), gate.run(request, control)) };
    stage.world = { ...stage.world, gates: new Map([...stage.world.gates, ["review", seen]]) };
    expect(await recoverStory(stage.story.id, await stage.ledger(), stage.world, "died")).toBe(false);
    expect(asked).toEqual([`end unfinished ${key}`]);
    await stage.until("resume-work");
    expect(keys).toEqual([key]);
    expect(await stage.events("gate.started")).toHaveLength(2);
    expect((await stage.events("gate.judged")).at(-1)).toMatchObject({ judgement: { gate: "review" } });
  });
});

describe("a repair of the infrastructure when the engine ended", () => {
  test("counts as a try, and a health check follows", async () => {
    const stage = await createStage(POLICY);
    await toProject(stage, BLOCKED, REPAIRING);
    expect(await recover(await stage.ledger(), stage.world, "stopped")).toBe(1);
    expect(await stage.events("remediation.finished")).toEqual([
      { type: "remediation.finished", attempt: 1, fixes: [], durationMs: 0 },
    ]);
    expect((await stage.ledger()).state().remediation).toMatchObject({ stage: "repaired", tries: 1 });
    expect(await stage.events("health.checked")).toEqual([]);
  });

  test("whose health check ended the engine is not healthy", async () => {
    const stage = await createStage(POLICY);
    await toProject(stage, BLOCKED, REPAIRING, REPAIRED);
    expect(await recover(await stage.ledger(), stage.world, "died")).toBe(1);
    expect(await stage.events("health.checked")).toEqual([
      {
        type: "health.checked",
        healthy: false,
        remaining: ["the engine died before the health check was done"],
        durationMs: 0,
      },
    ]);
  });

  test("whose health check was stopped by a person is checked again", async () => {
    const stage = await createStage(POLICY);
    await toProject(stage, BLOCKED, REPAIRING, REPAIRED);
    expect(await recover(await stage.ledger(), stage.world, "stopped")).toBe(0);
    expect(await stage.events("health.checked")).toEqual([]);
  });

  test("that has not begun, or that another engine reported, is left alone", async () => {
    const waiting = await createStage(POLICY);
    await toProject(waiting, BLOCKED);
    expect(await recover(await waiting.ledger(), waiting.world, "died")).toBe(0);
    for (const before of [[REPAIRING], [REPAIRING, REPAIRED]]) {
      const stage = await createStage(POLICY);
      await toProject(stage, BLOCKED, ...before);
      const ledger = await stage.ledger();
      await stage.disk.journal.append(null, ledger.state().seq, [{ type: "run.resumed", by: "ada" }], 0);
      expect(await recover(ledger, stage.world, "died")).toBe(0);
    }
  });
});

test("the running step is named for people", () => {
  const state = newStory(story("a"), 0, 0);
  expect(whatRan(state)).toBe("nothing");
  const since = { since: 0, seq: 1 };
  expect(whatRan({ ...state, running: { type: "step", step: "blame", ...since } })).toBe("blame");
  expect(whatRan({ ...state, running: { type: "gate", gate: "ci", ...since } })).toBe("the ci gate");
});
