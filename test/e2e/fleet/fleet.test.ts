/**
 * Workers in processes and clones of their own, a real PostgreSQL between them, and everything that can go wrong there:
 * killed, stopped and woken, the server restarted as after a crash, the network cut. Every story must end as it does on
 * one machine. `REMAND_FLEET_STORIES=200 REMAND_FLEET_KILLS=30 REMAND_FLEET_RESTARTS=5` is the long form.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isSettled } from "../../../src/compose/worker/worker-life.ts";
import { createHost } from "../../../src/compose/host.ts";
import type { RunState } from "../../../src/core/stories/run-state.ts";
import { evolve } from "../../../src/fold/fold-event.ts";
import { EMPTY_RUN } from "../../../src/fold/new-state.ts";
import type { StoredEvent } from "../../../src/ports/journal.ts";
import { storyId } from "../../../src/core/events/ids.ts";
import { byText, entries, lookup } from "../../../src/stdx/sorted-map.ts";
import { startProxy } from "../../kit/proxy.ts";
import { newLogin } from "../../kit/fleet/postgres-roles.ts";
import { startPostgres, type PostgresServer } from "../../kit/fleet/postgres-server.ts";
import { chance } from "../../simulation/chance.ts";
import { fleetProject } from "./fleet-project.ts";
import { MAIN, startWorker, type FleetWorker } from "./fleet-workers.ts";
import { runsAll, testInFull } from "../../sampled.ts";

const STORIES = Number(process.env["REMAND_FLEET_STORIES"] ?? (runsAll ? 9 : 5));
const KILLS = Number(process.env["REMAND_FLEET_KILLS"] ?? 4);
const RESTARTS = Number(process.env["REMAND_FLEET_RESTARTS"] ?? 1);
const WORKERS = 3;

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres()));
afterAll(() => server.stop());

interface Seen {
  readonly state: RunState;
  readonly lines: readonly StoredEvent[];
}

async function seen(root: string, db: string | null): Promise<Seen | null> {
  const host = createHost(process.env);
  const look = await (db === null ? host : host.at(db)).openView(root);
  if (look === null) return null;
  try {
    const lines: StoredEvent[] = [];
    for await (const line of look.lines(0)) lines.push(line);
    return { state: look.state, lines };
  } finally {
    await look.close();
  }
}

/** How every story ended, without what a restart may change. */
function outcome({ state }: Seen): Record<string, unknown> {
  const stories: Record<string, unknown> = {};
  for (const [id, story] of entries(state.stories))
    stories[id] = {
      ending: story.ending?.how ?? null,
      asks: story.escalation?.reason.type ?? null,
      failures: story.gates.checks?.failuresEver,
      trees: story.attempts.filter(({ outcome: how }) => how === "ready").map(({ tree }) => tree),
    };
  return stories;
}

/** At no line of the journal more runs at once than may, and no attempt ends twice. */
function checkLines(lines: readonly StoredEvent[]): void {
  let run = EMPTY_RUN;
  const most = { developers: 0, checks: 0 };
  for (const line of lines) {
    run = evolve(run, line);
    for (const lane of ["developers", "checks"] as const) most[lane] = Math.max(most[lane], run.busy[lane]);
  }
  expect(most.developers).toBeLessThanOrEqual(run.policy!.concurrency.developers);
  expect(most.checks).toBeLessThanOrEqual(run.policy!.concurrency.checks);
  const finished = lines.flatMap(({ story, event }) =>
    event.type === "attempt.finished" ? [`${story} ${event.attempt}`] : [],
  );
  expect(new Set(finished).size).toBe(finished.length);
}

async function untilSettled(root: string, db: string, workers: readonly FleetWorker[]): Promise<void> {
  const isOver = async (): Promise<boolean> => {
    const now = await seen(root, db);
    const count = now === null ? 0 : [...entries(now.state.stories)].length;
    return now !== null && count === STORIES && isSettled(now.state, Date.now());
  };
  // The server may be away just now.
  await eventually(() => isOver().catch(() => false), workers);
}

