import { describe, expect, test } from "vitest";
import { presetPolicy } from "../../../src/config/presets.ts";
import { RemandError } from "../../../src/core/events/error.ts";
import type { Event } from "../../../src/core/events/event.ts";
import { roleName } from "../../../src/core/events/ids.ts";
import type { Policy } from "../../../src/core/events/policy.ts";
import { perform } from "../../../src/engine/perform/perform.ts";
import { recover } from "../../../src/engine/recover.ts";
import type { EngineWorld } from "../../../src/engine/world.ts";
import { decide } from "../../../src/decide/decide.ts";
import type { Gate } from "../../../src/ports/gate.ts";
import { agentResult } from "../../contract/agent-result.ts";
import { judgement } from "../../kit/story-world.ts";
import { edit, READY, ready, createStage, type Stage, type Work } from "../../kit/one-story.ts";

const POLICY = presetPolicy("critic-audit");
const DEVELOPER = roleName("developer");
const HELD: Event = { type: "story.held", by: "ada" };
/** Its critic never lets anything pass. */
function withCritic(stage: Stage): Stage {
  const review: Gate = {
    name: "review",
    criteria: () => [],
    run: async ({ tree }) => judgement("review", tree, "fail"),
  };
  stage.world = { ...stage.world, gates: new Map([["review", review]]) };
  return stage;
}
const gates = (policy: Policy, ...names: Policy["phases"][number]["gates"]): Policy => ({
  ...policy,
  phases: policy.phases.map((plan) => ({ ...plan, gates: names })),
});

