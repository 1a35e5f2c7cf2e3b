/** The fleet's queue on DBOS, and the pitfalls of the library (traps are numbered in the order they were found). */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDbosQueue, type DbosQueue, type DbosQueueOptions } from "../../../src/adapters/queue/dbos-queue.ts";
import { startPostgres, type PostgresServer } from "../../kit/fleet/postgres-server.ts";

let server: PostgresServer;
let url: string;
let queue: DbosQueue;

beforeAll(async () => void (server = await startPostgres()), 60_000);
afterAll(() => server.stop());
beforeEach(async () => void (url = await server.newDatabase()));
afterEach(() => queue.stop(0), 60_000);

const rows = (columns: string, where = "true"): Promise<readonly Record<string, unknown>[]> =>
  server.sql(`SELECT ${columns} FROM remand_queue.workflow_status WHERE ${where} ORDER BY workflow_uuid`, url);

async function started(
  work: (id: string, signal: AbortSignal) => Promise<void>,
  more: Partial<DbosQueueOptions> = {},
): Promise<void> {
  queue = await createDbosQueue({
    url,
    schema: "remand",
    worker: "w@1",
    limits: {},
    pollMs: 20,
    endingMs: 2000,
    ...more,
  });
  await queue.start(work);
}

/** Makes jobs that run until they are released. */
function held() {
  const running = new Map<string, () => void>();
  const began: string[] = [];
  let most = 0;
  const work = async (id: string, signal: AbortSignal): Promise<void> => {
    began.push(id);
    await new Promise<void>((resolve) => {
      running.set(id, resolve);
      most = Math.max(most, running.size);
      signal.addEventListener("abort", () => resolve());
    });
    running.delete(id);
  };
  return { work, running, began, most: () => most };
}

async function until(is: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await is())) await sleep(20);
}

