import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Agent, AgentEvent, AgentRequest, AgentResult } from "../../src/ports/agent.ts";
import { agentRequest } from "./agent-request.ts";

/** What an agent can be made to do, in words that every adapter can put into practice. */
export interface Behaviour {
  readonly writes?: { readonly path: string; readonly text: string };
  readonly says?: string;
  readonly ends?: "well" | "crash" | "hang" | "garbled" | "auth" | "overloaded" | "bad-request" | ProviderTrouble;
  /** What it answers where a form of answer is asked for. */
  readonly answers?: object;
  readonly costs?: { readonly costUsd: number; readonly tokens: number };
}

/** What only a client that talks to a provider can tell apart. */
export type ProviderTrouble = "rate-limit" | "refused" | "credit" | "context-length";

export interface AgentUnderTest {
  /** An agent that does this each time. `folder` is its own, for whatever it needs. */
  make(behaviour: Behaviour, folder: string): Agent;
  /** How many processes of its dispatches still run. */
  leftovers(): Promise<number>;
  /** For a client of a provider: it converses, has forms of answers, sandboxes, and its provider's troubles. */
  readonly client?: {
    /** What one answer of its model costs. */
    readonly answer: { readonly tokens: number; readonly costUsd: number | null };
    /** The trouble it tells apart; the others it cannot have. */
    readonly troubles: readonly ProviderTrouble[];
    /** The prompts that its model was shown in the newest request, the oldest first. */
    prompts(): readonly string[];
    /** What it cannot do at all. */
    readonly lacks?: readonly ("edits" | "conversations" | "forms" | "processes")[];
  };
  /** What its requests have in common. */
  readonly request?: Partial<AgentRequest>;
}

