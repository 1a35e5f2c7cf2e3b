import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Agent, AgentEvent, AgentRequest, AgentResult } from "../../src/ports/agent.ts";
import { agentRequest } from "./agent-request.ts";

/** The behavior that a test requests of an agent, in terms that every adapter can implement. */
export interface Behavior {
  readonly writes?: { readonly path: string; readonly text: string };
  readonly says?: string;
  readonly ends?: "well" | "crash" | "hang" | "garbled" | "auth" | "overloaded" | "bad-request" | ProviderTrouble;
  /** The structured answer, if one is requested. */
  readonly answers?: object;
  readonly costs?: { readonly costUsd: number; readonly tokens: number };
}

/** Errors that only a client of a provider can distinguish. */
export type ProviderTrouble = "rate-limit" | "refused" | "credit" | "context-length";

export interface AgentUnderTest {
  /** Makes an agent that behaves like this each time. `folder` is its own, for any files it needs. */
  make(behavior: Behavior, folder: string): Agent;
  /** Returns how many processes of its dispatches still run. */
  leftovers(): Promise<number>;
  /** For a provider's client: conversations, structured answers, sandboxes, and errors of the provider. */
  readonly client?: {
    /** The cost of one answer of its model. */
    readonly answer: { readonly tokens: number; readonly costUsd: number | null };
    /** The errors that it distinguishes; it cannot have the others. */
    readonly troubles: readonly ProviderTrouble[];
    /** Returns the prompts that its model got in the newest request, oldest first. */
    prompts(): readonly string[];
    /** Features that it lacks. */
    readonly lacks?: readonly ("edits" | "conversations" | "forms" | "processes")[];
  };
  /** Fields that all its requests have in common. */
  readonly request?: Partial<AgentRequest>;
}

/** Tests what every agent guarantees, whatever it drives. */
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

  async function run(behavior: Behavior, changes: Partial<AgentRequest> = {}, signal = new AbortController().signal) {
    const events: AgentEvent[] = [];
    const request = agentRequest(cwd, { key: "checkout:3", ...subject.request, ...changes });
    const result = await subject
      .make(behavior, folder)
      .run(request, { signal, onEvent: (event) => events.push(event) });
    return { result, events };
  }

  const lacks = (what: "edits" | "conversations" | "forms" | "processes"): boolean =>
    subject.client?.lacks?.includes(what) ?? false;

  describe(`${name} keeps the agents' promises`, () => {
    test("successful work is completed, and its last message is its text", async () => {
      const { result } = await run({ says: "READY_FOR_REVIEW: checkout" });
      expect(result).toMatchObject({ status: "completed", error: null, output: null, denied: [] });
      if (subject.client === undefined) expect(result.session).toBeNull();
      expect(result.text.trim()).toBe("READY_FOR_REVIEW: checkout");
      expect(result.durationMs).toBeGreaterThanOrEqual(0);
    });

    test.runIf(lacks("edits"))("changes no files, and refuses a request to edit", async () => {
      const { result } = await run({ says: "done" }, { access: "edit" });
      expect(result).toMatchObject({ status: "failed", error: { kind: "bad-request", fix: expect.any(String) } });
    });

    test.skipIf(lacks("edits"))("changes files in its working folder", async () => {
      const { result } = await run({ writes: { path: "deep/er/file name.txt", text: "ünï\n" }, says: "done" });
      expect(result.status).toBe("completed");
      expect(readFileSync(join(cwd, "deep/er/file name.txt"), "utf8")).toBe("ünï\n");
    });

    test.skipIf(subject.client !== undefined)("an unreported cost is unknown, and not zero", async () => {
      const { result } = await run({ says: "done" });
      expect(result).toMatchObject({ tokens: null, costUsd: null });
    });

    test.skipIf(subject.client !== undefined)("a reported cost is passed on", async () => {
      const { result } = await run({ says: "done", costs: { costUsd: 0.25, tokens: 1200 } });
      expect(result).toMatchObject({ status: "completed", tokens: 1200, costUsd: 0.25 });
    });

    test.each([
      ["crash", "crash"],
      ["auth", "auth"],
      ["overloaded", "overloaded"],
      ["bad-request", "bad-request"],
      ...(subject.client?.troubles ?? []).map((trouble) => [trouble, trouble] as const),
    ] as const)("an agent that ends by %s is a value, with the kind of error", async (ends, kind) => {
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
      // It would hang forever: without the timeout, the test's own limit would be exceeded.
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

    test("a call that is cancelled before the start does nothing", async () => {
      const { result } = await run({ writes: { path: "a.txt", text: "a" } }, {}, AbortSignal.abort());
      expect(result.status).toBe("cancelled");
      expect(existsSync(join(cwd, "a.txt"))).toBe(false);
    });

    // A provider has its own limits; this exceeds any limit of a command line.
    const megabytes = subject.client === undefined ? 5 : 0.3;
    test(`a prompt of ${megabytes} megabytes is no trouble, read or not`, async () => {
      const { result } = await run({ says: "done" }, { prompt: "long ".repeat((megabytes / 5) * 1024 * 1024) });
      expect(result).toMatchObject<Partial<AgentResult>>({ status: "completed", error: null });
    });

    test.skipIf(lacks("processes"))("a missing worktree is a failure, and does not throw", async () => {
      const { result } = await run({ writes: { path: "a.txt", text: "a" } }, { cwd: join(cwd, "nowhere") });
      expect(result.status).toBe("failed");
      expect(result.error?.message).toMatch(/nowhere/);
    });
  });

  const { client } = subject;
  if (client === undefined) return;
  describe(`${name} keeps the promises of a provider's client`, () => {
    test.skipIf(lacks("conversations"))(
      "a conversation has its id before the first message, and continues with its history",
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

    test.skipIf(lacks("conversations"))("a run reports its own usage, and not the conversation's", async () => {
      const { tokens, costUsd } = client.answer;
      const first = await run({ says: "one" });
      expect(first.result).toMatchObject({ tokens, costUsd });
      const second = await run({ says: "two" }, { session: first.result.session });
      expect(second.result).toMatchObject({ status: "completed", tokens, costUsd });
      const third = await run({ writes: { path: "a.txt", text: "a" } }, { session: second.result.session });
      // The model is called twice: to call the tool, and to report that it is done.
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

    test("a provider's error in place of an answer is a failure, and does not throw", async () => {
      const { result } = await run({ ends: "garbled" });
      expect(result.status).toBe("failed");
      expect(result.error?.kind).toMatch(/^(?:crash|overloaded|bad-request)$/);
      expect(result.error?.message).not.toBe("");
    });

    test("a run without a conversation to resume reports its usage", async () => {
      const { result } = await run({ says: "one" });
      expect(result).toMatchObject({ status: "completed", ...client.answer });
    });

    test.skipIf(lacks("edits"))("read access changes nothing, and the refusal is reported", async () => {
      const request = { access: "read" } as const;
      const { result, events } = await run({ writes: { path: "a.txt", text: "a" }, says: "done" }, request);
      expect(result.status).toBe("completed");
      expect(result.denied).not.toEqual([]);
      expect(events).toContainEqual({ type: "output", line: `refused: ${result.denied[0]}` });
      expect(readdirSync(cwd)).toEqual([]);
    });

    test.skipIf(lacks("forms"))(
      "it answers in the requested form, without optional fields that were left out",
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

/** The schema with which reviewers are asked for their verdicts, with optional fields on two levels. */
const FORM = JSON.parse(readFileSync(new URL("../../schema/verdict.json", import.meta.url), "utf8")) as object;
