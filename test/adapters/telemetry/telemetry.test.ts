import { afterAll, beforeEach, describe, expect, it, test } from "vitest";
import { createMemoryJournal } from "../../kit/memory-journal.ts";
import { isSdkRegistered, loadApi } from "../../../src/adapters/telemetry/load-api.ts";
import { type Telemetry, createOwnLines, createTelemetry } from "../../../src/adapters/telemetry/telemetry.ts";
import { presetPolicy } from "../../../src/config/presets.ts";
import { roleName, storyId } from "../../../src/core/events/ids.ts";
import type { AttemptStarted, Event } from "../../../src/core/events/event.ts";
import type { Journal, StoredEvent } from "../../../src/ports/journal.ts";
import type { Agent, AgentResult } from "../../../src/ports/agent.ts";
import type { Escalation } from "../../../src/core/stories/escalation.ts";
import { evolve } from "../../../src/fold/fold-event.ts";
import { EMPTY_RUN } from "../../../src/fold/new-state.ts";
import { agentRequest } from "../../contract/agent-request.ts";
import { answer, attemptEnd, blameEvent, judgement, story } from "../../kit/story-world.ts";
import { recordTelemetry } from "../../kit/record-telemetry.ts";

const SECRET = "hunter2-sk-live-0123456789";

const told = recordTelemetry();
beforeEach(() => told.forget());
afterAll(() => told.close());

/** A journal with telemetry, and a function that writes to it at chosen times. */
function desk(worker: string | null = "w1") {
  let nowMs = 0;
  const clock = { now: () => nowMs, sleep: () => Promise.resolve() };
  const telemetry = createTelemetry({ api: told.api, version: "1", project: "shop", worker, clock, identity: "abc" });
  const plain = createMemoryJournal();
  const ours = telemetry.journal(plain);
  const watcher = telemetry.watcher({ onLines: () => undefined, onOutput: () => undefined });
  const seqs = new Map<string | null, number>();
  let state = EMPTY_RUN;
  const write = async (journal: Journal, at: number, of: string | null, ...events: Event[]): Promise<void> => {
    nowMs = at;
    const stream = of === null ? null : storyId(of);
    const appended = await journal.append(stream, seqs.get(of) ?? 0, events, at);
    if (!appended.ok) throw new Error("conflict");
    seqs.set(of, (seqs.get(of) ?? 0) + events.length);
    for (const line of appended.stored) state = evolve(state, line);
    watcher.onLines(appended.stored, state);
  };
  return {
    telemetry,
    at: (ms: number) => void (nowMs = ms),
    ours: (at: number, of: string | null, ...events: Event[]) => write(ours, at, of, ...events),
    others: (at: number, of: string | null, ...events: Event[]) => write(plain, at, of, ...events),
    resume: () => telemetry.resume(state),
  };
}

const T0 = 1_700_000_000_000;
const START: Event = { type: "story.started", by: "engine" };
const PREPARED: Event = { type: "story.prepared", tree: "t0" as never, commit: "c0", preExisting: [SECRET] };
const ATTEMPT: AttemptStarted = {
  type: "attempt.started",
  attempt: 1,
  phase: "implement",
  role: roleName("developer"),
  reworkOf: null,
  brief: null,
  forecastUsd: null,
};
const QUESTION: Escalation = {
  id: "e1" as never,
  kind: "decision",
  reason: { type: "stall", stall: "same-failure", detail: SECRET },
  gate: "checks",
  title: SECRET,
  assessment: SECRET,
  recommendation: SECRET,
  question: SECRET,
  options: [{ verb: "send-back", does: SECRET, cost: SECRET }],
  attempts: [{ attempt: 1, tried: SECRET, failed: SECRET }],
  branch: "b",
  commit: "c",
};

/** Writes one story from start to end, with text of agents and people in every field that takes text. */
async function wholeStory(write: ReturnType<typeof desk>["ours"], others = write): Promise<void> {
  const policy = { ...presetPolicy("critic-audit") };
  await write(T0, null, { type: "policy.set", policy, by: SECRET });
  await write(T0, "login", { type: "story.added", story: story("login", { title: SECRET, body: SECRET }) });
  await write(T0 + 1000, "login", START);
  await write(T0 + 2000, "login", PREPARED);
  await write(T0 + 3000, "login", ATTEMPT);
  const ended = attemptEnd(1, { type: "ready" }, "t1", { changed: [SECRET], costUsd: 0.25, summary: SECRET });
  await write(T0 + 63_000, "login", { ...ended, tokens: 1200 } as Event);
  await write(T0 + 64_000, "login", { type: "gate.started", gate: "checks", tree: "t1" as never, stages: [] });
  const failed = judgement("checks", "t1", "fail", { failure: SECRET, more: { summary: SECRET, tokens: 7 } });
  await write(T0 + 70_000, "login", { type: "gate.judged", judgement: failed });
  await write(T0 + 71_000, "login", { type: "step.started", step: "blame" });
  await write(T0 + 75_000, "login", blameEvent("checks", "culprit", SECRET));
  await write(T0 + 76_000, "login", { type: "escalation.raised", escalation: QUESTION });
  await others(T0 + 3_676_000, "login", answer("send-back", { message: SECRET, by: SECRET }));
  await write(T0 + 3_677_000, "login", { ...ATTEMPT, attempt: 2, reworkOf: "checks" });
  await write(T0 + 3_678_000, "login", attemptEnd(2, { type: "crashed", detail: SECRET }, "t1"));
  await write(T0 + 3_680_000, "login", { type: "story.failed", how: "exhausted", reason: SECRET });
}

