import type { Trial } from "../../ports/experiment-runner.ts";
import { checkEnvironment, environmentIn, type EnvironmentIn } from "./environment.ts";
import { runProcess } from "./run-process.ts";

/** Tries by running the command, with the same environment variables every time. */
export function createCommandTrial(env: EnvironmentIn): Trial {
  return {
    async run({ command, path, timeoutMs }, { signal }) {
      const same = checkEnvironment(await environmentIn(env, path));
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
