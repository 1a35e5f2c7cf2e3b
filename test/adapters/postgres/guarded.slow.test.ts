/** What a worker can do to the journal: append valid lines through the functions, and nothing else. */
import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createPostgresEvidence } from "../../../src/adapters/postgres/evidence.ts";
import { createPostgresJournal, type PostgresJournal } from "../../../src/adapters/postgres/journal.ts";
import { openPool } from "../../../src/adapters/postgres/pool.ts";
import { storyId } from "../../../src/core/events/ids.ts";
import { A, lines, startedEvent } from "../../contract/journal.ts";
import { fleetDatabase, newLogin, type FleetDatabase } from "../../kit/fleet/postgres-roles.ts";
import { startPostgres, type PostgresServer } from "../../kit/fleet/postgres-server.ts";

let server: PostgresServer;
let fleet: FleetDatabase;
let journal: PostgresJournal;
let worker: pg.Client;

/** The number of lines before a test, in total and of the story A. */
let before = { all: 0, ofA: 0 };

beforeAll(async () => {
  server = await startPostgres();
  fleet = await fleetDatabase(server);
  journal = await createPostgresJournal(fleet.worker);
  await journal.append(A, 0, [startedEvent("1"), startedEvent("2")], 1_700_000_000_000);
});
afterAll(async () => {
  await journal.close();
  await server.stop();
});
beforeEach(async () => {
  const all = await lines(journal);
  before = { all: all.length, ofA: all.filter(({ story }) => story === A).length };
  worker = new pg.Client({ connectionString: fleet.worker });
  await worker.connect();
});
afterEach(() => worker.end());

const codeOf = (asked: Promise<unknown>): Promise<string | null> =>
  asked.then(
    () => null,
    (error: { readonly code: string }) => error.code,
  );

const DENIED = "42501";
const NOT_A_LINE = "RM001";

interface Forged {
  streams: readonly (string | null)[];
  expected: readonly (number | null)[];
  counts: readonly (number | null)[];
  ats: readonly (string | null)[];
  events: readonly (string | null)[];
}

/** Calls the function like an attacker with a worker's login. */
function append(forged: Partial<Forged>): Promise<{ rows: Record<string, unknown>[] }> {
  const line: Forged = {
    streams: ["A"],
    expected: [before.ofA],
    counts: [1],
    ats: ["5"],
    events: ['{"type":"story.held"}'],
  };
  const { streams, expected, counts, ats, events } = { ...line, ...forged };
  return worker.query("SELECT * FROM remand.append_2('', $1, $2, $3, $4, $5, $6, '{}', '{}', '{}', '{}')", [
    streams.map(() => randomUUID()),
    streams,
    expected,
    counts,
    ats,
    events,
  ]);
}

async function expectUntouched(more = 0): Promise<void> {
  expect(await lines(journal)).toHaveLength(before.all + more);
  expect(await journal.verify()).toMatchObject({ ok: true });
}

describe("without the functions", () => {
  test.each([
    "INSERT INTO remand.line VALUES (3, 'A', 3, 1, 1, '{\"type\":\"x\"}', repeat('0', 64))",
    "UPDATE remand.line SET event = '{}'",
    "UPDATE remand.line SET hash = hash WHERE position = 1",
    "DELETE FROM remand.line",
    "TRUNCATE remand.line",
    "COPY remand.line FROM STDIN",
    "MERGE INTO remand.line USING (SELECT 1) AS x ON false WHEN NOT MATCHED THEN INSERT VALUES (3, 'A', 3, 1, 1, '', '')",
    "SELECT * FROM remand.line FOR SHARE",
    "DROP TABLE remand.line",
    "ALTER TABLE remand.line DISABLE TRIGGER ALL",
    "CREATE TABLE remand.mine ()",
    "CREATE OR REPLACE FUNCTION remand.is_connected_1(integer, text) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
    "ALTER FUNCTION remand.launch_turn_1 OWNER TO CURRENT_USER",
    "UPDATE remand.log SET event = '{}'",
    "DELETE FROM remand.evidence",
    "UPDATE remand.worker SET seen = now()",
    "UPDATE remand.lead SET holder = 'me'",
    "DELETE FROM remand.outbox",
    "DELETE FROM remand.turn",
    "UPDATE remand.version SET version = 99",
    "INSERT INTO remand.snapshot VALUES (true, 1, 'f', 'c', 1)",
    "GRANT INSERT ON remand.line TO PUBLIC",
  ])("a worker is rejected: %s", async (statement) => {
    const refused = await worker.query(statement).catch((error: unknown) => error);
    // A GRANT without effect is only a warning.
    if (!statement.startsWith("GRANT")) expect(refused).toMatchObject({ code: DENIED });
    expect(await codeOf(worker.query("INSERT INTO remand.line VALUES (3, 'A', 3, 1, 1, '', '')"))).toBe(DENIED);
    await expectUntouched();
  });

  test("a worker cannot become the owner", async () => {
    expect(await codeOf(worker.query(`SET ROLE "${fleet.roles.owner}"`))).toBe(DENIED);
    expect(await codeOf(worker.query(`GRANT "${fleet.roles.owner}" TO CURRENT_USER`))).not.toBeNull();
  });
});

