import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPostgresJournal } from "../../../src/adapters/postgres/journal.ts";
import { NEWEST_VERSION } from "../../../src/adapters/postgres/schema.ts";
import { command as doctor } from "../../../src/cli/commands/set-up/doctor.ts";
import type { Probe } from "../../../src/app/host.ts";
import { createHost } from "../../../src/compose/host.ts";
import { storyId } from "../../../src/core/events/ids.ts";
import { run, type Ran } from "../../kit/fake-environment.ts";
import { memoryFiles } from "../../kit/memory-files.ts";
import { story } from "../../kit/story-world.ts";
import { fleetDatabase, loginOf, newLogin } from "../../kit/fleet/postgres-roles.ts";
import { startPostgres, type PostgresServer } from "../../kit/fleet/postgres-server.ts";

let server: PostgresServer;
let root: string;
beforeAll(async () => {
  server = await startPostgres();
  root = mkdtempSync(join(tmpdir(), "remand-doctor-"));
});
afterAll(async () => {
  await server.stop();
  rmSync(root, { recursive: true, force: true });
});

const CONFIG =
  "preset: goal\nagents: { developer: { use: command, command: 'true' } }\ngates: { checks: { commands: [node --version] } }\n";

function asked(db: string, args: readonly string[] = ["doctor", "--db", db], env = {}): Promise<Ran> {
  return run([...args], [doctor], {
    host: createHost({ PATH: process.env["PATH"] }),
    cwd: root,
    isFolder: () => Promise.resolve(true),
    files: memoryFiles({ [join(root, "remand.yaml")]: CONFIG }),
    env,
  });
}

/** Returns the doctor's results about the database, by name; checks that its password is not shown. */
async function probesOf(db: string): Promise<Record<string, Probe>> {
  const ran = await asked(db, ["doctor", "--json", "--db", db]);
  expect(ran.err).toBe("");
  const password = new URL(db).password;
  for (const word of [password, decodeURIComponent(password)]) if (word !== "") expect(ran.out).not.toContain(word);
  const { probes } = JSON.parse(ran.out) as { probes: Probe[] };
  expect(ran.exit).toBe(probes.every(({ ok }) => ok) ? 0 : 1);
  return Object.fromEntries(probes.map((probe) => [probe.name, probe]));
}

/** Makes a database with a journal of one line. */
async function withJournal(): Promise<string> {
  const db = await server.newDatabase();
  const journal = await createPostgresJournal(db);
  await journal.append(storyId("a"), 0, [{ type: "story.added", story: story("a") }], 1000);
  await journal.close();
  return db;
}

const changed = (db: string, change: (url: URL) => void): string => {
  const url = new URL(db);
  change(url);
  return url.href;
};

