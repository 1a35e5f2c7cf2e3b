import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { createPostgresJournal, hasJournal, openPostgresReadOnly } from "../../../src/adapters/postgres/journal.ts";
import { openPool } from "../../../src/adapters/postgres/pool.ts";
import { A, B, lines, startedEvent } from "../../contract/journal.ts";
import { startPostgres, type PostgresServer } from "../../kit/fleet/postgres-server.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());
afterEach(() => {
  vi.doUnmock("pg");
});

const refusal = async (place: string): Promise<Error & { code?: string; hint?: string }> =>
  createPostgresJournal(place).then(
    async (journal) => {
      await journal.close();
      throw new Error("it was opened");
    },
    (error: Error) => error,
  );

describe("an address that cannot be used", () => {
  test.each([
    ["mysql://remand:s3cret@localhost/x", "does not begin with postgres://"],
    ["postgres://remand:s3cret/x@local host/x", "is no URL"],
    ["postgres://remand:s3cret@localhost/x?schema=a-b", "its schema must be a plain name"],
    [`postgres://remand:s3cret@localhost/x?schema=${"a".repeat(60)}`, "at most 48"],
  ])("%s", async (address, why) => {
    const error = await refusal(address);
    expect(error).toMatchObject({ code: "usage", message: expect.stringContaining(why) });
    expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toContain("s3cret");
  });
});