describe("with the functions", () => {
  test.each<[string, Partial<Forged>]>([
    ["an event that is no JSON", { events: ["{"] }],
    ["an event that is no object", { events: ['["type"]'] }],
    ["an event without a type", { events: ['{"kind":"story.held"}'] }],
    ["a type that is no text", { events: ['{"type":{"a":1}}'] }],
    ["a type that is hidden by an escape", { events: ['{"\\u0074ype":"story.held","a":"\\u0000"}'] }],
    ["two lines in one", { events: ['{"type":"a"},"position":9,"x":{"type":"b"}'] }],
    ["an event that is null", { events: [null] }],
    ["an event of more than 32 MiB", { events: [`{"type":"a","x":"${"x".repeat(33_554_432)}"}`] }],
    ["a time that is no number", { ats: ["NaN"] }],
    ["a time in another form", { ats: ["5.0"] }],
    ["a time in yet another form", { ats: ["2e+12"] }],
    ["a time that hides another key", { ats: ['5,"event":{}'] }],
    ["a time before 1970", { ats: ["-1"] }],
    ["a stream that is no story's", { streams: ['A","x":"'] }],
    ["a stream with a line break", { streams: ["A\n"] }],
    ["a stream that is null", { streams: [null] }],
    ["no expected length", { expected: [null] }],
    ["more lines than events", { counts: [2] }],
    ["fewer lines than events", { counts: [0] }],
    ["a count below zero", { counts: [-1] }],
    ["fewer times than appends", { streams: ["A", "B"], expected: [before.ofA, 0], counts: [1, 0], ats: ["5"] }],
  ])("a worker cannot append %s", async (_what, forged) => {
    expect([NOT_A_LINE, "22P02", DENIED]).toContain(await codeOf(append(forged)));
    await expectUntouched();
  });

  test("a line is appended at the end or not at all: no gap, no insertion, no hash of the caller's own", async () => {
    for (const expected of [0, before.ofA - 1, before.ofA + 1, 99])
      expect((await append({ expected: [expected] })).rows).toMatchObject([{ is_ok: false, actual: `${before.ofA}` }]);
    await expectUntouched();
    expect((await append({})).rows).toMatchObject([{ is_ok: true, first: `${before.all + 1}` }]);
    await expectUntouched(1);
  });

  test("settings of the worker's session do not change what is checked", async () => {
    for (const setting of [
      "search_path = pg_temp, public",
      "extra_float_digits = -15",
      "standard_conforming_strings = off",
      "escape_string_warning = off",
    ])
      await worker.query(`SET ${setting}`);
    // Workers may not even create temporary objects.
    expect(await codeOf(worker.query("CREATE TEMP TABLE line (position bigint, hash text)"))).toBe(DENIED);
    expect(await codeOf(append({ ats: ["2e+12"] }))).toBe(NOT_A_LINE);
    expect(await codeOf(append({ ats: ["1700000000000.1234"] }))).toBe(NOT_A_LINE);
    expect((await append({ events: ['{"by":"a\\u0000\\\\u","type":"story.held"}'] })).rows).toMatchObject([
      { is_ok: true },
    ]);
    await expectUntouched(1);
  });

  test("a worker with an old state of the journal cannot overwrite newer lines", async () => {
    await worker.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
    await worker.query("SELECT 1 FROM remand.line");
    await journal.append(storyId(`b-${before.all}`), 0, [startedEvent()], 1);
    expect(await codeOf(append({}))).toBe("23505");
    await worker.query("ROLLBACK");
    await expectUntouched(1);
  });

  test("stored evidence cannot be replaced, and only evidence can be stored", async () => {
    const pool = await openPool(fleet.worker);
    const evidence = createPostgresEvidence(pool);
    const id = await evidence.keep("as it was");
    const keep = (name: string, bytes: Buffer) => worker.query("SELECT remand.keep_evidence_1($1, $2)", [name, bytes]);
    await keep(id, gzipSync("something else"));
    expect(await evidence.read(id)).toBe("as it was");
    expect(await codeOf(keep("../x", gzipSync("x")))).toBe(NOT_A_LINE);
    expect(await codeOf(keep("0".repeat(64), Buffer.from("no gzip")))).toBe(NOT_A_LINE);
    await pool.close();
  });

  test("the journal's error names what was rejected", async () => {
    const large = journal.append(A, before.ofA, [startedEvent("x".repeat(33_554_432))], 1);
    await expect(large).rejects.toMatchObject({
      code: "journal-refused",
      message: expect.stringContaining("at most 33554432 are allowed"),
    });
    await expectUntouched();
  });
});

test("two workers with their own logins append at once, and nothing is lost", async () => {
  const second = await newLogin(server, fleet.admin, [fleet.roles.worker]);
  const journals = [journal, await createPostgresJournal(second)];
  const EACH = 150;
  await Promise.all(
    journals.map(async (each, i) => {
      for (let n = 0; n < EACH; n++)
        expect(await each.append(storyId(`of-${i}`), n, [startedEvent(`${n}`)], n)).toMatchObject({ ok: true });
    }),
  );
  await journals[1]!.close();
  await expectUntouched(2 * EACH);
});
