import type { Trial } from "../../ports/trial.ts";
import type { Environment } from "./environment.ts";
import { runProcess } from "./run-process.ts";

/** Tries by running the command, in surroundings that are the same every time. */
export function createCommandTrial(env: Environment): Trial {
  return {
    async run({ command, path, timeoutMs }, { signal }) {
      const { FORCE_COLOR: _1, NODE_TEST_CONTEXT: _2, VITEST: _3, JEST_WORKER_ID: _4, ...rest } = env;
      const ended = await runProcess(
        { command, cwd: path, env: { ...rest, NO_COLOR: "1", CI: "1" }, timeoutMs, maxOutputBytes: MOST_BYTES },
        { signal },
      );
      return {
        passed: ended.status === "exited" && ended.exitCode === 0,
        timedOut: ended.status !== "exited",
        output: ended.output,
        tookMs: ended.durationMs,
      };
    },
  };
}

const MOST_BYTES = 4_000_000;