describe("an attempt", () => {
  test("is in the journal, with its role and model, before the agent is dispatched", async () => {
    const seen: Event[] = [];
    const stage = await createStage(
      POLICY,
      (on) => async () => {
        seen.push(...(await on.events("attempt.started")));
        return ready(on);
      },
      { model: "small" },
    );
    await stage.until("start-attempt");
    expect(seen).toEqual([
      {
        type: "attempt.started",
        attempt: 1,
        phase: "implement",
        role: DEVELOPER,
        reworkOf: null,
        brief: null,
        forecastUsd: null,
        model: "small",
      },
    ]);
    expect(stage.requests[0]).toMatchObject({ model: "small", turn: 0, outputSchema: null, env: {} });
  });

  test("of an agent with its default model names none", async () => {
    const stage = await createStage(POLICY);
    await stage.until("start-attempt");
    expect((await stage.events("attempt.started"))[0]).not.toHaveProperty("model");
    expect(stage.requests[0]!.model).toBeNull();
  });

  test("is not dispatched if another engine has started it", async () => {
    const stage = await createStage(POLICY);
    await stage.until("start-story");
    const ledger = await stage.ledger();
    const [command] = decide(ledger.state(), POLICY, 0);
    await stage.disk.journal.append(stage.story.id, ledger.story(stage.story.id).seq, [HELD], 0);
    await perform(command!, ledger, stage.world, new AbortController().signal);
    expect(command!.type).toBe("start-attempt");
    expect(stage.requests).toHaveLength(0);
    expect(await stage.events("attempt.started")).toEqual([]);
  });

  test("of a role without an agent ends as missing, and says which role", async () => {
    const stage = await createStage(POLICY);
    stage.world = { ...stage.world, roleRegistry: { agentFor: async () => null } };
    await stage.until("start-attempt");
    expect(await stage.events("attempt.finished")).toMatchObject([
      { outcome: { type: "missing", detail: "no agent for developer" }, summary: "", durationMs: 0 },
    ]);
    expect((await stage.events("attempt.finished"))[0]).not.toHaveProperty("message");
  });

  test("may edit files and report, within the policy's time limit", async () => {
    const policy = {
      ...POLICY,
      limits: { ...POLICY.limits, timeoutMs: { ...POLICY.limits.timeoutMs, developer: 77 } },
    };
    const stage = await createStage(policy, undefined, { env: { KEY: "value" } });
    await stage.until("start-attempt");
    expect(stage.requests[0]).toMatchObject({
      access: "edit",
      report: { story: "a", kind: "work" },
      timeoutMs: 77,
      cwd: "a",
      env: { KEY: "value" },
    });
    expect(stage.requests[0]).not.toHaveProperty("maxCostUsd");
  });

  test("gets the remaining budget", async () => {
    const { limits } = POLICY;
    const stage = await createStage({ ...POLICY, limits: { ...limits, story: { ...limits.story, costUsd: 3 } } });
    await stage.until("start-attempt");
    expect(stage.requests[0]!.maxCostUsd).toBe(3);
  });

  test("shows the agent's output to the person who watches, and nothing else", async () => {
    const stage = await createStage(POLICY, (on) => (_request, control) => {
      control.onEvent({ type: "output", line: "reading" });
      control.onEvent({ type: "usage", costUsd: 1, tokens: 5 });
      control.onEvent({ type: "session", session: { agent: "developer", id: "s" } });
      return ready(on);
    });
    await stage.until("start-attempt");
    expect(stage.output).toEqual(["reading"]);
  });

  test("stores the whole message as evidence, with the reasons for changes outside the scope", async () => {
    const text = `Scope exception: src/z.ts: the type is declared there\n\n${READY}`;
    const stage = await createStage(POLICY, (on) => () => ready(on, { text }));
    await stage.until("start-attempt");
    const [finished] = await stage.events("attempt.finished");
    expect(stage.disk.evidence.get(finished!.message!)).toBe(text);
    expect(finished!.exceptions).toEqual([{ path: "src/z.ts", rationale: "the type is declared there" }]);
  });

  test("of an agent without a message stores no message and no exceptions", async () => {
    const stage = await createStage(POLICY, () => () => agentResult({ text: " \n" }), { reports: "exit" });
    await stage.until("start-attempt");
    const [finished] = await stage.events("attempt.finished");
    expect(finished).not.toHaveProperty("message");
    expect(finished).not.toHaveProperty("exceptions");
    expect(finished).not.toHaveProperty("session");
    expect(stage.disk.evidence.size).toBe(0);
  });

  test.each([
    [
      { costUsd: 0.5, tokens: 7, durationMs: 3 },
      { costUsd: 0.5, tokens: 7, durationMs: 3 },
    ],
    [{ costUsd: null, tokens: null, durationMs: 3 }, { durationMs: 3 }],
  ])("reports its cost, without unknown values: %j", async (used, reported) => {
    const stage = await createStage(POLICY, (on) => () => ready(on, used));
    await stage.until("start-attempt");
    const [finished] = await stage.events("attempt.finished");
    const { costUsd, tokens, durationMs } = finished!;
    expect(JSON.parse(JSON.stringify({ costUsd, tokens, durationMs }))).toEqual(reported);
  });

  test("that was stopped before it began dispatches and reports nothing, and starts again", async () => {
    const stage = await createStage(POLICY);
    await stage.until("start-story");
    await stage.until("start-attempt", AbortSignal.abort());
    expect(stage.requests).toHaveLength(0);
    expect(await stage.events("attempt.finished")).toEqual([]);
    await recover(await stage.ledger(), stage.world, "stopped");
    await stage.until("start-attempt");
    expect(stage.requests).toHaveLength(1);
  });

  test("that the stopping engine ended is not reported: recovery does that for all", async () => {
    const stage = await createStage(POLICY, () => () => agentResult({ status: "cancelled" }));
    await stage.until("start-attempt");
    expect(await stage.events("attempt.finished")).toEqual([]);
    expect((await stage.ledger()).story(stage.story.id).running).toMatchObject({ type: "attempt", attempt: 1 });
  });

  test("that a person stops ends as stopped by that person, and its work is kept", async () => {
    const stage = await createStage(POLICY, (on) => async () => {
      edit(on);
      await on.tell({ type: "story.held", by: "ada", now: true });
      return agentResult({ status: "cancelled", durationMs: 9 });
    });
    await stage.until("start-attempt");
    expect(await stage.events("attempt.finished")).toMatchObject([
      { outcome: { type: "stopped", by: "ada" }, tree: "t0+", summary: "", durationMs: 9 },
    ]);
  });

  test("that uses up a budget is cut short, with the larger of the reported and the measured use", async () => {
    const { limits } = POLICY;
    const policy = { ...POLICY, limits: { ...limits, story: { ...limits.story, costUsd: 3 } } };
    const stage = await createStage(policy, (on) => (_request, control) => {
      on.disk.nowMs += 5000;
      control.onEvent({ type: "usage", costUsd: 4, tokens: 11 });
      expect(control.signal.aborted).toBe(true);
      return agentResult({ status: "cancelled", costUsd: 1, tokens: 20, durationMs: 9 });
    });
    await stage.until("start-attempt");
    expect(await stage.events("attempt.finished")).toMatchObject([
      { outcome: { type: "cut-short", budget: "cost" }, summary: "", costUsd: 4, tokens: 20, durationMs: 5000 },
    ]);
    // It is reported once: the watch over the budget has nothing to add.
    expect(await stage.events("work.interrupted")).toEqual([]);
  });

  test("is not lost if the outbox fails and the journal does not", async () => {
    const stage = await createStage(POLICY);
    await stage.until("start-story");
    const full = async (key: string) => {
      stage.disk.deeds.outboxAsked.add(key);
      return Promise.reject(new RemandError("workspace-broken", "disk full", "make room"));
    };
    stage.world = { ...stage.world, outbox: { ...stage.world.outbox, put: full } };
    await stage.until("start-attempt");
    expect(await stage.events("attempt.finished")).toHaveLength(1);
    expect(await stage.events("step.failed")).toEqual([]);
  });

  test("whose work cannot be committed is a failed step, and the result stays in the outbox", async () => {
    const stage = await createStage(POLICY);
    await stage.until("start-story");
    const keep = async () => Promise.reject(new RemandError("workspace-broken", "no commit", "look at git"));
    stage.world = { ...stage.world, workspace: { ...stage.world.workspace, keep } };
    await stage.until("start-attempt");
    expect(await stage.events("attempt.finished")).toEqual([]);
    expect(await stage.events("step.failed")).toMatchObject([{ step: "dispatch", detail: "no commit — look at git" }]);
    expect(JSON.parse(stage.disk.outbox.get("a/attempt-1")!)).toMatchObject({ outcome: { type: "ready" } });
  });
});