describe("traces", () => {
  it("report each piece with its times and result, without text of a person or agent", async () => {
    const { ours } = desk();
    await wholeStory(ours);
    const spans = told.spans();
    const shown = spans.map(({ name, sinceMs, atMs }) => `${name}: ${sinceMs - T0}–${atMs - T0}`);
    expect(shown).toEqual([
      "step prepare: 1000–2000",
      "attempt implement: 3000–63000",
      "gate checks: 64000–70000",
      "step blame: 71000–75000",
      "escalation: 76000–3676000",
      "attempt implement: 3677000–3678000",
      "story: 1000–3680000",
    ]);
    const [, attempt, gate, blame, escalation, rework, whole] = spans.map(({ attributes }) => attributes);
    const about = { "remand.project": "shop", "remand.worker": "w1", "remand.story": "login" };
    expect(attempt).toEqual({
      ...about,
      "remand.attempt": 1,
      "remand.phase": "implement",
      "remand.rework": false,
      "gen_ai.agent.name": "developer",
      "remand.outcome": "ready",
      "remand.changed_files": 1,
      "remand.tokens": 1200,
      "remand.cost_usd": 0.25,
    });
    expect(gate).toMatchObject({ ...about, "remand.gate": "checks", "remand.result": "fail", "remand.blocking": 1 });
    expect(blame).toMatchObject({ "remand.step": "blame", "remand.cause": "culprit", "remand.blame.basis": "ranked" });
    expect(escalation).toMatchObject({ "remand.escalation.reason": "stall", "remand.answer": "send-back" });
    expect(rework).toMatchObject({ "remand.rework_of": "checks", "error.type": "crashed" });
    expect(whole).toMatchObject({ "remand.outcome": "exhausted", "remand.attempts": 2, "remand.cost_usd": 0.25 });
    expect(spans.map(({ status }) => status)).toEqual([0, 0, 0, 0, 0, 2, 0]);
    expect(JSON.stringify([spans, await told.measured()])).not.toContain("hunter2");
  });

  it("are one per story, with the same ids from every worker", async () => {
    const one = desk("w1");
    await wholeStory(one.ours);
    const [first] = told.spans();
    told.forget();
    const two = desk("w2");
    await wholeStory(two.ours);
    expect(new Set(told.spans().map(({ traceId }) => traceId))).toEqual(new Set([first!.traceId]));
    expect(new Set(told.spans().map(({ parent }) => parent))).toEqual(new Set([first!.parent]));
    await two.ours(T0, "other", { type: "story.added", story: story("other") });
    await two.ours(T0, "other", START, PREPARED);
    expect(told.spans().at(-1)!.traceId).not.toBe(first!.traceId);
  });

  it("report nothing that other workers did", async () => {
    const { others } = desk();
    await wholeStory(others);
    expect(told.spans()).toEqual([]);
  });

  it("report another worker's piece if this one ends it, and omit a piece that another one ended", async () => {
    const heir = desk("heir");
    await heir.others(T0, null, { type: "policy.set", policy: presetPolicy("critic-audit"), by: "x" });
    await heir.others(T0, "a", { type: "story.added", story: story("a") }, START, PREPARED, ATTEMPT);
    heir.resume();
    await heir.ours(T0 + 9000, "a", { type: "work.interrupted", detail: SECRET });
    expect(told.spans()).toMatchObject([
      { name: "attempt implement", sinceMs: T0, atMs: T0 + 9000, attributes: { "error.type": "interrupted" } },
    ]);
    told.forget();
    await heir.ours(T0 + 10_000, "a", { ...ATTEMPT, attempt: 2 });
    await heir.others(T0 + 11_000, "a", { type: "work.interrupted", detail: "taken over" });
    await heir.ours(T0 + 12_000, "a", { ...ATTEMPT, attempt: 3 });
    await heir.ours(T0 + 13_000, "a", attemptEnd(3, { type: "ready" }, "t3"));
    expect(told.spans().map(({ attributes }) => attributes["remand.attempt"])).toEqual([3]);
  });

  it("report a piece that a person interrupted, if this worker was doing it", async () => {
    const { ours, others } = desk();
    await ours(T0, null, { type: "policy.set", policy: presetPolicy("critic-audit"), by: "x" });
    await ours(T0, "a", { type: "story.added", story: story("a") });
    await ours(T0 + 1, "a", START);
    await ours(T0 + 2, "a", PREPARED);
    await ours(T0 + 3, "a", ATTEMPT);
    await others(T0 + 4, "a", answer("abandon"));
    expect(told.spans().at(-1)).toMatchObject({ atMs: T0 + 4, attributes: { "remand.outcome": "ended-by-person" } });
  });

  it("never end before they began, even if two clocks differ", async () => {
    const { ours, others } = desk();
    await others(T0, null, { type: "policy.set", policy: presetPolicy("critic-audit"), by: "x" });
    await others(T0, "a", { type: "story.added", story: story("a") });
    await others(T0 + 500, "a", START);
    await ours(T0, "a", PREPARED);
    expect(told.spans()).toMatchObject([{ sinceMs: T0 + 500, atMs: T0 + 500 }]);
  });
});

