import { describe, expect, test } from "vitest";
import { presetPolicy } from "../../../src/config/presets.ts";
import { roleName } from "../../../src/core/events/ids.ts";
import type { Policy } from "../../../src/core/events/policy.ts";
import { perform } from "../../../src/engine/perform/perform.ts";
import { decide } from "../../../src/decide/decide.ts";
import type { Gate } from "../../../src/ports/gate.ts";
import { agentResult } from "../../contract/agent-result.ts";
import { judgement } from "../../kit/story-world.ts";
import { ready, createStage, type Stage } from "../../kit/one-story.ts";

const PRESET = presetPolicy("critic-audit");
const POLICY: Policy = { ...PRESET, phases: PRESET.phases.map((plan) => ({ ...plan, gates: ["review"] })) };
const DEVELOPER = roleName("developer");

/** Its critic asks the developer something, and never lets anything pass. */
function withCritic(stage: Stage): Stage {
  const review: Gate = {
    name: "review",
    criteria: () => [],
    run: async ({ tree }) => judgement("review", tree, "fail", { more: { asked: { [DEVELOPER]: 3 } } }),
  };
  stage.world = { ...stage.world, gates: new Map([["review", review]]) };
  return stage;
}

/** Does the next attempt as it was decided, with something else about it. */
async function performed(stage: Stage, more: object, signal = new AbortController().signal): Promise<void> {
  const ledger = await stage.ledger();
  const [command] = decide(ledger.state(), ledger.state().policy!, 0);
  expect(command!.type).toBe("start-attempt");
  await perform({ ...command!, ...more }, ledger, stage.world, signal);
}

describe("the journal says of an attempt", () => {
  test("its phase of test-first work, if there is one", async () => {
    const stage = await createStage(POLICY);
    await stage.until("start-story");
    await performed(stage, { tddPhase: "red" });
    expect(await stage.events("attempt.started")).toMatchObject([{ tddPhase: "red" }]);
  });

  test("a stronger model and a new conversation, with the numbers of failures", async () => {
    const stage = await createStage(POLICY, undefined, { model: "small" });
    await stage.until("start-story");
    await performed(stage, { stronger: { model: "large", failures: 2 }, fresh: { failures: 4 } });
    const [started] = await stage.events("attempt.started");
    expect(started).toMatchObject({ model: "large", stronger: { failures: 2 }, fresh: { failures: 4 } });
    expect(stage.requests[0]!.model).toBe("large");
  });

  test("nothing that does not apply", async () => {
    const stage = await createStage(POLICY);
    await stage.until("start-attempt");
    const [started] = await stage.events("attempt.started");
    for (const key of ["tddPhase", "stronger", "fresh", "model"]) expect(started).not.toHaveProperty(key);
  });
});

describe("the turn of a role", () => {
  test("counts questions of others, and no attempt of another role", async () => {
    const stage = withCritic(await createStage(POLICY));
    await stage.until("send-back");
    await performed(stage, {});
    // Its own attempt, and what the critic has asked it.
    expect(stage.requests[1]!.turn).toBe(4);
    const other = withCritic(await createStage(POLICY));
    await other.until("send-back");
    await performed(other, { role: roleName("architect") });
    expect(other.requests[1]!.turn).toBe(0);
  });
});

describe("a rework of a merge conflict", () => {
  const merging = async (isCurrent: boolean): Promise<Stage> => {
    const stage = await createStage(POLICY);
    await stage.until("start-story");
    const integration = {
      ...stage.world.integration!,
      mergeStatus: async () => ({ isCurrent }) as never,
      align: async () => ({ why: "branch-moved", detail: "f00 is on the branch", commit: "f00" }) as never,
    };
    stage.world = { ...stage.world, integration };
    return stage;
  };

  test("is not dispatched if the branch holds a commit that no gate has passed", async () => {
    const stage = await merging(false);
    await performed(stage, { reworkOf: "merge" });
    expect(stage.requests).toHaveLength(0);
    expect(await stage.events("delivery.refused")).toHaveLength(1);
  });

  test("is dispatched at once if the branch has all of its target", async () => {
    const stage = await merging(true);
    await performed(stage, { reworkOf: "merge" });
    expect(stage.requests).toHaveLength(1);
  });

  test("is the only rework for which the branch is updated", async () => {
    const stage = await merging(false);
    await performed(stage, { reworkOf: "review" });
    expect(stage.requests).toHaveLength(1);
  });
});

describe("an agent that is stopped", () => {
  test("by a person before it started is dispatched anyway, and reports that it was stopped", async () => {
    const stage = await createStage(POLICY);
    await stage.until("start-story");
    const { prepare } = stage.world.workspace;
    const calls: unknown[] = [];
    stage.world = {
      ...stage.world,
      roleRegistry: {
        agentFor: async (role) => ({
          agent: {
            name: role,
            run: async (_request, { signal }) => agentResult({ status: signal.aborted ? "cancelled" : "completed" }),
          },
          model: null,
          prompt: "",
          reports: "signal",
          env: {},
        }),
      },
      workspace: {
        ...stage.world.workspace,
        prepare: async (...args) => {
          calls.push(args[1]);
          if ((await stage.ledger()).story(stage.story.id).stopping === null)
            await stage.tell({ type: "story.held", by: "ada", now: true });
          return prepare(...args);
        },
      },
    };
    await performed(stage, {}, AbortSignal.abort());
    expect(await stage.events("attempt.finished")).toMatchObject([{ outcome: { type: "stopped", by: "ada" } }]);
    expect(calls).toContainEqual([]);
  });

  test("by a budget used the time since its start, and not since the start of the clock", async () => {
    const { limits } = POLICY;
    const policy = { ...POLICY, limits: { ...limits, story: { ...limits.story, costUsd: 3 } } };
    const stage = await createStage(policy, (on) => (_request, control) => {
      on.disk.nowMs += 50;
      control.onEvent({ type: "usage", costUsd: 4, tokens: null });
      return { ...ready(on), status: "cancelled", text: "", durationMs: 1 };
    });
    stage.disk.nowMs = 7000;
    await stage.until("start-attempt");
    expect(await stage.events("attempt.finished")).toMatchObject([{ durationMs: 50 }]);
  });
});