/** Waits until it is so; what the workers said tells why it never was. */
async function eventually(is: () => Promise<boolean>, workers: readonly FleetWorker[]): Promise<void> {
  for (const deadline = Date.now() + 120_000 + 6000 * STORIES; !(await is()); await sleep(300))
    if (Date.now() > deadline) throw new Error(workers.map(({ name, said }) => `${name}:\n${said()}`).join("\n\n"));
}

async function expectReady(worker: FleetWorker): Promise<void> {
  const ready = await fetch(`${/health: (\S+)/.exec(worker.said())![1]}`);
  expect([ready.status, ((await ready.json()) as { ready: boolean }).ready]).toEqual([200, true]);
}

function hasLostItsPlace(worker: FleetWorker): boolean {
  const said = worker.said();
  return said.slice(said.lastIndexOf("takes jobs")).includes("has taken its place");
}

/** All processes that work in the folder. */
function strays(folder: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(folder);
    } catch {
      return false;
    }
  });
}

describe("a fleet", () => {
  testInFull("a story that is pushed while it works is taken up, and it ends cleanly", async () => {
    const project = fleetProject(1);
    const db = await server.newDatabase();
    const worker = startWorker("w0", { ...project, db, more: ["--follow", "300ms", "--health-port", "0"] });
    try {
      const accepted = async (id: string): Promise<boolean> => {
        const state = (await seen(project.checkout, db))?.state;
        return state !== undefined && lookup(state.stories, storyId(id), byText)?.ending?.how === "accepted";
      };
      await eventually(() => accepted("story-0"), [worker]);
      await expectReady(worker);
      project.pushStory("late", "It came late.");
      await eventually(() => accepted("late"), [worker]);
      expect(await worker.drain(), worker.said()).toBe(0);
    } finally {
      worker.end();
      rmSync(project.folder, { recursive: true, force: true, maxRetries: 5 });
    }
  });

  test("a changed remand.yaml holds for stories that start after it; a broken one changes nothing", async () => {
    const project = fleetProject(1);
    const db = await server.newDatabase();
    const worker = startWorker("w0", { ...project, db, more: ["--follow", "300ms", "--health-port", "0"] });
    try {
      const ending = async (id: string): Promise<string | undefined> => {
        const state = (await seen(project.checkout, db))?.state;
        const story = state === undefined ? undefined : lookup(state.stories, storyId(id), byText);
        return story?.ending?.how ?? story?.escalation?.reason.type;
      };
      const times = (words: string): number => worker.said().split(words).length - 1;
      await eventually(async () => (await ending("story-0")) === "accepted", [worker]);
      await expectReady(worker);
      project.pushConfig("limits: { failures: many }\n");
      await eventually(async () => times("remand.yaml:10:") > 0, [worker]);
      // The config is as broken as before, which is no news.
      project.pushStory("late", "It came late.");
      // At the first failure it goes to a person now; by the old rules it would be accepted at the second attempt.
      project.pushConfig("limits: { failures: 1 }\nenv: [LANG]\n");
      await eventually(async () => (await ending("late")) !== undefined, [worker]);
      expect(await ending("late"), worker.said()).toBe("budget");
      expect(times("remand.yaml:10:")).toBe(1);
      expect(worker.said()).toContain("they apply to stories that start from now on");
      expect(worker.said()).toContain("restart the workers to apply: env");
      expect(await worker.drain(), worker.said()).toBe(0);
    } finally {
      worker.end();
      rmSync(project.folder, { recursive: true, force: true, maxRetries: 5 });
    }
  });

  test(`${STORIES} stories, ${WORKERS} workers, everything goes wrong: it ends as on one machine`, async () => {
    const project = fleetProject(STORIES);
    let workers: readonly FleetWorker[] = [];
    try {
      const alone = spawnSync(process.execPath, [MAIN, "run", "--reporter", "minimal"], {
        cwd: project.checkout,
        encoding: "utf8",
      });
      expect(alone.status, alone.stdout + alone.stderr).toBe(4);
      const expected = outcome((await seen(project.checkout, null))!);

      // The workers have the role of workers: they can append, and change nothing.
      const db = await server.newDatabase();
      const made = spawnSync(process.execPath, [MAIN, "migrate", "--no-move", "--to", db, "--roles", "fleet"], {
        cwd: project.checkout,
        encoding: "utf8",
      });
      expect(made.status, made.stdout + made.stderr).toBe(0);
      const login = await newLogin(server, db, ["fleet_worker"]);
      const proxy = await startProxy(server.port);
      workers = Array.from({ length: WORKERS }, (_, n) =>
        startWorker(`w${n}`, { ...project, db: n === 0 ? proxy.url(login) : login }),
      );
      const disturbing = disturb(workers, proxy, db);
      await untilSettled(project.checkout, db, workers);
      const felt = await disturbing;
      // Those that wait for a person have no job: waiting is state, and takes no worker's slot.
      await eventually(async () => (await server.sql(OPEN_JOBS, db))[0]!["jobs"] === 0, workers);
      const found = (await seen(project.checkout, db))!;
      const ends = await Promise.all(workers.map((worker) => worker.drain()));
      await proxy.close();
      const said = workers.map((worker) => `${worker.name}:\n${worker.said()}`).join("\n");
      expect(outcome(found), said).toEqual(expected);
      checkLines(found.lines);
      // One that was cut off to the last may learn only now that its place is taken.
      expect(ends, said).toEqual(workers.map((worker) => (hasLostItsPlace(worker) ? 1 : 0)));
      const verified = spawnSync(process.execPath, [MAIN, "verify", "--db", db], {
        cwd: project.checkout,
        encoding: "utf8",
      });
      expect(verified.status, verified.stdout + verified.stderr).toBe(0);
      await expect(server.sql("UPDATE remand.line SET at = 0", login)).rejects.toMatchObject({ code: "42501" });
      expect(strays(project.folder)).toEqual([]);
      const interrupted = found.lines.filter(({ event }) => event.type === "work.interrupted").length;
      const silent = [...said.matchAll(/silent for (\d+) ms/g)].map(([, ms]) => Number(ms));
      console.log(
        `${felt}; ${interrupted} things interrupted, ${found.lines.length} lines; places taken after ${silent.join(", ")} ms`,
      );
      expect(interrupted).toBeGreaterThan(0);
    } finally {
      for (const worker of workers) worker.end();
      rmSync(project.folder, { recursive: true, force: true, maxRetries: 5 });
    }
  });
});

