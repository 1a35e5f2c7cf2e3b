import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { createSharedWorktrees } from "../../adapters/git/fleet/shared-worktrees.ts";
import { type Clone, openClone } from "../../adapters/git/fleet/shared-clone.ts";
import { createExperimentRunner } from "../../adapters/git/experiment-runner.ts";
import type { Git } from "../../adapters/git/git.ts";
import { objectsNamed, userStateFolder } from "../../adapters/git/repository.ts";
import { createWorkStarter } from "../../adapters/git/dependencies/work-start.ts";
import { createPostgresEvidence } from "../../adapters/postgres/evidence.ts";
import { type PostgresJournal, createPostgresJournal } from "../../adapters/postgres/journal.ts";
import { type PostgresPool, openPool } from "../../adapters/postgres/pool.ts";
import { claimName } from "../../adapters/postgres/workers.ts";
import { RemandError } from "../../core/events/error.ts";
import type { ClonePlan, WorkerClone, RunPlan, WorkPlan, RunningWorker } from "../../app/host.ts";
import { type Ledger, openLedger } from "../../engine/ledger.ts";
import type { EngineWorld } from "../../engine/world.ts";
import type { Journal, Receipts } from "../../ports/journal.ts";
import { byText, lookup } from "../../stdx/sorted-map.ts";
import { engineWorld } from "../engine-world.ts";
import { storyFilesOption, isUnderWay, removeEndedWorktrees, workspaceOptions, privateHomeOf } from "../workspaces.ts";
import { learnProject } from "../project-evidence.ts";
import { becomeEngine } from "../journal/author.ts";
import { type StateFolder, stateFolder } from "../state-folder.ts";
import { telemetryOf } from "../telemetry.ts";
import { WHOLE_JOURNAL, createReceipts } from "../receipts/issue-receipts.ts";
import { startWorking } from "./worker-life.ts";
import type { WorkerParts } from "./worker-parts.ts";
import type { Sandboxes } from "../../adapters/sandbox/open-sandboxes.ts";
import { sandboxesOf } from "../sandboxes.ts";

type EnvVariables = Readonly<Record<string, string | undefined>>;

/** A worker's own clone of the project, at the newest commit of the target branch. */
export async function clone({ remote, folder, branch, onNotice, signal }: ClonePlan): Promise<WorkerClone> {
  const made = await whenReached(
    () => openClone({ remote, folder, onNotice, signal, ...(branch === null ? {} : { branch }) }),
    onNotice,
    signal,
  );
  clones.set(made.root, made);
  return { root: made.root, follow: () => made.follow(), close: () => made.close() };
}

/** Waits for an unreachable remote: machines start together, and the network may come up last. */
async function whenReached<T>(work: () => Promise<T>, say: (text: string) => void, stop: AbortSignal): Promise<T> {
  for (let lastError = ""; ; await sleep(AGAIN_MS, undefined, { signal: stop }).catch(() => undefined)) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RemandError) || error.code !== "forge-unreachable" || stop.aborted) throw error;
      if (error.message !== lastError) say(`${error.message}; retrying`);
      lastError = error.message;
    }
  }
}

const AGAIN_MS = 2000;

/** Open clones by their roots. Commands get a `WorkerClone`, and the rest stays here. */
const clones = new Map<string, Clone>();

/** Becomes a worker of a fleet: performs jobs, and enqueues them while it leads. */
export async function work(root: string, plan: WorkPlan, env: EnvVariables): Promise<RunningWorker> {
  const id = `${plan.name}@${randomBytes(6).toString("hex")}`;
  const pool = await openPool(plan.db, { openPatienceMs: plan.openPatienceMs, connections: CONNECTIONS });
  // A worker that is cut off must notice no later than the others do, and end the work that they will repeat.
  const beating = await openPool(plan.db, {
    openPatienceMs: plan.openPatienceMs,
    connections: 1,
    tryMs: plan.leaseMs - 500,
  });
  try {
    const journal = await createPostgresJournal(pool, { sharesSnapshots: true });
    await claimName(pool, plan.name, plan.leaseMs);
    const parts = await workerParts(root, plan, env, pool, journal);
    const leaving = leaveLater(root, parts, (text) => plan.run.onNotice?.(text));
    const close = async (): Promise<void> => {
      await leaving.stop();
      await parts.leaveStart();
      await parts.closeTelemetry();
      await journal.close();
      await beating.close();
      await pool.close();
    };
    return await startWorking({ id, plan, pool, beating, ...parts, close });
  } catch (error) {
    await beating.close();
    await pool.close();
    throw error;
  }
}

