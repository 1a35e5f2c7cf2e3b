import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Agent, AgentEvent, AgentRequest, AgentResult } from "../../src/ports/agent.ts";

/** What an agent can be made to do, in words that every adapter can put into practice. */
export interface Behaviour {
  readonly writes?: { readonly path: string; readonly text: string };
  readonly says?: string;
  readonly ends?: "well" | "crash" | "hang" | "auth" | "overloaded" | "bad-request";
  readonly costs?: { readonly costUsd: number; readonly tokens: number };
}

export interface AgentUnderTest {
  /** An agent that does this each time. `folder` is its own, for whatever it needs. */
  make(behaviour: Behaviour, folder: string): Agent;
  /** How many processes of its dispatches still run. */
  leftovers(): Promise<number>;
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
    const request: AgentRequest = {
      prompt: "do it",
      cwd,
      access: "edit",
      session: null,
      outputSchema: null,
      model: null,
      timeoutMs: 15_000,
      env: {},
      key: "checkout:3",
      turn: 0,
      ...changes,
    };
    const beganAt = performance.now();
    const result = await subject
      .make(behaviour, folder)
      .run(request, { signal, onEvent: (event) => events.push(event) });
    return { result, events, tookMs: performance.now() - beganAt };
  }

  describe(`${name} keeps the agents' promises`, () => {
    test("work that went well is completed, and what it said is its text", async () => {
      const { result } = await run({ says: "READY_FOR_REVIEW: checkout" });
      expect(result).toMatchObject({ status: "completed", error: null, output: null, session: null, denied: [] });
      expect(result.text.trim()).toBe("READY_FOR_REVIEW: checkout");
      expect(result.durationMs).toBeGreaterThanOrEqual(0);
    });

    test("it changes files where it was told to work", async () => {
      const { result } = await run({ writes: { path: "deep/er/file name.txt", text: "ünï\n" }, says: "done" });
      expect(result.status).toBe("completed");
      expect(readFileSync(join(cwd, "deep/er/file name.txt"), "utf8")).toBe("ünï\n");
    });

    test("what it did not say of its cost is unknown, and not zero", async () => {
      const { result } = await run({ says: "done" });
      expect(result).toMatchObject({ tokens: null, costUsd: null });
    });

    test("what it said of its cost is passed on", async () => {
      const { result } = await run({ says: "done", costs: { costUsd: 0.25, tokens: 1200 } });
      expect(result).toMatchObject({ status: "completed", tokens: 1200, costUsd: 0.25 });
    });

    test.each([
      ["crash", "crash"],
      ["auth", "auth"],
      ["overloaded", "overloaded"],
      ["bad-request", "bad-request"],
    ] as const)("an agent that ends by %s is a value, and its kind is told", async (ends, kind) => {
      const { result } = await run({ says: "some words", ends });
      expect(result.status).toBe("failed");
      expect(result.error?.kind).toBe(kind);
      expect(result.error?.message).not.toBe("");
    });

    test("what a person can mend says how", async () => {
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
      const { result, tookMs } = await run({ ends: "hang" }, { timeoutMs: 700 });
      expect(result).toMatchObject({ status: "timeout", error: null });
      expect(tookMs).toBeGreaterThanOrEqual(690);
      expect(tookMs).toBeLessThan(3000);
    });

    test("whoever cancels it waits for nothing, and nobody is left", async () => {
      const over = new AbortController();
      setTimeout(() => over.abort(), 400);
      const { result, tookMs } = await run({ ends: "hang" }, { timeoutMs: 60_000 }, over.signal);
      expect(result).toMatchObject({ status: "cancelled", error: null });
      expect(tookMs).toBeLessThan(8000);
    });

    test("one that was cancelled before it began does nothing", async () => {
      const { result } = await run({ writes: { path: "a.txt", text: "a" } }, {}, AbortSignal.abort());
      expect(result.status).toBe("cancelled");
      expect(existsSync(join(cwd, "a.txt"))).toBe(false);
    });

    test("a prompt of five megabytes is no trouble, read or not", async () => {
      const { result } = await run({ says: "done" }, { prompt: "long ".repeat(1024 * 1024) });
      expect(result).toMatchObject<Partial<AgentResult>>({ status: "completed", error: null });
    });

    test("a worktree that is not there is a failure, and not a throw", async () => {
      const { result } = await run({ writes: { path: "a.txt", text: "a" } }, { cwd: join(cwd, "nowhere") });
      expect(result.status).toBe("failed");
      expect(result.error?.message).toMatch(/nowhere/);
    });
  });
}
