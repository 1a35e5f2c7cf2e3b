import type { Trial } from "../../ports/experiment-runner.ts";
import { checkEnvironment, environmentIn, type EnvironmentIn } from "./environment.ts";
import { ownRedactor } from "./own-secrets.ts";
import { runProcess } from "./run-process.ts";
import { textOutside } from "./shown-folder.ts";
import type { Sandbox } from "../../ports/sandbox.ts";

/** Tries by running the command, with the same environment variables every time. */
export function createCommandTrial(env: EnvironmentIn, sandbox: Sandbox): Trial {
  return {
    async run({ command, path, timeoutMs }, { signal }) {
      const same = checkEnvironment(await environmentIn(env, path));
      const ended = await runProcess(
        { command, cwd: path, env: same, timeoutMs, maxOutputBytes: MOST_BYTES, sandbox },
        { signal },
      );
      return {
        passed: ended.status === "exited" && ended.exitCode === 0,
        timedOut: ended.status !== "exited",
        output: ownRedactor().text(textOutside(ended.output, path)),
        tookMs: ended.durationMs,
      };
    },
  };
}

const MOST_BYTES = 4_000_000;
