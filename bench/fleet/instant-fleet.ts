import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { createPostgresJournal } from "../../src/adapters/postgres/journal.ts";
import { openPool } from "../../src/adapters/postgres/pool.ts";
import { startWorking } from "../../src/compose/worker/worker-life.ts";
import type { WorkPlan, RunningWorker } from "../../src/app/host.ts";
import { storyId, treeId, type StoryId } from "../../src/core/events/ids.ts";
import { openLedger, type Ledger } from "../../src/engine/ledger.ts";
import type { EngineWorld } from "../../src/engine/world.ts";
import type { Gate } from "../../src/ports/gate.ts";
import { byText, lookup } from "../../src/stdx/sorted-map.ts";
import { instantPolicy, instantStory, instantWorld } from "../engine/instant-world.ts";
import { processorMs, serverProcessorMs } from "./processor.ts";
import { measureRate, type Rate } from "./rate.ts";
import { startChild, type Child, type Parent } from "./child.ts";

export interface FleetPlan {
  readonly url: string;
  readonly processes: number;
  readonly stories: number;
  /** How many run at once in each worker. */
  readonly atOnce: number;
  /** The duration of an agent's work. */
  readonly agentMs: number;
  /** The poll interval of each lane. */
  readonly pollMs: number;
}

/**
 * Real workers with instant agents, gates and git: presence, queue, dispatch, jobs and journal are the product's own.
 * Steps are lines of the journal.
 */
export async function fleetSteps(plan: FleetPlan): Promise<Rate> {
  const children = await startFleet(plan);
  const workersMs = async (): Promise<number> => children.reduce((sum, { pid }) => sum + processorMs(pid), 0);
  try {
    const warm = await accepted(children[0]!, "warm-up", 2 * plan.processes);
    return await measureRate(plan.stories, { workersMs, serverMs: () => serverProcessorMs(plan.url) }, async () => {
      const end = await accepted(children[0]!, "story", plan.stories);
      return end - warm;
    });
  } finally {
    await Promise.all(children.map((child) => child.end()));
  }
}

export async function startFleet({
  url,
  processes,
  atOnce,
  agentMs,
  pollMs,
}: Omit<FleetPlan, "stories">): Promise<readonly Child[]> {
  const children: Child[] = [];
  for (let i = 0; i < processes; i++) {
    const child = startChild(new URL("./instant-fleet.js", import.meta.url), "instantWorker", [
      { url, name: `worker-${i}`, atOnce, everywhere: atOnce * processes, agentMs, pollMs },
    ]);
    children.push(child);
    await child.next();
  }
  return children;
}

/** Waits until all stories are accepted; returns the number of lines. */
async function accepted(child: Child, prefix: string, stories: number): Promise<number> {
  child.say({ accept: stories, prefix });
  return ((await child.next()) as { position: number }).position;
}

/** Runs in a separate process. */
export async function instantWorker(parent: Parent, worker: WorkerPlan): Promise<void> {
  const { working, ledger, close } = await openWorker(worker);
  parent.tell({ ready: worker.name });
  for (;;) {
    const asked = (await parent.next()) as { accept: number; prefix: string } | null;
    if (asked === null) break;
    const names = Array.from({ length: asked.accept }, (_, i) => `${asked.prefix}-${i}`);
    await Promise.all(
      names.map((each) => ledger.append(storyId(each), [{ type: "story.added", story: instantStory(each) }])),
    );
    await allAccepted(ledger, names);
    parent.tell({ position: ledger.state().position });
  }
  await working.drain(0);
  await close();
}

async function allAccepted(ledger: Ledger, names: readonly string[]): Promise<void> {
  let left = names.map((each) => storyId(each));
  while (left.length > 0) {
    const change = ledger.changed();
    left = left.filter((id) => {
      const ending = lookup(ledger.state().stories, id, byText)?.ending ?? null;
      if (ending !== null && ending.how !== "accepted") throw new Error(`${id} ended as ${ending.how}`);
      return ending === null;
    });
    if (left.length > 0) await change;
  }
}

interface WorkerPlan {
  readonly url: string;
  readonly name: string;
  readonly atOnce: number;
  /** The limit over all workers. */
  readonly everywhere: number;
  readonly agentMs: number;
  readonly pollMs: number;
}

async function openWorker({ url, name, atOnce, everywhere, agentMs, pollMs }: WorkerPlan) {
  const pool = await openPool(url, { connections: 8 });
  const journal = await createPostgresJournal(pool);
  const at: { ledger: Ledger | null } = { ledger: null };
  const world = fleetWorld({ journal, atOnce, outbox: journal.outbox, agentMs }, at);
  const ledger = (at.ledger = await openLedger(world));
  const policy = instantPolicy(everywhere);
  if (ledger.state().policy === null) await ledger.append(null, [{ type: "policy.set", policy, by: "bench" }]);
  const close = async (): Promise<void> => {
    await journal.close();
    await pool.close();
  };
  const lanes = { developers: atOnce, critics: atOnce, auditors: atOnce, checks: atOnce, engine: atOnce };
  const plan = {
    db: url,
    name,
    project: "bench",
    version: "0",
    ownLimits: lanes,
    pollMs,
    leaseMs: 4000,
    followMs: 3_600_000,
    reread: async () => "same" as const,
    openPatienceMs: 0,
    health: null,
    run: { stories: [], onNotice: () => undefined },
  } as unknown as WorkPlan;
  const working: RunningWorker = await startWorking({
    id: `${name}@bench`,
    root: "/project",
    env: {},
    plan,
    policy,
    pool,
    beating: pool,
    ledger,
    world,
    telemetry: { tookOver: () => undefined },
    close: () => Promise.resolve(),
  });
  return { working, ledger, close };
}

/** Trees depend only on the story, so that every worker knows the result of another. */
function fleetWorld(
  options: Pick<EngineWorld, "journal" | "outbox"> & { readonly atOnce: number; readonly agentMs: number },
  at: { readonly ledger: Ledger | null },
): EngineWorld {
  const world = instantWorld({ ...options, failures: 0 });
  const made = new Set<StoryId>();
  const base = tree("base");
  const now = (story: StoryId) => {
    const known = at.ledger === null ? null : lookup(at.ledger.state().stories, story, byText);
    const id = made.has(story) ? tree(story) : (known?.tree ?? base);
    return { tree: treeId(id), commit: id };
  };
  const gates = new Map(
    [...world.gates].map(([name, gate]): [typeof name, Gate] => [name, { ...gate, run: passing(gate) }]),
  );
  return {
    ...world,
    gates,
    workspace: {
      ...world.workspace,
      prepare: async (story) => ({ path: story, branch: `remand/${story}`, base, ...now(story) }),
      keep: async (story) => now(story),
      currentState: async (story) => now(story),
      restorePaths: async (story) => now(story),
      dispose: async (story) => void made.delete(story),
    },
    roleRegistry: {
      agentFor: async (role) => {
        const player = await world.roleRegistry.agentFor(role);
        if (player === null) return null;
        const run: typeof player.agent.run = async (request, control) => {
          if (options.agentMs > 0) await pause(options.agentMs);
          made.add(storyId(request.cwd));
          return player.agent.run(request, control);
        };
        return { ...player, agent: { ...player.agent, run } };
      },
    },
  };
}

function passing({ name }: Gate): Gate["run"] {
  return async ({ tree: judged }) => ({
    gate: name,
    tree: judged,
    result: "pass",
    findings: [],
    blocking: [],
    summary: "12 tests passed",
    evidence: [],
    durationMs: 2300,
  });
}

const tree = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 40);
