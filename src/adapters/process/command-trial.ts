import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Trial } from "../../ports/trial.ts";
import type { Environment } from "./environment.ts";
import { runProcess } from "./run-process.ts";

/** Tries by running the command, in surroundings that are the same every time. */
export function createCommandTrial(env: Environment): Trial {
  return {
    async run({ command, path, timeoutMs }, { signal }) {
      const { FORCE_COLOR: _1, NODE_TEST_CONTEXT: _2, VITEST: _3, JEST_WORKER_ID: _4, ...rest } = env;
      const same = { ...rest, ...pythonIn(path, env), NO_COLOR: "1", CI: "1" };
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

/**
 * Python takes compiled code for fresh by the second and the size of its source: states that follow each other within a
 * second would be mixed up. And a project that is installed as a link leads every import to the person's own checkout;
 * the folder in which it is tried has to come before that.
 */
function pythonIn(path: string, { PYTHONPATH }: Environment): Environment {
  const isProject = ["pyproject.toml", "setup.py", "setup.cfg"].some((file) => existsSync(join(path, file)));
  const sources = isProject ? [join(path, "src"), path].filter((folder) => existsSync(folder)) : [];
  const all = [...sources, ...(PYTHONPATH === undefined || PYTHONPATH === "" ? [] : [PYTHONPATH])];
  return { PYTHONDONTWRITEBYTECODE: "1", ...(all.length === 0 ? {} : { PYTHONPATH: all.join(delimiter) }) };
}