describe("a server that rejects the connection", () => {
  test("is not there", async () => {
    const error = await refusal("postgres://remand:s3cret@127.0.0.1:1/x");
    expect(error).toMatchObject({
      code: "journal-unreachable",
      message: "the database postgres://127.0.0.1:1/x cannot be reached",
    });
    const unknown = await refusal("postgres://remand:s3cret@no-such-host.invalid/x");
    expect(unknown).toMatchObject({ code: "journal-unreachable" });
  });

  test("because of the password, with a message that does not repeat it", async () => {
    const { url } = server;
    const wrong = new URL(url);
    wrong.password = "hunter2hunter2";
    const error = await refusal(wrong.href);
    expect(error).toMatchObject({ code: "journal-refused", message: expect.stringContaining('for user "remand"') });
    const said = `${error.message} ${error.hint} ${error.stack} ${String((error.cause as Error).stack)}`;
    expect(said).not.toContain("hunter2");
  });

  test("because the database does not exist", async () => {
    expect(await refusal(server.url.replace(/postgres$/, "nowhere"))).toMatchObject({
      code: "journal-refused",
      message: expect.stringContaining("no database of that name"),
    });
  });

  test("because of missing rights; a user who may only read can read", async () => {
    const url = await server.newDatabase();
    await server.sql(`CREATE ROLE looker_${count()} LOGIN PASSWORD 'looks' NOSUPERUSER`);
    const looker = new URL(url);
    [looker.username, looker.password] = [`looker_${number}`, "looks"];
    expect(await refusal(looker.href)).toMatchObject({
      code: "journal-refused",
      message: expect.stringContaining("permission denied"),
      hint: expect.stringContaining("GRANT".toLowerCase()),
    });
    const journal = await createPostgresJournal(url);
    await journal.append(A, 0, [startedEvent()], 1);
    await server.sql(
      `GRANT USAGE ON SCHEMA remand TO looker_${number}; GRANT SELECT ON ALL TABLES IN SCHEMA remand TO looker_${number}`,
      url,
    );
    const pool = await openPool(looker.href);
    const reader = await openPostgresReadOnly(pool);
    expect(await lines(reader)).toHaveLength(1);
    expect(await reader.verify()).toMatchObject({ ok: true });
    await reader.close();
    await pool.close();
    const writer = await createPostgresJournal(looker.href);
    await expect(writer.append(A, 1, [startedEvent()], 1)).rejects.toMatchObject({ code: "journal-refused" });
    await writer.close();
    await journal.close();
  });

  test("because it is read-only", async () => {
    const url = await server.newDatabase();
    const journal = await createPostgresJournal(url);
    await journal.append(A, 0, [startedEvent()], 1);
    await journal.close();
    await server.sql(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_read_only = on`);
    const readonly = await createPostgresJournal(url);
    expect(await lines(readonly)).toHaveLength(1);
    await expect(readonly.append(A, 1, [startedEvent()], 1)).rejects.toMatchObject({ code: "journal-readonly" });
    await readonly.close();
  });

  test("has a full disk: only what does not fit is rejected, and existing data stays", async () => {
    const url = await server.newDatabase();
    const journal = await createPostgresJournal(url);
    await server.sql(
      `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = '53100'; END $$;
       CREATE TRIGGER full_disk BEFORE INSERT ON remand.line FOR EACH ROW WHEN (length(new.event) > 1000)
         EXECUTE FUNCTION full_disk()`,
      url,
    );
    const large = journal.append(A, 0, [startedEvent("x".repeat(2000))], 1);
    const small = journal.append(B, 0, [startedEvent()], 1);
    await expect(large).rejects.toMatchObject({ code: "journal-full" });
    expect(await small).toMatchObject({ ok: true });
    expect(await lines(journal)).toHaveLength(1);
    await journal.close();
  });

  test("is reported if the package pg is missing", async () => {
    vi.doMock("pg", () => {
      throw new Error("Cannot find package 'pg'");
    });
    vi.resetModules();
    const { openPool: open } = await import("../../../src/adapters/postgres/pool.ts");
    await expect(open(server.url)).rejects.toMatchObject({
      code: "journal-unreachable",
      hint: expect.stringContaining("npm install pg"),
    });
  });
});

describe("the tables", () => {
  test("are created once when many open at the same time", async () => {
    const url = await server.newDatabase();
    const journals = await Promise.all(Array.from({ length: 8 }, () => createPostgresJournal(url)));
    await Promise.all(journals.map((journal, i) => journal.append(A, i, [startedEvent()], 1)));
    expect(await lines(journals[0]!)).not.toHaveLength(0);
    for (const journal of journals) await journal.close();
  });

  test("of a newer Remand are left alone", async () => {
    const url = await server.newDatabase();
    await (await createPostgresJournal(url)).close();
    await server.sql("UPDATE remand.version SET version = 99", url);
    expect(await refusal(url)).toMatchObject({ code: "journal-newer", message: expect.stringContaining("version 99") });
    const pool = await openPool(url);
    await expect(hasJournal(pool)).rejects.toMatchObject({ code: "journal-newer" });
    await pool.close();
  });

  test("stop this Remand when a newer one migrates them", async () => {
    const url = await server.newDatabase();
    const journal = await createPostgresJournal(url);
    const [{ name }] = (await server.sql(
      "SELECT oid::regprocedure AS name FROM pg_proc WHERE proname = 'append_2'",
      url,
    )) as [{ name: string }];
    await server.sql(`DROP FUNCTION ${name}`, url);
    await expect(journal.append(A, 0, [startedEvent()], 1)).rejects.toMatchObject({ code: "journal-newer" });
    await journal.close();
  });

  test("are not created in another program's schema, or in a database with another encoding", async () => {
    const url = await server.newDatabase();
    await server.sql("CREATE SCHEMA remand; CREATE TABLE remand.theirs (x integer)", url);
    expect(await refusal(url)).toMatchObject({
      code: "journal-refused",
      message: expect.stringContaining("not Remand's"),
    });
    await server.sql(`CREATE DATABASE latin_${count()} ENCODING 'LATIN1' TEMPLATE template0`);
    expect(await refusal(url.replace(/test_\w+/, `latin_${number}`))).toMatchObject({
      code: "journal-refused",
      message: expect.stringContaining("LATIN1"),
    });
  });

  test("of several projects share a database independently", async () => {
    const url = await server.newDatabase();
    const [one, two] = [await createPostgresJournal(url), await createPostgresJournal(`${url}?schema=other`)];
    await one.append(A, 0, [startedEvent("one")], 1);
    await two.append(A, 0, [startedEvent("two"), startedEvent("more")], 1);
    expect(await lines(one)).toHaveLength(1);
    expect(await lines(two)).toHaveLength(2);
    await one.close();
    await two.close();
  });

  test("are not created by a reader", async () => {
    const url = await server.newDatabase();
    const pool = await openPool(url);
    expect(await hasJournal(pool)).toBe(false);
    await pool.close();
    expect(await server.sql("SELECT 1 FROM pg_namespace WHERE nspname = 'remand'", url)).toEqual([]);
  });
});

test("an administrator's settings cannot make an acknowledged commit unsafe", async () => {
  const url = await server.newDatabase();
  const database = new URL(url).pathname.slice(1);
  await server.sql(`ALTER DATABASE ${database} SET synchronous_commit = off`);
  await server.sql(`ALTER DATABASE ${database} SET default_transaction_isolation = serializable`);
  const pool = await openPool(url);
  const [row] = await pool.query({
    text: "SELECT current_setting('synchronous_commit') AS commit, current_setting('transaction_isolation') AS isolation",
  });
  expect(row).toEqual({ commit: "on", isolation: "read committed" });
  await pool.close();
});

test("tampering is detected", async () => {
  const url = await server.newDatabase();
  const journal = await createPostgresJournal(url);
  await journal.append(A, 0, [startedEvent("1"), startedEvent("2"), startedEvent("3")], 1);
  await server.sql("UPDATE remand.line SET event = replace(event, '\"2\"', '\"9\"') WHERE position = 2", url);
  expect(await journal.verify()).toMatchObject({ ok: false, position: 2 });
  await server.sql("DELETE FROM remand.line WHERE position = 2", url);
  expect(await journal.verify()).toMatchObject({
    ok: false,
    position: 2,
    problem: "lines are missing: 1 is followed by 3",
  });
  await journal.close();
});

let number = 0;
const count = (): number => ++number;