/** What every agent promises, whatever it drives. */
export function describeAgent(name: string, subject: AgentUnderTest): void {
  let cwd: string;
  let folder: string;
  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), "remand-worktree-"));
    folder = mkdtempSync(join(tmpdir(), "remand-own-"));
  });
  afterEach(async () => {
    rmSync(cwd, { recursive: true, force: true });
    rmSync(folder, { recursive: true, force: true });
    expect(await subject.leftovers()).toBe(0);
  });

  async function run(behaviour: Behaviour, changes: Partial<AgentRequest> = {}, signal = new AbortController().signal) {
    const events: AgentEvent[] = [];
    const request = agentRequest(cwd, { key: "checkout:3", ...subject.request, ...changes });
    const result = await subject
      .make(behaviour, folder)
      .run(request, { signal, onEvent: (event) => events.push(event) });
    return { result, events };
  }

  const lacks = (what: "edits" | "conversations" | "forms" | "processes"): boolean =>
    subject.client?.lacks?.includes(what) ?? false;

  describe(`${name} keeps the agents' promises`, () => {
    test("work that went well is completed, and what it said is its text", async () => {
      const { result } = await run({ says: "READY_FOR_REVIEW: checkout" });
      expect(result).toMatchObject({ status: "completed", error: null, output: null, denied: [] });
      if (subject.client === undefined) expect(result.session).toBeNull();
      expect(result.text.trim()).toBe("READY_FOR_REVIEW: checkout");
      expect(result.durationMs).toBeGreaterThanOrEqual(0);
    });

    test.runIf(lacks("edits"))("it changes no files, and refuses a request to edit", async () => {
      const { result } = await run({ says: "done" }, { access: "edit" });
      expect(result).toMatchObject({ status: "failed", error: { kind: "bad-request", fix: expect.any(String) } });
    });

    test.skipIf(lacks("edits"))("it changes files where it was told to work", async () => {
      const { result } = await run({ writes: { path: "deep/er/file name.txt", text: "ünï\n" }, says: "done" });
      expect(result.status).toBe("completed");
      expect(readFileSync(join(cwd, "deep/er/file name.txt"), "utf8")).toBe("ünï\n");
    });

    test.skipIf(subject.client !== undefined)("what it did not say of its cost is unknown, and not zero", async () => {
      const { result } = await run({ says: "done" });
      expect(result).toMatchObject({ tokens: null, costUsd: null });
    });

    test.skipIf(subject.client !== undefined)("what it said of its cost is passed on", async () => {
      const { result } = await run({ says: "done", costs: { costUsd: 0.25, tokens: 1200 } });
      expect(result).toMatchObject({ status: "completed", tokens: 1200, costUsd: 0.25 });
    });

    test.each([
      ["crash", "crash"],
      ["auth", "auth"],
      ["overloaded", "overloaded"],
      ["bad-request", "bad-request"],
      ...(subject.client?.troubles ?? []).map((trouble) => [trouble, trouble] as const),
    ] as const)("an agent that ends by %s is a value, and its kind is told", async (ends, kind) => {
      const { result } = await run({ says: "some words", ends });
      expect(result.status).toBe("failed");
      expect(result.error?.kind).toBe(kind);
      expect(result.error?.message).not.toBe("");
    });

    test("an error that a person can fix says how", async () => {
      const { result } = await run({ ends: "auth" });
      expect(result.error?.fix).toMatch(/\w/);
    });

    test("its output is shown line by line while it works", async () => {
      const { events } = await run({ says: "first\nsecond" });
      const lines = events.flatMap((event) => (event.type === "output" ? [event.line] : []));
      expect(lines).toEqual(expect.arrayContaining(["first", "second"]));
      expect(lines.indexOf("first")).toBeLessThan(lines.indexOf("second"));
    });

    test("a timeout really ends it", async () => {
      // It hangs for ever: were it not ended, the test's own limit would be over.
      const { result } = await run({ ends: "hang" }, { timeoutMs: 700 });
      expect(result).toMatchObject({ status: "timeout", error: null });
      expect(result.durationMs).toBeGreaterThanOrEqual(690);
    });

    test("a cancellation ends it at once, and no process is left", async () => {
      const over = new AbortController();
      setTimeout(() => over.abort(), 400);
      const { result } = await run({ ends: "hang" }, { timeoutMs: 3_600_000 }, over.signal);
      expect(result).toMatchObject({ status: "cancelled", error: null });
    });

    test("one that was cancelled before it began does nothing", async () => {
      const { result } = await run({ writes: { path: "a.txt", text: "a" } }, {}, AbortSignal.abort());
      expect(result.status).toBe("cancelled");
      expect(existsSync(join(cwd, "a.txt"))).toBe(false);
    });

    // A provider has limits of its own; this is beyond those of a command line in any case.
    const megabytes = subject.client === undefined ? 5 : 0.3;
    test(`a prompt of ${megabytes} megabytes is no trouble, read or not`, async () => {
      const { result } = await run({ says: "done" }, { prompt: "long ".repeat((megabytes / 5) * 1024 * 1024) });
      expect(result).toMatchObject<Partial<AgentResult>>({ status: "completed", error: null });
    });

    test.skipIf(lacks("processes"))("a worktree that is not there is a failure, and not a throw", async () => {
      const { result } = await run({ writes: { path: "a.txt", text: "a" } }, { cwd: join(cwd, "nowhere") });
      expect(result.status).toBe("failed");
      expect(result.error?.message).toMatch(/nowhere/);
    });
  });

  const { client } = subject;
  if (client === undefined) return;
  describe(`${name} keeps the promises of a provider's client`, () => {
    test.skipIf(lacks("conversations"))(
      "a conversation has its name before anything is said, and goes on with what was said in it",
      async () => {
        const first = await run({ says: "I remember" }, { prompt: "the word is heron" });
        expect(first.result.session).toMatchObject({ agent: name });
        const [begun] = first.events.flatMap((event) => (event.type === "session" ? [event.session.id] : []));
        expect(begun).toBe(first.result.session?.id);
        const second = await run({ says: "heron" }, { prompt: "say the word", session: first.result.session });
        expect(second.result.session?.id).toBe(first.result.session?.id);
        expect(client.prompts().map((prompt) => prompt.trim().split("\n").at(-1))).toEqual([
          "the word is heron",
          "say the word",
        ]);
      },
    );

    test.skipIf(lacks("conversations"))("a run says what it used, and not what the conversation has used", async () => {
      const { tokens, costUsd } = client.answer;
      const first = await run({ says: "one" });
      expect(first.result).toMatchObject({ tokens, costUsd });
      const second = await run({ says: "two" }, { session: first.result.session });
      expect(second.result).toMatchObject({ status: "completed", tokens, costUsd });
      const third = await run({ writes: { path: "a.txt", text: "a" } }, { session: second.result.session });
      // It is asked twice: to call the tool, and to say that it is done.
      expect(third.result.tokens).toBe(2 * tokens);
      if (costUsd !== null) expect(third.result.costUsd).toBeCloseTo(2 * costUsd, 8);
      expect(third.result.session?.totals?.tokens).toBe(4 * tokens);
    });

    test.skipIf(lacks("conversations"))("a conversation that the client no longer knows is started again", async () => {
      const session = { agent: name, id: "11111111-1111-4111-8111-111111111111", totals: { tokens: 5000 } };
      const { result, events } = await run({ says: "done" }, { session });
      expect(result).toMatchObject({ status: "completed", error: null, tokens: client.answer.tokens });
      expect(result.session?.id).toMatch(/^[0-9a-f-]{36}$/);
      expect(result.session?.id).not.toBe(session.id);
      expect(events).toContainEqual({ type: "output", line: expect.stringMatching(/a new one is begun/) });
    });

    test("what its provider sends instead of an answer is a failure, and not a throw", async () => {
      const { result } = await run({ ends: "garbled" });
      expect(result.status).toBe("failed");
      expect(result.error?.kind).toMatch(/^(?:crash|overloaded|bad-request)$/);
      expect(result.error?.message).not.toBe("");
    });

    test("a run without a conversation to go on with says what it used", async () => {
      const { result } = await run({ says: "one" });
      expect(result).toMatchObject({ status: "completed", ...client.answer });
    });

    test.skipIf(lacks("edits"))("who may only look changes nothing, and it is told what was refused", async () => {
      const request = { access: "read" } as const;
      const { result, events } = await run({ writes: { path: "a.txt", text: "a" }, says: "done" }, request);
      expect(result.status).toBe("completed");
      expect(result.denied).not.toEqual([]);
      expect(events).toContainEqual({ type: "output", line: `refused: ${result.denied[0]}` });
      expect(readdirSync(cwd)).toEqual([]);
    });

    test.skipIf(lacks("forms"))(
      "it answers in the form that was asked for; what may be left out is left out",
      async () => {
        const issue = { severity: "major", category: "style", description: "no name", line: 3 };
        const answers = { passed: false, issues: [issue] };
        const { result } = await run({ answers }, { access: "read", outputSchema: FORM });
        expect(result).toMatchObject({ status: "completed", error: null });
        expect(result.output).toEqual(answers);
      },
    );

    test.skipIf(lacks("conversations"))("a conversation that has become too long is started again", async () => {
      const first = await run({ says: "one" });
      const { result, events } = await run({ ends: "context-length" }, { session: first.result.session });
      expect(result.error?.kind).toBe("context-length");
      expect(result.session?.id).not.toBe(first.result.session?.id);
      expect(events).toContainEqual({ type: "output", line: expect.stringMatching(/too long; a new one is begun/) });
    });
  });
}

/** The form in which reviewers are asked for their verdicts, with fields that may be left out on two levels. */
const FORM = JSON.parse(readFileSync(new URL("../../schema/verdict.json", import.meta.url), "utf8")) as object;
