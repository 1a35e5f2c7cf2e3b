import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type PostgresJournal, createPostgresJournal } from "../../../src/adapters/postgres/journal.ts";
import { type PostgresPool, openPool } from "../../../src/adapters/postgres/pool.ts";
import { claimName, createWorkerTable, type Presence, createPresence } from "../../../src/adapters/postgres/workers.ts";
import { fleetDatabase } from "../../kit/fleet/postgres-roles.ts";
import { type PostgresServer, startPostgres } from "../../kit/fleet/postgres-server.ts";
import { startProxy } from "../../kit/proxy.ts";

let server: PostgresServer;
let pool: PostgresPool;
let journal: PostgresJournal;
let url: string;
let workerUrl: string;
const open: (() => Promise<unknown>)[] = [];

beforeAll(async () => void (server = await startPostgres()), 60_000);
afterAll(() => server.stop());
beforeEach(async () => {
  const fleet = await fleetDatabase(server);
  // The workers use a worker's login; the tests read and interfere as the administrator.
  url = fleet.admin;
  workerUrl = fleet.worker;
  pool = await openPool(workerUrl, { connections: 10 });
  journal = await createPostgresJournal(pool);
});
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each();
  await journal.close();
  await pool.close();
});

interface Watched extends Presence {
  readonly took: string[];
  readonly led: boolean[];
}

function present(id: string, on: PostgresPool = pool, slow: Promise<void> = Promise.resolve()): Watched {
  const took: string[] = [];
  const led: boolean[] = [];
  const presence = createPresence(on, {
    id,
    name: id.split("@")[0]!,
    leaseMs: 3000,
    takeOver: async (gone) => {
      took.push(gone.id);
      await slow;
    },
    onLead: (leads) => led.push(leads),
    onTrouble: () => undefined,
  });
  open.push(() => presence.leave());
  return { ...presence, took, led };
}

/** Waits for a condition; the test's own limit says when that took too long. */
async function until(is: () => boolean): Promise<void> {
  while (!is()) await sleep(20);
}

const backends = async (id: string): Promise<readonly Record<string, unknown>[]> =>
  server.sql(`SELECT backend FROM remand.worker WHERE id = '${id}'`, url);

const SIGNED_IN = "SELECT string_agg(backend::text, ' ' ORDER BY id) AS backends FROM remand.worker";

