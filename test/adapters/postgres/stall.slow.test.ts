/** A role that may only read cannot do anything to writers. */
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createPostgresJournal, type PostgresJournal } from "../../../src/adapters/postgres/journal.ts";
import { openPool } from "../../../src/adapters/postgres/pool.ts";
import { createPresence } from "../../../src/adapters/postgres/workers.ts";
import { createPostgresEvidence } from "../../../src/adapters/postgres/evidence.ts";
import { createPostgresNote, withLaunchTurn } from "../../../src/adapters/postgres/turns.ts";
import { A, startedEvent } from "../../contract/journal.ts";
import { fleetDatabase, type FleetDatabase, loginOf, newLogin } from "../../kit/fleet/postgres-roles.ts";
import { startPostgres, type PostgresServer } from "../../kit/fleet/postgres-server.ts";

let server: PostgresServer;
let fleet: FleetDatabase;
let journal: PostgresJournal;
let reader: pg.Client;
let length = 0;

beforeAll(async () => {
  server = await startPostgres();
  fleet = await fleetDatabase(server, { queue: true });
});
afterAll(() => server.stop());
beforeEach(async () => {
  // A shorter timeout than the pool's default: a longer wait was a stall.
  journal = await createPostgresJournal(fleet.worker, { tryMs: 2000, patienceMs: 0 });
  reader = new pg.Client({ connectionString: fleet.reader });
  reader.on("error", () => undefined);
  await reader.connect();
});
afterEach(async () => {
  await reader.end();
  await journal.close();
});

async function expectAppend(): Promise<void> {
  expect(await journal.append(A, length, [startedEvent()], 1)).toMatchObject({ ok: true });
  length += 1;
}

/** Returns the error code of a rejected statement, or `null` if it was permitted. */
const tried = (statement: string): Promise<string | null> =>
  reader.query(statement).then(
    () => null,
    (error: { readonly code: string }) => error.code,
  );

const DENIED = "42501";