describe("remand doctor, of a fleet's database", () => {
  test("accepts a journal of Remand, and lists its workers; with the option or the variable", async () => {
    const db = await withJournal();
    expect(await probesOf(db)).toMatchObject({
      git: { ok: true, detail: "no repository here" },
      database: {
        ok: true,
        detail: expect.stringMatching(/^postgres:\/\/127\.0\.0\.1.*, PostgreSQL \d+.*, without TLS$/),
      },
      "fleet's journal": { ok: true, detail: `1 line, tables of version ${NEWEST_VERSION}` },
      workers: { ok: true, detail: "none is alive: start a remand worker to continue" },
    });
    await server.sql(
      `INSERT INTO remand.worker (id, name, backend, seen) VALUES
        ('w-1', 'anvil', 1, clock_timestamp() + interval '1 hour'), ('w-2', 'bellows', 2, clock_timestamp() - interval '2 minutes')`,
      db,
    );
    const told = await asked(db, ["doctor"], { REMAND_DB: db });
    expect(told.exit).toBe(0);
    expect(told.out).toContain("✔ ok       workers: 1 is alive: anvil; 1 was heard last 2 m ago (bellows)\n");
    expect(told.out).not.toContain("journal: none yet");
  });

  test("does not miss a project if there is none", async () => {
    const db = await withJournal();
    const ran = await run(["doctor", "--db", db], [doctor], {
      host: createHost({ PATH: process.env["PATH"] }),
      cwd: root,
      isFolder: () => Promise.resolve(true),
      files: memoryFiles({}),
    });
    expect(ran).toMatchObject({ exit: 0, err: "" });
    expect(ran.out).toContain("fleet's journal");
    expect(ran.out).not.toMatch(/config|checks|agent/);
  });

  test("creates nothing in an empty database, and says what will", async () => {
    const db = await server.newDatabase();
    expect((await probesOf(db))["fleet's journal"]).toMatchObject({
      ok: true,
      detail: expect.stringContaining("none yet"),
    });
    expect(await server.sql("SELECT 1 FROM pg_namespace WHERE nspname = 'remand'", db)).toEqual([]);
  });

  test.each([
    ["an older one", 1, `tables of version 1, and this Remand wants ${NEWEST_VERSION}`, "remand migrate --no-move"],
    ["a newer one", 99, `tables of version 99, and this Remand knows ${NEWEST_VERSION}`, "Use the newer Remand"],
  ])("distinguishes %s from Remand's tables, and changes nothing", async (_what, version, detail, fix) => {
    const db = await withJournal();
    await server.sql(`UPDATE remand.version SET version = ${version}`, db);
    expect((await probesOf(db))["fleet's journal"]).toMatchObject({
      ok: false,
      detail: expect.stringContaining(detail),
      fix: expect.stringContaining(fix),
    });
    expect(await server.sql("SELECT version FROM remand.version", db)).toEqual([{ version }]);
  });

  test("recognizes tables of other programs", async () => {
    const db = await server.newDatabase();
    await server.sql("CREATE SCHEMA remand CREATE TABLE invoice (id integer)", db);
    expect((await probesOf(db))["fleet's journal"]).toMatchObject({
      ok: false,
      detail: expect.stringContaining("holds tables that are not Remand's"),
      fix: expect.stringContaining("?schema=name"),
    });
  });

  test("knows what a user may do: nothing, read, or not even start", async () => {
    const db = await withJournal();
    const empty = await server.newDatabase();
    const word = randomBytes(6).toString("hex");
    await server.sql(`CREATE ROLE guest LOGIN PASSWORD '${word}'`);
    const as = (address: string): string =>
      changed(address, (url) => {
        url.username = "guest";
        url.password = word;
      });
    expect((await probesOf(as(db)))["fleet's journal"]).toMatchObject({
      ok: false,
      detail: "the user guest may not read the schema remand",
      fix: expect.stringContaining("GRANT USAGE ON SCHEMA remand TO guest"),
    });
    expect((await probesOf(as(empty)))["fleet's journal"]).toMatchObject({
      ok: false,
      detail: "none yet, and this user may not make it",
    });
    await server.sql("GRANT USAGE ON SCHEMA remand TO guest; GRANT SELECT ON ALL TABLES IN SCHEMA remand TO guest", db);
    expect(await probesOf(as(db))).toMatchObject({
      "fleet's journal": { ok: true, detail: `1 line, tables of version ${NEWEST_VERSION}` },
      roles: {
        ok: true,
        detail: expect.stringContaining("one role for all: remand owns the tables; read: guest. To let"),
      },
      "this user": { ok: true, detail: "guest may read; it may not append, change or delete lines" },
    });
  });

  test("shows the roles that remand migrate made, and what each login may do", async () => {
    const { admin, worker, reader, roles } = await fleetDatabase(server, { queue: true });
    const [works, reads] = [loginOf(worker), loginOf(reader)];
    const there = {
      ok: true,
      detail: `${roles.owner} owns the tables; append: ${roles.worker} (${works}); read: ${roles.reader} (${works}, ${reads})`,
    };
    expect(await probesOf(worker)).toMatchObject({
      roles: there,
      "this user": {
        ok: true,
        detail: `${works} may read, append and take jobs; it may not change or delete lines`,
      },
    });
    expect(await probesOf(reader)).toMatchObject({
      roles: there,
      "this user": { ok: true, detail: `${reads} may read; it may not append, change or delete lines` },
    });
    expect((await probesOf(admin))["this user"]).toMatchObject({
      ok: true,
      detail: expect.stringMatching(
        /^remand, a superuser, may read, append, and change lines\. Good for an administrator/,
      ),
    });
    await server.sql("ALTER EVENT TRIGGER remand_guard DISABLE", admin);
    expect((await probesOf(admin))["roles"]!.detail).toContain("can stall appends by CREATE RULE and the like");
    // A role with the same rights under another name is recognized by its rights.
    const other = await newLogin(server, admin, [roles.worker]);
    expect((await probesOf(other))["this user"]!.detail).toContain("append and take jobs");
    await server.sql(`REVOKE USAGE ON SCHEMA remand_queue FROM "${roles.worker}"`, admin);
    expect((await probesOf(other))["this user"]).toMatchObject({
      ok: false,
      detail: expect.stringContaining("it may not use the queue"),
      fix: expect.stringContaining("remand migrate --no-move"),
    });
  });

  test("lists every way around the functions, with the statement that closes it", async () => {
    const { admin, worker, roles } = await fleetDatabase(server);
    await server.sql(
      `GRANT TRIGGER ON remand.line TO "${roles.worker}"; GRANT UPDATE (hash) ON remand.line TO "${roles.reader}";
       GRANT EXECUTE ON FUNCTION remand.append_2 TO PUBLIC; GRANT CREATE ON SCHEMA remand TO "${roles.worker}"`,
      admin,
    );
    const found = (await probesOf(worker))["roles"]!;
    expect(found).toMatchObject({ ok: false });
    for (const right of ["TRIGGER on line", "CREATE in the schema", "UPDATE on line", "PUBLIC has EXECUTE on append_2"])
      expect(found.detail).toContain(right);
    await server.sql(found.fix, admin);
    expect((await probesOf(worker))["roles"]).toMatchObject({ ok: true });
  });

  test.each<[string, (url: URL) => void, string, string]>([
    ["a wrong password", (url) => (url.password = "hunter-two"), "refuses the user or the password", "PGPASSWORD"],
    ["an unknown host", (url) => (url.hostname = "no-such-host.invalid"), "no host of that name", "name of the host"],
    ["a port without a server", (url) => (url.port = "1"), "cannot be reached", "firewall"],
    ["a database that is not there", (url) => (url.pathname = "/nosuch"), "no database of that name", "createdb"],
    ["TLS that the server does not know", (url) => (url.search = "?sslmode=verify-full"), "knows no TLS", "ssl = on"],
  ])("says what to do about %s", async (_what, change, detail, fix) => {
    const { database, ...others } = await probesOf(changed(server.url, change));
    expect(database).toMatchObject({
      ok: false,
      detail: expect.stringContaining(detail),
      fix: expect.stringContaining(fix),
    });
    expect(others).not.toHaveProperty("workers");
  });

  test("and says what to do about a server that requires TLS", async () => {
    const [row] = await server.sql("SHOW hba_file");
    const file = String(row!["hba_file"]);
    const write = (line: string) =>
      server.sql(
        `COPY (SELECT unnest(string_to_array(${line}, E'\\n'))) TO '${file}' WITH (FORMAT text); SELECT pg_reload_conf()`,
      );
    await server.sql("CREATE ROLE far LOGIN PASSWORD 'away'");
    await write(`'hostnossl all far all reject' || E'\\n' || pg_read_file('${file}')`);
    const far = changed(server.url, (url) => {
      url.username = "far";
      url.password = "away";
    });
    await expect
      .poll(async () => (await probesOf(far))["database"]!.detail)
      .toContain("refuses connections without TLS");
    expect((await probesOf(far))["database"]!.fix).toContain("?sslmode=verify-full");
  });
});
