import { randomBytes } from "node:crypto";
import { createSystemClock } from "../adapters/clock/system-clock.ts";
import { createNodeFiles } from "../adapters/files/node-files.ts";
import { createPhaseProduct, createStoryPages } from "../adapters/stories/story-pages.ts";
import { createLocalQueue } from "../adapters/queue/local-queue.ts";
import { createAdjudicator } from "../gates/review/adjudicator.ts";
import type { RunPlan } from "../app/host.ts";
import type { Policy } from "../core/events/policy.ts";
import type { Config } from "../config/config.ts";
import { knownDurationMs } from "../config/duration.ts";
import type { BlameSearch, EngineWorld } from "../engine/world.ts";
import type { ExperimentRunner } from "../ports/experiment-runner.ts";
import { createCommandTrial } from "../gates/checks/command-trial.ts";
import type { EnvironmentIn } from "../adapters/process/environment.ts";
import type { SupervisedAgents } from "../adapters/process/agent-processes.ts";
import type { Telemetry } from "../adapters/telemetry/telemetry.ts";
import type { Evidence } from "../ports/evidence.ts";
import type { Journal, Receipts } from "../ports/journal.ts";
import type { Outbox } from "../ports/notifier.ts";
import type { KnownFlake } from "../gates/checks/flakes.ts";
import { type Flake, noteFlakes } from "../views/board/flakes.ts";
import { baseWaitMs } from "./checks/base-runs.ts";
import { assertPolicyCapabilities, assertReviewers } from "./assert-capabilities.ts";
import { checkVariablesOf } from "./checks/check-variables.ts";
import { environmentWith, ownPythonOf } from "./checks/own-python.ts";
import { deliveryOf } from "./delivery.ts";
import { hiddenPartsOf } from "./hidden-files.ts";
import { gatesOf, practicesOf } from "./checks/gates.ts";
import { roleRegistryOf } from "./agents/roles.ts";
import { stateFolder } from "./state-folder.ts";
import type { WorkspaceLocations } from "./workspaces.ts";
import type { Sandboxes } from "../adapters/sandbox/open-sandboxes.ts";
import { levelText } from "../core/events/isolation.ts";

/** The parts that differ between one machine and a fleet. */
export interface WorldParts extends WorkspaceLocations {
  readonly journal: Journal;
  readonly outbox: Outbox;
  readonly evidence: Evidence;
  readonly telemetry: Pick<Telemetry, "roleRegistry">;
  readonly receipts: Receipts;
  readonly sandboxes: Sandboxes;
  /** The name of the worker, if there are several. */
  readonly host?: string;
  /** Runs the agents that outlive the engine; absent: no agent does. */
  readonly agentRuns?: SupervisedAgents | undefined;
}

interface LocalWorld {
  readonly world: EngineWorld;
  /** The plan's policy, as far as this world can carry it out. */
  readonly policy: Policy;
  /** Creates a queue. A queue ends with its drive, so each drive needs a new one. */
  queue(): EngineWorld["queue"];
}

const nonce = (): string => randomBytes(12).toString("hex");

/** Creates everything that the engine of one checkout works with. */
export async function engineWorld(
  root: string,
  plan: RunPlan,
  env: Readonly<Record<string, string | undefined>>,
  parts: WorldParts,
): Promise<LocalWorld> {
  const { journal, outbox, evidence, workspace, integration, experimentRunner, start, telemetry } = parts;
  const { sandboxes, host, agentRuns, receipts } = parts;
  const clock = createSystemClock();
  const python = ownPythonOf(root, plan.config, env, sandboxes, (text) => plan.onNotice?.(text));
  const roleParts = { clock, env, python, sandboxes, agentRuns };
  const roleRegistry = telemetry.roleRegistry(await roleRegistryOf(root, plan, roleParts));
  const pages = createStoryPages({ root, folder: plan.config.stories, files: createNodeFiles() });
  const practices = await practicesOf(root, plan.config);
  const reviewers = { roleRegistry, practices, nonce, productOf: createPhaseProduct({ workspace, pages }) };
  const delivery = await deliveryOf(plan.config, { clock, env, python, start, root, integration, sandboxes });
  const shared = { evidence, clock, env, sandboxes, python, experimentRunner, start, workspace, reviewers, delivery };
  const hidden = await hiddenPartsOf(root, plan, env, sandboxes);
  const own = { state: stateFolder(root).path, flakes: knownFlakes(journal), hidden };
  const gates = gatesOf(plan, { ...shared, ...own });
  const able = { canDeliver: integration !== null, config: plan.config };
  const policy = assertPolicyCapabilities(plan.policy, new Set(gates.keys()), able);
  await assertReviewers(policy, roleRegistry, plan.stories);
  const queue = (): EngineWorld["queue"] => createLocalQueue({ limits: { ...policy.concurrency, engine: 100 }, clock });
  const seen = environmentWith(checkVariablesOf(env, plan.config).seen, python, start);
  const world: EngineWorld = {
    root,
    isolation: levelText(sandboxes.agents.level),
    ...(host === undefined ? {} : { host }),
    journal,
    clock,
    queue: queue(),
    workspace,
    pages,
    evidence,
    outbox,
    receipts,
    ...(agentRuns === undefined ? {} : { agentRuns }),
    gates,
    baseWaitMs: baseWaitMs(plan.config),
    roleRegistry,
    adjudicator: createAdjudicator({ roleRegistry, evidence, clock, nonce, checkouts: experimentRunner }),
    ...delivery,
    blameSearch: createBlameSearch(plan.config, experimentRunner, seen, sandboxes),
    watcher: plan.watcher,
    nonce,
  };
  return { world, policy, queue };
}

/**
 * Failures in other environments or on a forge cannot be run again here, so blame only ranks their suspects, without
 * experiments.
 */
export function createBlameSearch(
  { blame, environments, gates, forge }: Config,
  experimentRunner: ExperimentRunner,
  seen: EnvironmentIn,
  { checks: sandbox }: Sandboxes,
): BlameSearch {
  const isCiElsewhere = forge.use !== "none" && gates.ci.commands.length === 0;
  return {
    experimentRunner,
    trial: blame.prove ? createCommandTrial(seen, sandbox) : null,
    limits: { runs: blame.runs, timeMs: knownDurationMs(blame.time), suites: blame.suites },
    environments: [...Object.keys(environments), ...(isCiElsewhere ? ["ci"] : [])],
  };
}

/** The flaky tests in the journal. Each call reads only the new lines. */
export function knownFlakes(journal: Pick<Journal, "read">): () => Promise<readonly KnownFlake[]> {
  const known = new Map<string, Flake>();
  let position = 0;
  let turn: Promise<void> = Promise.resolve();
  const readOn = async (): Promise<void> => {
    for await (const line of journal.read(position)) {
      noteFlakes(known, line);
      position = line.position;
    }
  };
  return async () => {
    // One read after the other: two at once would count a line twice.
    turn = turn.then(readOn, readOn);
    await turn;
    return [...known.values()];
  };
}