describe("the fleet's queue", () => {
  test("runs a job once that is enqueued twice, or again after it has run", async () => {
    const ran: string[] = [];
    await started(async (id) => void ran.push(id));
    const ticket = { id: "a:1", lane: "checks" } as const;
    await Promise.all([queue.enqueue([ticket, { id: "b:1", lane: "checks" }]), queue.enqueue([ticket])]);
    await until(async () => (await queue.findEnded(["a:1", "b:1"])).length === 2);
    await queue.enqueue([ticket]);
    await sleep(300);
    expect(ran.toSorted()).toEqual(["a:1", "b:1"]);
    // Trap 4: a job that ended without doing anything runs again only if it was forgotten.
    await queue.forget(["a:1"]);
    await queue.enqueue([ticket]);
    await until(() => ran.length === 3);
    expect(ran.at(-1)).toBe("a:1");
  });

  test("runs no more jobs of a lane at once than its limit, and other lanes continue (trap 5: limits are those of the newest start)", async () => {
    const jobs = held();
    await started(jobs.work, { limits: { developers: 2, checks: 1 } });
    await queue.enqueue(["a:1", "b:1", "c:1", "d:1"].map((id) => ({ id, lane: "developers" as const })));
    await queue.enqueue([{ id: "e:1", lane: "checks" }]);
    await until(() => jobs.running.size === 3);
    await sleep(300);
    expect(jobs.running.size).toBe(3);
    const limits = await server.sql(
      "SELECT concurrency FROM remand_queue.queues WHERE name = 'remand-developers'",
      url,
    );
    expect(limits).toEqual([{ concurrency: 2 }]);
    while ((await queue.findEnded(["a:1", "b:1", "c:1", "d:1", "e:1"])).length < 5) {
      for (const end of jobs.running.values()) end();
      await sleep(20);
    }
    expect(jobs.most()).toBe(3);
  });

  test("finds a worker's unfinished jobs by its name, and gives them back to their own lane (traps 1 and 6)", async () => {
    const jobs = held();
    await started(jobs.work, { limits: { developers: 1 } });
    await queue.enqueue([
      { id: "a:1", lane: "developers" },
      { id: "b:1", lane: "developers" },
    ]);
    await until(() => jobs.running.size === 1);
    const inHand = await queue.claimedJobs();
    expect(inHand).toEqual([{ id: jobs.began[0], lane: "developers", holder: "w@1" }]);
    await queue.release(inHand);
    // It waits in the lane's queue again, and not in one without limits.
    const given = await rows("status, queue_name", `workflow_uuid = '${jobs.began[0]}'`);
    expect(given).toEqual([{ status: "ENQUEUED", queue_name: "remand-developers" }]);
    expect(await queue.claimedJobs()).toEqual([]);
  });

  test("takes a job of another version of the program (trap 2)", async () => {
    await started(async () => undefined);
    await queue.enqueue([{ id: "a:1", lane: "engine" }]);
    await until(async () => (await queue.findEnded(["a:1"])).length === 1);
    expect(await rows("application_version")).toEqual([{ application_version: "remand-1" }]);
  });

  test("starts a job when it comes, even one of another worker, however seldom lanes are polled", async () => {
    const ran: string[] = [];
    await started(async (id) => void ran.push(id), { pollMs: 10_000 });
    const soon = { timeout: 60_000 };
    await queue.enqueue([{ id: "a:1", lane: "checks" }]);
    await expect.poll(() => ran, soon).toEqual(["a:1"]);
    await until(async () => (await queue.findEnded(["a:1"])).length === 1);
    // Like another worker, in a lane without any hint here so far.
    await server.sql("UPDATE remand_queue.workflow_status SET status = 'ENQUEUED', queue_name = 'remand-critics'", url);
    await server.sql("SELECT pg_notify('remand_remand_jobs', 'other critics')", url);
    await expect.poll(() => ran, soon).toEqual(["a:1", "a:1"]);
  });

  test("accepts new limits while it works; a worker's own limits stay", async () => {
    const jobs = held();
    await started(jobs.work, { limits: { developers: 1 }, ownLimits: { developers: 2 } });
    await queue.enqueue(["a:1", "b:1", "c:1", "d:1"].map((id) => ({ id, lane: "developers" as const })));
    await until(() => jobs.running.size === 1);
    await queue.limit({ developers: 3 });
    await until(() => jobs.running.size === 2);
    await sleep(300);
    expect(jobs.running.size).toBe(2);
    // A value in the library's table would apply to every worker.
    const row = "SELECT concurrency, worker_concurrency FROM remand_queue.queues WHERE name = 'remand-developers'";
    expect(await server.sql(row, url)).toEqual([{ concurrency: 3, worker_concurrency: null }]);
  });

  test("ends a job that throws, and its worker reports why", async () => {
    const said: string[] = [];
    await started(() => Promise.reject(new Error("no journal")), { onTrouble: (text) => said.push(text) });
    await queue.enqueue([{ id: "a:1", lane: "engine" }]);
    await until(async () => (await queue.findEnded(["a:1"])).length === 1);
    expect(said).toEqual(["a:1: no journal"]);
  });

  test("removes jobs that are over (trap 8); unknown ones count as over", async () => {
    await started(async () => undefined);
    await queue.enqueue([{ id: "a:1", lane: "engine" }]);
    await until(async () => (await queue.findEnded(["a:1"])).length === 1);
    await queue.forget({ endedBefore: Date.now() - 60_000 });
    expect(await rows("workflow_uuid")).toHaveLength(1);
    await queue.forget({ endedBefore: Date.now() + 60_000 });
    expect(await rows("workflow_uuid")).toEqual([]);
    expect(await queue.findEnded(["a:1", "never:9"])).toEqual(["a:1", "never:9"]);
  });

  test("takes no jobs after stop, and tells jobs that exceed their time to end", async () => {
    const jobs = held();
    await started(jobs.work, { limits: { developers: 1 } });
    await queue.enqueue([
      { id: "a:1", lane: "developers" },
      { id: "b:1", lane: "developers" },
    ]);
    await until(() => jobs.running.size === 1);
    await queue.stop(200);
    expect(jobs.running.size).toBe(0);
    expect(jobs.began).toHaveLength(1);
    expect((await rows("status")).map(({ status }) => String(status)).toSorted()).toEqual(["ENQUEUED", "SUCCESS"]);
  });
});