describe("a conversation", () => {
  const talking =
    (agent: string): ((stage: Stage) => Work) =>
    (on) =>
    () =>
      ready(on, { session: { agent, id: "s1" } });

  test("is resumed with the same client", async () => {
    const stage = withCritic(await createStage(gates(POLICY, "review"), talking("developer")));
    await stage.until("start-attempt");
    await stage.until("start-attempt");
    expect(stage.requests.map(({ session }) => session)).toEqual([null, { agent: "developer", id: "s1" }]);
    expect(stage.requests.map(({ turn }) => turn)).toEqual([0, 1]);
  });

  test("of another client is not resumed", async () => {
    const stage = withCritic(await createStage(gates(POLICY, "review"), talking("another")));
    await stage.until("start-attempt");
    await stage.until("start-attempt");
    expect(stage.requests[1]!.session).toBeNull();
  });
});

describe("a message that cannot be read", () => {
  const unclear = (first: readonly string[]): ((stage: Stage) => Work) => {
    const texts = [...first];
    return (on) => () =>
      ready(on, { text: texts.shift() ?? READY, session: { agent: "developer", id: "s1" }, costUsd: 1, tokens: 2 });
  };

  test("is asked for again in the same conversation, with the attempt's model, as a separate turn", async () => {
    const stage = await createStage(POLICY, unclear(["Hm.", "Hm?"]), { model: "small" });
    await stage.until("start-attempt");
    expect(await stage.events("attempt.unclear")).toMatchObject([
      { attempt: 1, session: { agent: "developer", id: "s1" }, costUsd: 1, tokens: 2, durationMs: 1 },
    ]);
    expect((await stage.events("attempt.unclear"))[0]!.detail).not.toBe("");
    // The role's model changes meanwhile.
    const { agentFor } = stage.world.roleRegistry;
    const roleRegistry: EngineWorld["roleRegistry"] = {
      agentFor: async (role) => ({ ...(await agentFor(role))!, model: "large" }),
    };
    stage.world = { ...stage.world, roleRegistry };
    await stage.until("ask-again");
    await stage.until("ask-again");
    expect(stage.requests.map(({ model, turn }) => [model, turn])).toEqual([
      ["small", 0],
      ["small", 1],
      ["small", 2],
    ]);
    expect(stage.requests[1]!.session).toEqual({ agent: "developer", id: "s1" });
    const asks = POLICY.limits.clarifications;
    expect(stage.requests[1]!.prompt).toContain(`(asked 1 of ${asks} times)`);
    expect(stage.requests[2]!.prompt).toContain(`(asked 2 of ${asks} times)`);
    expect(stage.requests[1]!.prompt).not.toContain("### What Was Odd About It");
    expect(await stage.events("attempt.finished")).toMatchObject([{ attempt: 1, outcome: { type: "ready" } }]);
  });

  test("of a role that lost its agent ends the attempt as missing", async () => {
    const stage = await createStage(POLICY, unclear(["Hm."]));
    await stage.until("start-attempt");
    stage.world = { ...stage.world, roleRegistry: { agentFor: async () => null } };
    await stage.until("ask-again");
    expect(await stage.events("attempt.finished")).toMatchObject([
      { outcome: { type: "missing", detail: "no agent for developer" }, summary: "" },
    ]);
  });

  test("is asked for where the files are, and interrupted on other machines", async () => {
    const stage = await createStage(POLICY, unclear(["Hm."]));
    await stage.until("start-attempt");
    const isHere = async () => false;
    stage.world = { ...stage.world, workspace: { ...stage.world.workspace, isHere } };
    await stage.until("ask-again");
    expect(await stage.events("work.interrupted")).toEqual([
      { type: "work.interrupted", detail: "what attempt 1 has done is on another machine" },
    ]);
    expect(stage.requests).toHaveLength(1);
  });

  test("counts no turn for an attempt that was interrupted", async () => {
    const stage = await createStage(POLICY, (on) => {
      const is = on.requests.length === 1;
      return () => (is ? agentResult({ status: "cancelled" }) : ready(on));
    });
    await stage.until("start-attempt");
    await recover(await stage.ledger(), stage.world, "stopped");
    await stage.until("start-attempt");
    expect(stage.requests.map(({ turn }) => turn)).toEqual([0, 0]);
  });
});

