import type { Config } from "../../config/config.ts";
import { RemandError } from "../../core/events/error.ts";
import type { Agent } from "../../ports/agent.ts";
import { failedResult } from "../../agents/client/client.ts";
import { lineIn } from "../../gates/checks/environments.ts";
import { type OwnPython, createOwnPython } from "../../adapters/git/python/own-python.ts";
import type { WorkStarter } from "../../adapters/git/dependencies/work-start.ts";
import type { Environment, EnvironmentIn } from "../../adapters/process/environment.ts";
import { shownFolderAround } from "../../adapters/process/mounted-folder.ts";
import { stateFolder } from "../state-folder.ts";
import { normalizeCommand } from "../../config/normalize-command.ts";
import { checkVariablesOf } from "./check-variables.ts";
import type { Sandboxes } from "../../adapters/sandbox/open-sandboxes.ts";

/** Makes every Python that the config starts import the project from the folder that it runs in. */
export function ownPythonOf(
  root: string,
  config: Pick<Config, "gates" | "environments" | "env">,
  env: Readonly<Record<string, string | undefined>>,
  { checks: sandbox }: Sandboxes,
  onNotice: (text: string) => void,
): OwnPython {
  const places = Object.values(config.environments);
  const commands = Object.values(config.gates)
    .flatMap((gate) => gate.commands.map((each) => normalizeCommand(each).run))
    .flatMap((run) => (places.length === 0 ? [run] : places.map((place) => lineIn(place, run))));
  const { seen } = checkVariablesOf(env, config);
  return createOwnPython({ root, state: stateFolder(root).path, commands, env: seen, sandbox, onNotice });
}

/** With `start`, programs also get a private HOME, and programs of the checkout that they run in. */
export function environmentWith(
  env: Environment,
  python: OwnPython,
  start?: Pick<WorkStarter, "environment">,
  home?: "real",
): EnvironmentIn {
  return async (folder) => {
    const seen = start === undefined ? env : await start.environment(folder, env, home);
    // An editable install points to the user's path, where the sandbox shows this folder.
    if (home !== "real" && shownFolderAround(folder) !== null) return seen;
    return { ...seen, ...(await python.in(folder, seen["PYTHONPATH"])) };
  };
}

/** Gives an agent the same Python imports as the checks. Work does not start if the checks could not judge it. */
export function withPythonImports(agent: Agent, python: OwnPython, pythonPath: string | undefined): Agent {
  return {
    ...agent,
    async run(request, control) {
      let env: Environment;
      try {
        env = await python.in(request.cwd, pythonPath);
      } catch (error) {
        if (!(error instanceof RemandError)) throw error;
        return failedResult({ kind: "bad-request", message: error.message, fix: error.hint }, 0);
      }
      return agent.run({ ...request, env: { ...env, ...request.env } }, control);
    },
  };
}