const OPEN_JOBS = `SELECT count(*)::integer AS jobs FROM remand_queue.workflow_status
  WHERE status IN ('PENDING', 'ENQUEUED', 'DELAYED')`;

const JOBS_AT_WORK = "SELECT 1 FROM remand_queue.workflow_status WHERE status = 'PENDING'";

/** Kills, stops, restarts and cuts, one after the other, while the stories are worked on. Says what it did. */
async function disturb(
  workers: readonly FleetWorker[],
  proxy: Awaited<ReturnType<typeof startProxy>>,
  db: string,
): Promise<string> {
  // Killing an idle worker proves nothing: on a slow machine the start takes a while.
  const begin = performance.now();
  while ((await server.sql(JOBS_AT_WORK, db).catch(() => [])).length === 0 && performance.now() - begin < 60_000)
    await sleep(100);
  const victim = (n: number): FleetWorker => workers[Math.floor(chance("victim", n) * workers.length)]!;
  for (let n = 0; n < KILLS; n++) {
    victim(n).kill();
    await sleep(500 + 1500 * chance("pause", n));
    if (n % Math.ceil(KILLS / RESTARTS) === 0) await server.restart("immediate");
    if (n % 4 === 2) {
      const sleeper = victim(n + 100);
      sleeper.stop("SIGSTOP");
      await sleep(7000);
      sleeper.stop("SIGCONT");
    }
    if (n % 8 === 3) {
      proxy.network("freeze");
      await sleep(10_000);
      proxy.network("well");
    }
  }
  return `${KILLS} kills, ${RESTARTS} restarts of the server`;
}