describe("a phase whose product is text", () => {
  const PAGE = "# Story a\n\nMake it work.\n";
  async function refining(work: (stage: Stage) => Work): Promise<{ stage: Stage; files: Map<string, string> }> {
    const stage = await createStage(presetPolicy("story"), work);
    const files = new Map([["a.md", PAGE]]);
    const pages: EngineWorld["pages"] = {
      find: async () => ({ path: "a.md", original: PAGE }),
      read: async (_place, path) => files.get(path) ?? null,
      write: async (_place, path, text) => void files.set(path, text),
    };
    const fileAt = async () => files.get("a.md") ?? null;
    stage.world = { ...stage.world, pages, workspace: { ...stage.world.workspace, fileAt } };
    return { stage, files };
  }
  const SECTION = "## Refinement\n\nIt must add numbers.";

  test("is done by an agent that may only read, and by its message", async () => {
    const { stage, files } = await refining(() => () => agentResult({ text: `${SECTION}\n\n${READY}` }));
    await stage.until("start-attempt");
    expect(stage.requests[0]!.access).toBe("read");
    expect(stage.requests[0]).not.toHaveProperty("report");
    expect(files.get("a.md")).toContain("It must add numbers.");
    expect(await stage.events("attempt.finished")).toMatchObject([{ outcome: { type: "ready" } }]);
  });

  test("is asked for again if the message has no section, and the agent is told which one", async () => {
    const { stage } = await refining((on) => {
      const text = on.requests.length === 1 ? READY : `${SECTION}\n\n${READY}`;
      return () => agentResult({ text });
    });
    await stage.until("start-attempt");
    const missing = 'the section "## Refinement" has to be in the message, whole, before the signal';
    expect(await stage.events("attempt.unclear")).toMatchObject([{ detail: missing }]);
    await stage.until("ask-again");
    expect(stage.requests[1]!.prompt).toContain("### What Was Odd About It");
    expect(stage.requests[1]!.prompt).toContain("the section");
    expect(await stage.events("attempt.finished")).toMatchObject([{ outcome: { type: "ready" } }]);
  });

  test("takes nothing from an agent that crashed, and the section of an unclear reply", async () => {
    const broken = await refining(
      () => () => agentResult({ status: "failed", text: SECTION, error: { kind: "crash", message: "exit 1" } }),
    );
    await broken.stage.until("start-attempt");
    expect(broken.files.get("a.md")).toBe(PAGE);
    expect(await broken.stage.events("attempt.finished")).toMatchObject([{ outcome: { type: "crashed" } }]);
    const unclear = await refining(() => () => agentResult({ text: SECTION }));
    await unclear.stage.until("start-attempt");
    expect(await unclear.stage.events("attempt.unclear")).toHaveLength(1);
    expect(unclear.files.get("a.md")).toContain("It must add numbers.");
  });

  test("that the engine ended leaves the file unchanged", async () => {
    const { stage, files } = await refining(() => () => agentResult({ status: "cancelled", text: SECTION }));
    await stage.until("start-attempt");
    expect(files.get("a.md")).toBe(PAGE);
    expect(await stage.events("attempt.finished")).toEqual([]);
  });
});

test("a rework gets the failure and its gate", async () => {
  const stage = withCritic(await createStage(gates(POLICY, "review")));
  await stage.until("send-back");
  await stage.until("start-attempt");
  const [, second] = await stage.events("attempt.started");
  expect(second).toMatchObject({ attempt: 2, reworkOf: "review" });
  expect(second!.brief).not.toBeNull();
  expect(stage.requests[1]!.prompt).toBe(stage.disk.evidence.get(second!.brief!));
});