describe("metrics", () => {
  it("count this worker's steps, with few attributes and never by story", async () => {
    const { ours, others, telemetry } = desk();
    await wholeStory(ours, others);
    await ours(T0, "open", { type: "story.added", story: story("open") });
    telemetry.tookOver(3);
    const points = await told.measured();
    const of = (name: string) => points.filter((point) => point.name === name);
    expect(of("remand.attempts").map(({ attributes }) => attributes["remand.outcome"])).toContain("crashed");
    expect(of("remand.judgements")).toContainEqual(
      expect.objectContaining({
        attributes: { "remand.gate": "checks", "remand.result": "fail" },
      }),
    );
    expect(of("remand.takeovers")).toMatchObject([{ value: 3 }]);
    expect(of("remand.stories.open").at(-1)).toMatchObject({ value: 1 });
    expect(of("remand.stories.waiting_for_person").at(-1)).toMatchObject({ value: 0 });
    expect(of("remand.queue.depth").map(({ attributes }) => attributes["remand.lane"])).toContain("developers");
    expect(of("remand.escalation.duration")).toMatchObject([{ unit: "s" }]);
    const names = points.flatMap(({ attributes }) => Object.keys(attributes));
    expect(names).not.toContain("remand.story");
  });
});

describe("calls of agents", () => {
  const RESULT: AgentResult = {
    status: "completed",
    session: { agent: "claude", id: "conversation-1" },
    text: SECRET,
    output: null,
    tokens: 1500,
    costUsd: 0.5,
    denied: [SECRET],
    error: null,
    durationMs: 10,
    usage: { model: "claude-opus-4-5", inputTokens: 1200, outputTokens: 300 },
  };
  const request = (key: string) => agentRequest("/x", { prompt: SECRET, model: "opus", env: { KEY: SECRET }, key });

  async function asked(telemetry: Telemetry, name: string, key: string, answers: () => Promise<AgentResult>) {
    const agent: Agent = { name, run: answers };
    const roleRegistry = telemetry.roleRegistry({
      agentFor: () => Promise.resolve({ agent, model: "opus", prompt: "", reports: "signal", env: {} }),
    });
    const player = await roleRegistry.agentFor(roleName("critic"));
    expect(player!.agent.name).toBe(name);
    return player!.agent.run(request(key), { signal: new AbortController().signal, onEvent: () => undefined });
  }

  it("are reported by the conventions for generative AI, without their text", async () => {
    const { telemetry, at } = desk();
    at(T0);
    await asked(telemetry, "claude", "login:7", () => {
      at(T0 + 2500);
      return Promise.resolve(RESULT);
    });
    expect(told.spans()).toMatchObject([{ name: "invoke_agent critic", sinceMs: T0, atMs: T0 + 2500, status: 0 }]);
    expect(told.spans()[0]!.attributes).toEqual({
      "remand.project": "shop",
      "remand.worker": "w1",
      "remand.story": "login",
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": "anthropic",
      "gen_ai.agent.name": "critic",
      "gen_ai.request.model": "opus",
      "gen_ai.response.model": "claude-opus-4-5",
      "gen_ai.conversation.id": "conversation-1",
      "gen_ai.usage.input_tokens": 1200,
      "gen_ai.usage.output_tokens": 300,
      "remand.client": "claude",
      "remand.goes_on": false,
      "remand.status": "completed",
      "remand.tokens": 1500,
      "remand.cost_usd": 0.5,
    });
    const usage = (await told.measured()).filter(({ name }) => name === "gen_ai.client.token.usage");
    expect(usage.map(({ attributes }) => String(attributes["gen_ai.token.type"])).sort()).toEqual(["input", "output"]);
  });

  it("report the kind of an error, and not its message", async () => {
    const { telemetry } = desk();
    const error = { kind: "rate-limit", message: SECRET } as const;
    await asked(telemetry, "codex", "login:7", () =>
      Promise.resolve({ ...RESULT, status: "failed", error, usage: { model: `${SECRET} and more` } }),
    );
    await expect(asked(telemetry, "codex", "login:8", () => Promise.reject(new Error(SECRET)))).rejects.toThrow(
      "hunter2",
    );
    expect(told.spans()).toMatchObject([
      { status: 2, attributes: { "error.type": "rate-limit", "gen_ai.provider.name": "openai" } },
      { status: 2, attributes: { "error.type": "thrown" } },
    ]);
    expect(JSON.stringify(told.spans())).not.toContain("hunter2");
  });

  it("name a custom command by its program, and a model by its provider", async () => {
    const { telemetry } = desk();
    await asked(telemetry, "/home/ada/bin/agent.sh", "login:7", () => Promise.resolve(RESULT));
    await asked(telemetry, "model", "login:7", () => Promise.resolve(RESULT));
    expect(told.spans().map(({ attributes }) => attributes["gen_ai.provider.name"])).toEqual(["agent.sh", "opus"]);
    expect(JSON.stringify(told.spans())).not.toContain("/home/ada");
  });

  it("of the project itself belong to no story", async () => {
    const { telemetry } = desk();
    await asked(telemetry, "model", "@project:3", () => Promise.resolve(RESULT));
    expect(told.spans()[0]!.attributes).not.toHaveProperty("remand.story");
    expect(told.spans()[0]!.parent).toBeUndefined();
  });
});