describe("a role that may only read", () => {
  test("may hold every advisory lock that Remand has ever used", async () => {
    await reader.query(
      `SELECT pg_advisory_lock(1380273473, hashtext(name)) FROM unnest(ARRAY[
        'remand', 'remand snapshots', 'remand migrates', 'remand reminders', 'remand questions']) AS name`,
    );
    await reader.query(
      `SELECT pg_advisory_lock(hashtextextended(name, 0)) FROM unnest(ARRAY['remand remand lead', 'remand remand launch', 'remand remand w@1']) AS name`,
    );
    await expectAppend();
    const pool = await openPool(fleet.worker, { tryMs: 2000 });
    await createPostgresEvidence(pool).keep("printed");
    await createPostgresNote(pool, "reminders").takeTurn(() => 7);
    let isLaunched = false;
    await withLaunchTurn(pool, async () => void (isLaunched = true));
    expect(isLaunched).toBe(true);
    expect(await journal.saveSnapshot({ position: length, format: "f", parts: [] }, null)).toBe(true);
    let leads: () => void = () => undefined;
    const leading = new Promise<void>((resolve) => (leads = resolve));
    const presence = createPresence(pool, {
      id: "w@1",
      name: "w",
      takeOver: () => Promise.resolve(),
      onLead: (isLeader) => isLeader && leads(),
      onTrouble: () => undefined,
    });
    await leading;
    await presence.leave();
    await pool.close();
  });

  test("may lock all tables in an open transaction, and read them to the end", async () => {
    await reader.query("BEGIN ISOLATION LEVEL SERIALIZABLE");
    for (const table of ["line", "version", "evidence", "snapshot", "part", "outline", "worker", "lead", "reminder"]) {
      await reader.query(`LOCK TABLE ONLY remand.${table} IN ACCESS SHARE MODE`);
      await reader.query(`SELECT * FROM remand.${table}`);
    }
    await reader.query("DECLARE open_cursor CURSOR FOR SELECT * FROM remand.line; FETCH 1 FROM open_cursor");
    await reader.query("LOCK TABLE remand.log IN ACCESS SHARE MODE");
    // Prepared statements lock what they name without checking rights.
    await reader.query("PREPARE one AS UPDATE remand.line SET at = 0");
    await reader.query("PREPARE two AS SELECT FROM remand.turn FOR UPDATE");
    await reader.query("PREPARE three AS DELETE FROM remand.turn");
    await reader.query("PREPARE four AS DELETE FROM remand.outbox");
    for (let i = 0; i < 3; i++) await expectAppend();
    await reader.query("ROLLBACK");
  });

  test.each([
    ["ROW SHARE", "line"],
    ["ROW EXCLUSIVE", "line"],
    ["SHARE", "line"],
    ["EXCLUSIVE", "line"],
    ["ACCESS EXCLUSIVE", "line"],
    ["ACCESS EXCLUSIVE", "log"],
    ["ACCESS SHARE", "turn"],
    ["ACCESS EXCLUSIVE", "turn"],
    ["ACCESS SHARE", "outbox"],
  ])("may not lock IN %s MODE the table %s", async (mode, table) => {
    await reader.query("BEGIN");
    expect(await tried(`LOCK TABLE remand.${table} IN ${mode} MODE`)).toBe(DENIED);
    await expectAppend();
  });

  test.each([
    ["a row lock", "SELECT * FROM remand.line ORDER BY position DESC LIMIT 1 FOR UPDATE"],
    ["the weakest row lock", "SELECT * FROM remand.version FOR KEY SHARE"],
    ["a turn", "SELECT * FROM remand.turn FOR UPDATE"],
    ["the function", "SELECT remand.append_2('', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')"],
    ["the launch", "SELECT remand.launch_turn_1()"],
    ["the lead", "SELECT remand.try_lead_1('w@1', 1e9)"],
    [
      "a lock through a view of its own",
      "CREATE TEMP VIEW mine AS SELECT * FROM remand.line; LOCK TABLE mine IN ACCESS EXCLUSIVE MODE",
    ],
    ["a foreign key", "CREATE TEMP TABLE mine (p bigint REFERENCES remand.line)"],
    [
      "a trigger",
      "CREATE TRIGGER t BEFORE INSERT ON remand.line EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    ],
    ["a rule", "CREATE RULE r AS ON INSERT TO remand.line DO INSTEAD NOTHING"],
    ["an index", "CREATE INDEX ON remand.line (at)"],
    ["statistics", "CREATE STATISTICS public.s ON position, at FROM remand.line"],
    ["a comment", "COMMENT ON TABLE remand.line IS 'mine'"],
    ["a rewrite", "CLUSTER remand.line USING line_pkey"],
    ["a rebuilt index", "REINDEX TABLE remand.line"],
    ["an object of its own in the schema", "CREATE TABLE remand.mine ()"],
    ["the queue", "SELECT * FROM remand_queue.workflow_status"],
    [
      "the end of a worker's connection",
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename <> current_user AND datname = current_database()",
    ],
  ])("is refused %s", async (_what, statement) => {
    await reader.query("BEGIN");
    expect(await tried(statement)).not.toBeNull();
    await expectAppend();
  });

  test.each([
    "CREATE RULE r AS ON INSERT TO remand.line DO INSTEAD NOTHING",
    "CREATE RULE r AS ON INSERT TO pg_catalog.pg_class DO INSTEAD NOTHING",
    "ALTER TABLE nothing ATTACH PARTITION remand.line DEFAULT",
    "CREATE TEMP TABLE mine (LIKE remand.line) PARTITION BY RANGE (position)",
    "CREATE TRIGGER t BEFORE INSERT ON remand.line EXECUTE FUNCTION suppress_redundant_updates_trigger()",
  ])(
    "may read in an open transaction, and is rejected before it waits for a lock behind itself: %s",
    async (statement) => {
      await reader.query("BEGIN");
      await reader.query("SELECT count(*) FROM remand.line, pg_catalog.pg_class");
      const second = new pg.Client({ connectionString: fleet.reader });
      second.on("error", () => undefined);
      await second.connect();
      let refused: unknown = null;
      const asked = second.query(statement).catch((error: unknown) => (refused = error));
      await expectAppend();
      await asked;
      expect(refused).toMatchObject({ code: DENIED, message: expect.stringContaining("may not run") });
      await second.end();
    },
  );

  test("may request a vacuum of the table, which is skipped", async () => {
    for (const statement of ["VACUUM FULL remand.line", "VACUUM remand.line", "ANALYZE remand.line"]) {
      const asked = reader.query(statement);
      await expectAppend();
      await asked;
    }
  });
});

test("without roles, a login that may read all tables cannot stall appends either", async () => {
  const db = await server.newDatabase();
  const alone = await createPostgresJournal(db, { tryMs: 2000, patienceMs: 0 });
  const login = await newLogin(server, db);
  await server.sql(
    `GRANT USAGE ON SCHEMA remand TO ${loginOf(login)}; GRANT SELECT ON ALL TABLES IN SCHEMA remand TO ${loginOf(login)}`,
    db,
  );
  const client = new pg.Client({ connectionString: login });
  await client.connect();
  await client.query("SELECT pg_advisory_lock(1380273473, hashtext('remand'))");
  await client.query("BEGIN");
  for (const table of ["turn", "line", "outbox"]) await client.query(`LOCK TABLE remand.${table} IN ACCESS SHARE MODE`);
  expect(await alone.append(A, 0, [startedEvent()], 1)).toMatchObject({ ok: true });
  await expect(client.query("SELECT remand.launch_turn_1()")).rejects.toMatchObject({ code: "42501" });
  await client.end();
  await alone.close();
});

test("a role that may only read fills the notification queue, and only notifications are left out", async () => {
  // Since PostgreSQL 17 the queue can be made small; before, filling it takes 8 GB.
  const small = await startPostgres({ programs: "npm", settings: ["max_notify_queue_pages = 64"] });
  const { worker, reader: login } = await fleetDatabase(small);
  const appending = await createPostgresJournal(worker, { tryMs: 5000, patienceMs: 0 });
  const [listener, flood] = [new pg.Client({ connectionString: login }), new pg.Client({ connectionString: login })];
  await Promise.all([listener.connect(), flood.connect()]);
  try {
    // It listens in an open transaction, so no notification can be dropped.
    await listener.query("LISTEN remand_remand");
    await listener.query("BEGIN");
    await listener.query("SELECT 1");
    const one = "SELECT pg_notify('c', repeat('x', 7990))";
    let full: unknown = null;
    while (full === null)
      full = await flood.query(one).then(
        () => null,
        (error: unknown) => error,
      );
    expect(full).toMatchObject({ message: expect.stringContaining("too many notifications") });
    for (let i = 0; i < 3; i++) expect(await appending.append(A, i, [startedEvent()], 1)).toMatchObject({ ok: true });
  } finally {
    await Promise.all([listener.end(), flood.end(), appending.close()]);
    await small.stop();
  }
});
