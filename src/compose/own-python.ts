import type { Config } from "../config/config.ts";
import { RemandError } from "../domain/error.ts";
import type { Agent } from "../ports/agent.ts";
import { failed } from "../adapters/agents/failed-result.ts";
import { lineIn } from "../adapters/gates/environments.ts";
import { createOwnPython, type OwnPython } from "../adapters/git/own-python.ts";
import type { WorkStarter } from "../adapters/git/work-start.ts";
import type { Environment, EnvironmentIn } from "../adapters/process/environment.ts";
import { checkVariablesOf } from "./check-variables.ts";
import { commandOf } from "./command-of.ts";
import { stateFolder } from "./state-folder.ts";

/** Has every Python that the config would start import the project from the place it is started in. */
export function ownPythonOf(
  root: string,
  config: Pick<Config, "gates" | "environments" | "env">,
  env: Readonly<Record<string, string | undefined>>,
  onNotice: (text: string) => void,
): OwnPython {
  const { checks, tdd, mutation, ci } = config.gates;
  const places = Object.values(config.environments);
  const commands = [checks, tdd, mutation, ci]
    .flatMap((gate) => gate.commands.map((each) => commandOf(each).run))
    .flatMap((run) => (places.length === 0 ? [run] : places.map((place) => lineIn(place, run))));
  const { seen } = checkVariablesOf(env, config);
  return createOwnPython({ root, state: stateFolder(root).path, commands, env: seen, onNotice });
}

/** With `start`, programs also get a HOME of their own, and programs of the checkout they run in. */
export function environmentWith(
  env: Environment,
  python: OwnPython,
  start?: Pick<WorkStarter, "environment">,
  home?: "real",
): EnvironmentIn {
  return async (folder) => {
    const seen = start === undefined ? env : await start.environment(folder, env, home);
    return { ...seen, ...(await python.in(folder, seen["PYTHONPATH"])) };
  };
}

/** An agent that tries its work sees what the checks will see. Where nothing could judge that work, none is begun. */
export function inOwnPlace(agent: Agent, python: OwnPython, pythonPath: string | undefined): Agent {
  return {
    ...agent,
    async run(request, control) {
      let env: Environment;
      try {
        env = await python.in(request.cwd, pythonPath);
      } catch (error) {
        if (!(error instanceof RemandError)) throw error;
        return failed({ kind: "bad-request", message: error.message, fix: error.hint }, 0);
      }
      return agent.run({ ...request, env: { ...env, ...request.env } }, control);
    },
  };
}