/** Removes worktrees of ended stories in the background, so that no job waits for the remote. */
function leaveLater(
  root: string,
  { ledger, world }: Pick<WorkerParts, "ledger" | "world">,
  say: (text: string) => void,
): { stop(): Promise<void> } {
  const stop = new AbortController();
  const leave = (): Promise<void> => removeEndedWorktrees(stateFolder(root).path, ledger.state(), world.workspace);
  const over = whenReached(leave, say, stop.signal).catch((error: unknown) => {
    if (!stop.signal.aborted) say(error instanceof Error ? error.message : String(error));
  });
  return {
    stop: async () => {
      stop.abort();
      await over;
    },
  };
}

/** Jobs read and write concurrently. */
const CONNECTIONS = 8;

async function workerParts(
  root: string,
  plan: WorkPlan,
  env: EnvVariables,
  pool: PostgresPool,
  journal: PostgresJournal,
) {
  const folder = stateFolder(root);
  const { env: marked } = await becomeEngine(root, env);
  const { config, onNotice } = plan.run;
  const telemetry = await telemetryOf({
    root,
    worker: plan.name,
    journal,
    project: plan.project,
    onNotice: (text) => onNotice?.(text),
  });
  const watched: RunPlan = { ...plan.run, watcher: telemetry.watcher(plan.run.watcher) };
  const observed = telemetry.journal(journal);
  const secrets = await learnProject(root, config, env);
  const evidence = createPostgresEvidence(pool, { secrets, copies: folder.evidence });
  const at: { ledger: Ledger | null } = { ledger: null };
  const sandboxes = await sandboxesOf(root, config, env, (text) => watched.onNotice?.(text), plan.run.hidden);
  const places = fleetWorkspaces(root, folder, watched, marked, sandboxes, at);
  const outbox = ownOutbox(journal.outbox, plan.name);
  const { world, policy } = await engineWorld(root, watched, marked, {
    ...places,
    sandboxes,
    journal: observed,
    outbox,
    evidence,
    telemetry,
    receipts: receiptsOf(root, observed, marked, (text) => watched.onNotice?.(text)),
    host: plan.name,
  });
  const ledger = (at.ledger = await openLedger(world));
  telemetry.resume(ledger.state());
  await places.start.open(isUnderWay(ledger.state()));
  return {
    root,
    env: marked,
    ledger,
    world,
    policy,
    telemetry,
    closeTelemetry: () => telemetry.close(),
    leaveStart: () => places.start.leave(isUnderWay(ledger.state())),
  };
}

/** Every worker signs with its own user's key, and pushes receipts to the shared repository. */
function receiptsOf(root: string, journal: Journal, env: EnvVariables, onNotice: (text: string) => void): Receipts {
  const { remote } = clones.get(root)!;
  const push = async (git: Git, refs: readonly string[]): Promise<void> => {
    const commits = await objectsNamed(git, refs);
    await remote.push(refs.map((ref, at) => ({ ref, commit: commits[at]! })));
  };
  return createReceipts({ root, env, journal, push, onNotice }, WHOLE_JOURNAL);
}

/**
 * Code travels by git: commits that the journal names are fetched before work, and work is pushed before its event is
 * appended.
 */
function fleetWorkspaces(
  root: string,
  folder: StateFolder,
  plan: RunPlan,
  env: EnvVariables,
  sandboxes: Sandboxes,
  at: { readonly ledger: Ledger | null },
) {
  const options = workspaceOptions(root, folder, plan, env, sandboxes);
  const shared = createSharedWorktrees(
    { ...options, ...storyFilesOption(plan) },
    {
      clone: clones.get(root)!,
      standingOf: (story) => {
        const state = at.ledger === null ? undefined : lookup(at.ledger.state().stories, story, byText);
        const isOver = state !== undefined && state.ending !== null;
        return { commit: state?.commit || null, run: state?.running?.seq ?? null, isOver };
      },
    },
  );
  const { experimentRunner, ...workspace } = shared;
  const userState = userStateFolder(env);
  const start = createWorkStarter(root, { ...options, userState, ...privateHomeOf(env) });
  return {
    workspace,
    integration: workspace,
    start,
    experimentRunner: experimentRunner(
      createExperimentRunner({ ...options, userState, shownAt: sandboxes.shownAt, start: () => start.now() }),
    ),
  };
}

/**
 * An outcome is useful only on the machine that has its files, so the key contains the worker's name. On another
 * machine, the attempt counts as interrupted.
 */
function ownOutbox({ put, get, drop }: EngineWorld["outbox"], name: string): EngineWorld["outbox"] {
  const own = (key: string): string => `${name}/${key}`;
  return {
    put: (key, text) => put(own(key), text),
    get: (key) => get(own(key)),
    drop: (key) => drop(own(key)),
  };
}