describe("workers of one journal", () => {
  test("exactly one leads; when it leaves, another does", async () => {
    const workers = [present("a@1"), present("b@1"), present("c@1")];
    await until(() => workers.some((each) => each.leads()));
    const leader = workers.find((each) => each.leads())!;
    expect(workers.filter((each) => each.leads())).toEqual([leader]);
    await leader.leave();
    await until(() => workers.some((each) => each.leads()));
    expect(workers.filter((each) => each.leads())).toHaveLength(1);
    expect(leader.led).toEqual([true, false]);
  });

  test("a worker that resigns stays connected, and another one leads", async () => {
    const first = present("a@1");
    await until(() => first.leads());
    const second = present("b@1");
    first.resign();
    await until(() => second.leads());
    expect([first.leads(), first.isConnected()]).toEqual([false, true]);
  });

  test("a worker that lost its connection keeps its place while it reconnects", async () => {
    const [steady, shaky] = [present("a@1"), present("b@1")];
    await until(() => steady.isConnected() && shaky.isConnected());
    const [before] = await backends("b@1");
    await server.sql(`SELECT pg_terminate_backend(${String(before!["backend"])})`);
    for (let now = before; String(now?.["backend"]) === String(before!["backend"]); [now] = await backends("b@1"))
      await sleep(50);
    await until(() => shaky.isConnected());
    expect(steady.took).toEqual([]);
  });

  test("an unreachable worker loses its place after the lease, and learns it when it is back", async () => {
    const proxy = await startProxy(server.port);
    const far = await openPool(proxy.url(workerUrl), { tryMs: 2000 });
    open.push(
      () => proxy.close(),
      () => far.close(),
    );
    const here = present("a@1");
    const away = present("b@1", far);
    await until(() => here.isConnected() && away.isConnected());
    proxy.network("freeze");
    await until(() => here.took.length > 0);
    expect(here.took).toEqual(["b@1"]);
    proxy.network("well");
    expect(await away.lost).toContain("taken its place");
  });

  test("a place is taken once, and a worker that takes long for that does not count as gone", async () => {
    const proxy = await startProxy(server.port);
    const far = await openPool(proxy.url(workerUrl), { tryMs: 2000 });
    open.push(
      () => proxy.close(),
      () => far.close(),
    );
    let finish: () => void = () => undefined;
    const slow = new Promise<void>((resolve) => (finish = resolve));
    const heirs = [present("a@1", pool, slow), present("b@1", pool, slow)];
    const gone = present("c@1", far);
    await until(() => [...heirs, gone].every((each) => each.isConnected()));
    proxy.network("freeze");
    await until(() => heirs.some(({ took }) => took.length > 0));
    // Longer than the lease: the beats continue meanwhile.
    await sleep(4500);
    expect(heirs.flatMap(({ took }) => took)).toEqual(["c@1"]);
    finish();
    for (let rows = await backends("c@1"); rows.length > 0; rows = await backends("c@1")) await sleep(50);
    proxy.network("well");
    await gone.lost;
  });

  test("a connected worker whose row was deleted learns it by its next beat, and is not added again", async () => {
    const there = present("a@1");
    await until(() => there.isConnected());
    await server.sql("DELETE FROM remand.worker WHERE id = 'a@1'", url);
    let why = "";
    void there.lost.then((lost) => (why = lost));
    await expect.poll(() => why, { timeout: 60_000 }).toContain("taken its place");
    expect(there.isConnected()).toBe(false);
    expect(await backends("a@1")).toEqual([]);
  });

  test("a place that several workers want is taken by one, and is free again if that one fails", async () => {
    // The server must have been up for a while, otherwise all workers first get the time to reconnect.
    const [started] = await server.sql(
      "SELECT clock_timestamp() - pg_postmaster_start_time() > interval '16 s' AS is_old",
      url,
    );
    if (started!["is_old"] !== true) await sleep(16_000);
    const entered = async (id: string) => {
      const table = createWorkerTable(pool, { id, name: id }, 60_000);
      const session = (await table.enter())!;
      open.push(() => session.end());
      return { id, table, session, take: async () => (await table.claimLostWorkers(session)).map((gone) => gone.id) };
    };
    const [one, two] = [await entered("a@1"), await entered("b@1")];
    await server.sql(
      "INSERT INTO remand.worker (id, name, backend, seen) VALUES ('c@1', 'c', 0, clock_timestamp() - interval '1 hour')",
      url,
    );
    const took = await Promise.all([one.take(), two.take(), one.take(), two.take()]);
    expect(took.flat()).toEqual(["c@1"]);
    const [taker, other] = took[0].length + took[2].length > 0 ? [one, two] : [two, one];
    await other.table.deleteRow(other.session, "c@1");
    expect(await backends("c@1")).toHaveLength(1);
    await taker.session.end();
    await expect.poll(other.take).toEqual(["c@1"]);
    await other.table.deleteRow(other.session, "c@1");
    expect(await backends("c@1")).toEqual([]);
  });

  test("the name of a live worker is rejected; that of a dead one is not", async () => {
    const there = present("a@1");
    await until(() => there.isConnected());
    // Several beats long, so that a late beat does not count as the last.
    await expect(claimName(pool, "a", 4000)).rejects.toThrow("a worker named a is already running");
    await claimName(pool, "b", 1000);
    await server.sql("INSERT INTO remand.worker (id, name, backend) VALUES ('c@1', 'c', 0)", url);
    await claimName(pool, "c", 1000);
    // Claiming a name takes no worker's place.
    await sleep(1500);
    expect(there.isConnected()).toBe(true);
  });

  test("when the server crashes all workers reconnect, and no place is taken", async () => {
    const workers = [present("a@1"), present("b@1"), present("c@1")];
    await until(() => workers.every((each) => each.isConnected()) && workers.some((each) => each.leads()));
    const signedIn = async (): Promise<string> => String((await server.sql(SIGNED_IN, url))[0]!["backends"]);
    const before = await signedIn();
    await server.restart("immediate");
    while ((await signedIn()).split(" ").some((backend) => before.split(" ").includes(backend))) await sleep(50);
    await until(() => workers.every((each) => each.isConnected()) && workers.some((each) => each.leads()));
    await sleep(2000);
    expect(workers.flatMap(({ took }) => took)).toEqual([]);
    expect(workers.filter((each) => each.leads())).toHaveLength(1);
  });

  /** A worker that can die: its connection is cut in both directions. */
  const mortal = async (id: string): Promise<{ readonly worker: Watched; die(): Promise<void> }> => {
    const proxy = await startProxy(server.port);
    const far = await openPool(proxy.url(workerUrl), { tryMs: 2000 });
    open.push(() => far.close());
    return { worker: present(id, far), die: () => proxy.close() };
  };

  test("a worker that dies together with the server loses its place, and no other worker does", async () => {
    const workers = [present("a@1"), present("b@1"), present("c@1")];
    const { worker, die } = await mortal("d@1");
    await until(() => [...workers, worker].every((each) => each.isConnected()));
    await die();
    await server.restart("immediate");
    await until(() => workers.some(({ took }) => took.length > 0));
    await until(() => workers.every((each) => each.isConnected()));
    expect(workers.flatMap(({ took }) => took)).toEqual(["d@1"]);
  });

  test("a worker that dies while all workers reconnect after a crash loses its place", async () => {
    const workers = [present("a@1"), present("b@1")];
    const { worker, die } = await mortal("c@1");
    await until(() => [...workers, worker].every((each) => each.isConnected()));
    const [before] = await backends("c@1");
    await server.restart("immediate");
    for (let now = before; String(now?.["backend"]) === String(before!["backend"]); [now] = await backends("c@1"))
      await sleep(20);
    await die();
    await until(() => workers.some(({ took }) => took.length > 0));
    expect(workers.flatMap(({ took }) => took)).toEqual(["c@1"]);
  });

  test("a connection that now has the pid of a dead worker's connection is left alone", async () => {
    const innocent = await pool.session();
    open.push(() => innocent.end());
    const [own] = await innocent.query<{ pid: number }>({ text: "SELECT pg_backend_pid() AS pid" });
    const long = "clock_timestamp() - interval '1 hour'";
    await server.sql(
      `INSERT INTO remand.worker (id, name, backend, since, seen) VALUES ('b@1', 'b', ${own!.pid}, ${long}, ${long})`,
      url,
    );
    const heir = present("a@1");
    await until(() => heir.took.length > 0);
    expect(heir.took).toEqual(["b@1"]);
    expect(await innocent.query({ text: "SELECT 1 AS one" })).toEqual([{ one: 1 }]);
  });
});