describe("the owner of a line", () => {
  const line = (position: number): StoredEvent => ({ position }) as StoredEvent;

  test("is known even if it is folded before its append has resolved", async () => {
    const own = createOwnLines();
    const resolvers: ((lines: readonly StoredEvent[]) => void)[] = [];
    const journal = own.around<Pick<Journal, "append">>({
      append: () => new Promise((resolve) => resolvers.push((stored) => resolve({ ok: true, stored }))),
    });
    const heard: string[] = [];
    const ask = (position: number): void =>
      own.whose(position, (isOurs) => void heard.push(`${position} ${isOurs ? "ours" : "others"}`));
    ask(1);
    expect(heard).toEqual(["1 others"]);
    const [first, second] = [journal.append(null, 0, [], 0), journal.append(null, 0, [], 0)];
    ask(2);
    ask(3);
    expect(heard).toHaveLength(1);
    resolvers[0]!([line(3)]);
    await first;
    expect(heard).toEqual(["1 others", "3 ours"]);
    resolvers[1]!([line(4)]);
    await second;
    expect(heard).toEqual(["1 others", "3 ours", "2 others"]);
    ask(4);
    expect(heard.at(-1)).toBe("4 ours");
    ask(4);
    expect(heard.at(-1)).toBe("4 others");
  });

  test("is not this process if the append was rejected or failed", async () => {
    const own = createOwnLines();
    const refused = own.around<Pick<Journal, "append">>({
      append: () => Promise.resolve({ ok: false, conflict: { expected: 0, actual: 1 } }),
    });
    const broken = own.around<Pick<Journal, "append">>({ append: () => Promise.reject(new Error("gone")) });
    const heard: boolean[] = [];
    const appending = refused.append(null, 0, [], 0);
    own.whose(1, (isOurs) => void heard.push(isOurs));
    await appending;
    await expect(broken.append(null, 0, [], 0)).rejects.toThrow("gone");
    own.whose(2, (isOurs) => void heard.push(isOurs));
    expect(heard).toEqual([false, false]);
  });
});

describe("loading", () => {
  const missing = Object.assign(new Error("no"), { code: "ERR_MODULE_NOT_FOUND" });

  it("detects whether there is an SDK", () => {
    expect(isSdkRegistered()).toBe(true);
    expect(isSdkRegistered({})).toBe(false);
    expect(isSdkRegistered({ [Symbol.for("opentelemetry.js.api.1")]: { version: "1.9.0" } })).toBe(false);
  });

  it("uses Remand's own API, else the project's, else none; a broken one is reported", async () => {
    expect((await loadApi("/nowhere"))?.trace).toBe(told.api.trace);
    expect(await loadApi("/nowhere", () => Promise.reject(missing))).toBeNull();
    const ofProject = await loadApi(process.cwd(), () => Promise.reject(missing));
    expect(typeof ofProject?.trace.getTracer).toBe("function");
    await expect(loadApi("/nowhere", () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  });
});
