import type { Config } from "../config/config.ts";
import { knownDurationMs } from "../config/duration.ts";
import { RemandError } from "../core/events/error.ts";
import type { GateName } from "../core/gates/gate.ts";
import type { EngineWorld } from "../engine/world.ts";
import type { Clock } from "../ports/clock.ts";
import type { Evidence } from "../ports/evidence.ts";
import type { Forge } from "../ports/forge.ts";
import type { Gate } from "../ports/gate.ts";
import type { Integration } from "../ports/integration.ts";
import type { ExperimentRunner } from "../ports/experiment-runner.ts";
import { createGithubForge } from "../adapters/forge/github-forge.ts";
import { createCiCommands, createCiGate } from "../gates/ci/ci-gate.ts";
import { createCiForge } from "../gates/ci/ci-forge.ts";
import { createMergeGate } from "../gates/merge/merge-gate.ts";
import type { OwnPython } from "../adapters/git/python/own-python.ts";
import type { WorkStarter } from "../adapters/git/dependencies/work-start.ts";
import { remoteAddress } from "../adapters/git/repository.ts";
import { environmentIn } from "../adapters/process/environment.ts";
import { runProcess } from "../adapters/process/run-process.ts";
import { checkVariablesOf } from "./checks/check-variables.ts";
import { inCleanCheckout } from "./checks/clean-gate.ts";
import { commandOf, environmentWith } from "./checks/own-python.ts";

interface DeliveryParts {
  readonly root: string;
  readonly integration: Integration | null;
  readonly evidence: Evidence;
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly python: OwnPython;
  /** Where the commands that stand in for a CI service run. */
  readonly experimentRunner: ExperimentRunner;
  /** How things were before an agent worked. */
  readonly start: WorkStarter;
}

/** What puts work where it is wanted, and the gates that stand before it. */
export async function deliveryOf(
  config: Config,
  parts: DeliveryParts,
): Promise<Pick<EngineWorld, "integration" | "forge" | "fixLint"> & { readonly gates: readonly [GateName, Gate][] }> {
  const { integration, evidence, clock } = parts;
  const forge = await forgeOf(config, parts);
  const env = environmentWith(checkVariablesOf(parts.env, config).seen, parts.python, parts.start);
  const commands = config.gates.ci.commands.map(commandOf);
  const gates: [GateName, Gate][] = [];
  if (commands.length > 0 || forge === null || integration === null)
    gates.push([
      "ci",
      inCleanCheckout(
        createCiGate({ service: createCiCommands({ commands, env }), evidence, clock }),
        parts.experimentRunner,
      ),
    ]);
  else {
    const patienceMs = knownDurationMs(config.forge.patience);
    gates.push([
      "ci",
      createCiGate({ service: createCiForge({ forge, integration, clock, patienceMs }), evidence, clock }),
    ]);
  }
  if (integration !== null) gates.push(["merge", createMergeGate({ integration, evidence, clock })]);
  const { fix } = config.gates.ci;
  const fixLint: EngineWorld["fixLint"] =
    fix === undefined
      ? null
      : async (path, { signal, onOutput }) => {
          // What it says does not matter: the run that failed is judged again.
          await runProcess(
            { command: fix, cwd: path, env: await environmentIn(env, path), timeoutMs: FIX_MS },
            { signal, onLine: (line) => onOutput(line) },
          );
        };
  return { integration, forge, fixLint, gates };
}

const FIX_MS = 10 * 60_000;

async function forgeOf({ forge }: Config, { root, clock, env }: DeliveryParts): Promise<Forge | null> {
  if (forge.use === "none") return null;
  const repository = forge.repository ?? repositoryIn(await remoteAddress(root, forge.remote));
  if (repository === null)
    throw new RemandError(
      "config-invalid",
      `the remote ${forge.remote} does not say which repository of GitHub's it is`,
      "Set `forge.repository: owner/name`.",
    );
  return createGithubForge({ api: forge.api, token: env[forge.tokenFrom] ?? null, repository, clock });
}

/** The last two parts of `git@host:owner/name.git`, `https://host/owner/name`, `/somewhere/owner/name.git`. */
export function repositoryIn(address: string | null): string | null {
  const path = (address ?? "").replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*|^[^/:]+:/i, "/");
  const [, owner, name] = /\/([\w.-]+)\/([\w.-]+?)(?:\.git)?\/?$/.exec(path) ?? [];
  if (owner === undefined || name === undefined || /^\.+$/.test(owner) || /^\.+$/.test(name)) return null;
  return `${owner}/${name}`;
}
