import type { Trial } from "../../ports/trial.ts";
import { environmentIn, type EnvironmentIn } from "./environment.ts";
import { runProcess } from "./run-process.ts";

/** Tries by running the command, in surroundings that are the same every time. */
export function createCommandTrial(env: EnvironmentIn): Trial {
  return {
    async run({ command, path, timeoutMs }, { signal }) {
      const {
        FORCE_COLOR: _1,
        NODE_TEST_CONTEXT: _2,
        VITEST: _3,
        JEST_WORKER_ID: _4,
        ...rest
      } = await environmentIn(env, path);
      // Python takes compiled code for fresh by the second and the size of its source: states that follow each other
      // within a second would be mixed up.
      const same = { ...rest, PYTHONDONTWRITEBYTECODE: "1", NO_COLOR: "1", CI: "1" };
      const ended = await runProcess(
        { command, cwd: path, env: same, timeoutMs, maxOutputBytes: MOST_BYTES },
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
