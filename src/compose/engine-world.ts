import { randomBytes } from "node:crypto";
import { createSystemClock } from "../adapters/clock/system-clock.ts";
import { createNodeFiles } from "../adapters/files/node-files.ts";
import { createPhaseProduct } from "../adapters/stories/phase-product.ts";
import { createStoryPages } from "../adapters/stories/story-pages.ts";
import { createLocalQueue } from "../adapters/queue/local-queue.ts";
import { createAdjudicator } from "../adapters/gates/adjudicator.ts";
import { createInPlace } from "../adapters/git/in-place.ts";
import { createLaboratory } from "../adapters/git/laboratory.ts";
import { createWorktrees } from "../adapters/git/worktrees.ts";
import { ablePolicy } from "./able-policy.ts";
import { knownFlakes } from "./known-flakes.ts";
import { deliveryOf } from "./delivery.ts";
import { gatesOf } from "./gates.ts";
import { projectEvidence } from "./project-evidence.ts";
import { insistOnReviewers, practicesOf } from "./reviewers.ts";
import { rosterOf } from "./roster.ts";
import type { RunPlan } from "../cli/host.ts";
import type { Policy } from "../domain/policy.ts";
import type { Config } from "../config/config.ts";
import { knownDurationMs } from "../config/duration.ts";
import type { Detective, EngineWorld } from "../engine/world.ts";
import type { Laboratory } from "../ports/laboratory.ts";
import { createCommandTrial } from "../adapters/process/command-trial.ts";
import { allowedEnvironment } from "../adapters/process/environment.ts";
import { COOKIE_VARIABLE } from "../adapters/process/leftovers.ts";
import type { InPlace } from "../adapters/git/in-place.ts";
import type { SqliteJournal } from "../adapters/journal/sqlite-journal.ts";
import type { Telemetry } from "../adapters/telemetry/telemetry.ts";
import type { StateFolder } from "./state-folder.ts";

interface OwnWorld {
  readonly world: EngineWorld;
  /** The plan's policy, as far as it can be carried out with that. */
  readonly policy: Policy;
  /** `null` where each story has a worktree. */
  readonly inPlace: InPlace | null;
  /** A queue is over when its drive is; whoever drives again needs another. */
  queue(): EngineWorld["queue"];
}

/** Everything that the engine of one checkout works with. */
export async function engineWorld(
  root: string,
  folder: StateFolder,
  plan: RunPlan,
  env: Readonly<Record<string, string | undefined>>,
  journal: SqliteJournal,
  telemetry: Pick<Telemetry, "roster">,
): Promise<OwnWorld> {
  const clock = createSystemClock();
  const evidence = await projectEvidence(root, folder.evidence, plan.config);
  const inPlace = plan.place === "in-place" ? createInPlace({ root, state: folder.path }) : null;
  const { setup, share } = plan.config.workspace;
  const onNotice = (text: string): void => plan.onNotice?.(text);
  const remote = plan.config.forge.remote;
  const worktrees =
    inPlace === null
      ? createWorktrees({ root, state: folder.path, setup, share, remote, onNotice, ...aside(plan) })
      : null;
  const workspace = inPlace ?? worktrees!;
  const roster = telemetry.roster(await rosterOf(root, plan, { clock, env }));
  const nonce = (): string => randomBytes(12).toString("hex");
  const pages = createStoryPages({ root, folder: plan.config.stories, files: createNodeFiles() });
  const practices = await practicesOf(root, plan.config);
  const reviewers = { roster, practices, nonce, productOf: createPhaseProduct({ workspace, pages }) };
  const laboratory = createLaboratory({ root, state: folder.path, setup, share, onNotice });
  const judging = gatesOf(plan, {
    evidence,
    clock,
    workspace,
    env,
    laboratory,
    flakes: knownFlakes(journal),
    reviewers,
  });
  const delivery = await deliveryOf(plan.config, { root, integration: worktrees, evidence, clock, env });
  const gates = new Map([...judging, ...delivery.gates]);
  const policy = ablePolicy(plan.policy, new Set(gates.keys()), { canDeliver: worktrees !== null });
  await insistOnReviewers(policy, roster);
  const queue = (): EngineWorld["queue"] => createLocalQueue({ limits: { ...policy.concurrency, engine: 100 }, clock });
  const world: EngineWorld = {
    root,
    journal,
    clock,
    queue: queue(),
    workspace,
    pages,
    evidence,
    outbox: journal.outbox,
    gates,
    roster,
    adjudicator: createAdjudicator({ roster, evidence, clock, nonce }),
    integration: delivery.integration,
    forge: delivery.forge,
    fixLint: delivery.fixLint,
    detective: detectiveOf(plan.config, laboratory, env),
    watcher: plan.watcher,
    nonce,
  };
  return { world, policy, inPlace, queue };
}

/** That preset notes in the stories' own files how far they are: those notes are no work that was forgotten. */
function aside({ config }: RunPlan): { readonly aside?: string } {
  return config.preset === "story" ? { aside: config.stories } : {};
}

/** What failed in another environment, or on a forge, cannot be run again here; it is read, and not proven. */
function detectiveOf(
  { blame, environments, env: visible, gates, forge }: Config,
  laboratory: Laboratory,
  env: Readonly<Record<string, string | undefined>>,
): Detective {
  const isCiElsewhere = forge.use !== "none" && gates.ci.commands.length === 0;
  return {
    laboratory,
    trial: blame.prove ? createCommandTrial(allowedEnvironment(env, [...visible, COOKIE_VARIABLE])) : null,
    limits: { runs: blame.runs, timeMs: knownDurationMs(blame.time) },
    environments: [...Object.keys(environments), ...(isCiElsewhere ? ["ci"] : [])],
  };
}
