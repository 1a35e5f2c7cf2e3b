import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { PoolOptions, PoolWorker, WorkerRequest } from "vitest/node";

/**
 * Vitest starts a thread for each run, and each mutant is a run: loading and first executing the source costs several
 * times as much as the tests. This thread is reused for many runs. The setup file of each run sets a variable that
 * selects the active mutant, so the loaded source serves all runs.
 */
export class KeptThread implements PoolWorker {
  readonly name = KEPT_THREAD;
  readonly #entry: string;
  readonly #options: Pick<PoolOptions, "env" | "execArgv">;
  readonly #listeners: { readonly event: string; readonly callback: (arg: unknown) => void }[] = [];
  #config: unknown = null;
  #isKept = false;

  constructor({ distPath, env, execArgv }: PoolOptions) {
    this.#entry = join(distPath, "workers/threads.js");
    this.#options = { env, execArgv };
  }

  async start(): Promise<void> {
    if (kept !== null && kept.runs >= MOST_RUNS) await end();
    kept ??= { thread: this.#newThread(), runs: 0 };
    kept.runs++;
  }

  #newThread(): Worker {
    const thread = new Worker(this.#entry, { ...this.#options, stdout: true, stderr: true });
    thread.once("exit", () => {
      if (kept?.thread === thread) kept = null;
    });
    thread.unref();
    return thread;
  }

  /**
   * A stopped thread no longer listens, and a thread that was started twice listens twice, so neither message is sent.
   */
  send(message: WorkerRequest): void {
    if (message.type === "start") this.#config = message.context.config;
    if (message.type === "start" && kept!.runs > 1) return this.#reply("started");
    if (message.type === "stop") {
      this.#isKept = true;
      return this.#reply("stopped");
    }
    // The config is part of the start message and has the names of this run's tests.
    const context = message.type === "run" ? { ...message.context, config: this.#config } : undefined;
    kept?.thread.postMessage(context === undefined ? message : { ...message, context }, []);
  }

  #reply(type: "started" | "stopped"): void {
    const reply = { type, __vitest_worker_response__: true };
    queueMicrotask(() => {
      for (const { callback } of this.#listeners.filter(({ event }) => event === "message")) callback(reply);
    });
  }

  on(event: string, callback: (arg: unknown) => void): void {
    this.#listeners.push({ event, callback });
    kept?.thread.on(event, callback);
  }

  off(event: string, callback: (arg: unknown) => void): void {
    const at = this.#listeners.findIndex((each) => each.event === event && each.callback === callback);
    if (at >= 0) this.#listeners.splice(at, 1);
    kept?.thread.off(event, callback);
  }

  async stop(): Promise<void> {
    for (const { event, callback } of this.#listeners.splice(0)) kept?.thread.off(event, callback);
    if (!this.#isKept) await end();
  }

  deserialize(data: unknown): unknown {
    return data;
  }
}

export const KEPT_THREAD = "kept-thread";

let kept: { readonly thread: Worker; runs: number } | null = null;

/** Vitest keeps some memory of each run; a new thread now and then frees it. */
const MOST_RUNS = 40;

async function end(): Promise<void> {
  const ending = kept?.thread;
  kept = null;
  await ending?.terminate();
}
