/**
 * `remand migrate` creates the roles of a fleet's database: new, of an older version, repeated, and without the rights
 * for it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPostgresEvidence } from "../../../src/adapters/postgres/evidence.ts";
import { createPostgresJournal } from "../../../src/adapters/postgres/journal.ts";
import { openPool } from "../../../src/adapters/postgres/pool.ts";
import { migrate, NEWEST_VERSION } from "../../../src/adapters/postgres/schema.ts";
import { createDbosQueue } from "../../../src/adapters/queue/dbos-queue.ts";
import { command } from "../../../src/cli/commands/serve/migrate.ts";
import { createHost } from "../../../src/compose/host.ts";
import { A, B, lines, startedEvent } from "../../contract/journal.ts";
import { run, type Ran } from "../../kit/fake-environment.ts";
import { loginOf, newLogin } from "../../kit/fleet/postgres-roles.ts";
import { startPostgres, type PostgresServer } from "../../kit/fleet/postgres-server.ts";

let server: PostgresServer;
let root: string;
beforeAll(async () => {
  server = await startPostgres();
  root = mkdtempSync(join(tmpdir(), "remand-roles-"));
});
afterAll(async () => {
  await server.stop();
  rmSync(root, { recursive: true, force: true });
});

const migrated = (url: string, ...more: readonly string[]): Promise<Ran> =>
  run(["migrate", "--no-move", "--to", url, ...more], [command], { host: createHost({}), cwd: root });

const databaseOf = (url: string): string => new URL(url).pathname.slice(1);

const rolesOf = async (prefix: string): Promise<readonly unknown[]> =>
  (await server.sql(`SELECT rolname FROM pg_roles WHERE rolname LIKE '${prefix}\\_%' ORDER BY 1`)).map(
    ({ rolname }) => rolname,
  );

async function append(url: string, at: number): Promise<unknown> {
  const journal = await createPostgresJournal(url);
  try {
    return await journal.append(A, at, [startedEvent(`${at}`)], at);
  } finally {
    await journal.close();
  }
}

/** Makes a database of the version before roles, as workers made it with a login that owned everything. */
async function oldDatabase(attributes = ""): Promise<{ readonly admin: string; readonly owner: string }> {
  const admin = await server.newDatabase();
  const owner = await newLogin(server, admin, [], attributes);
  await server.sql(`GRANT CREATE ON DATABASE ${databaseOf(admin)} TO ${loginOf(owner)}`);
  const pool = await openPool(owner);
  await migrate(pool, 3);
  await pool.query({
    text: `SELECT remand.append_1('w', 1, ARRAY[gen_random_uuid()], '{A}', ARRAY['"A"'], '{0}', '{2}', '{1}',
      ARRAY['{"by":"0","type":"story.started"}', '{"by":"1","type":"story.started"}'], '{}', '{}', '{}', '{}')`,
  });
  await pool.close();
  return { admin, owner };
}

describe("remand migrate --no-move", () => {
  test("creates the tables, the queue's and the roles; workers can do everything they need", async () => {
    const admin = await server.newDatabase();
    const prefix = `${databaseOf(admin)}_remand`;
    const first = await migrated(admin);
    expect(first).toMatchObject({ exit: 0, err: "" });
    expect(first.out).toContain(`set up the tables in postgres://127.0.0.1:${server.port}/${databaseOf(admin)}\n`);
    expect(first.out).toContain(
      `roles: ${prefix}_owner owns the tables, ${prefix}_worker appends, ${prefix}_reader reads (new: ${prefix}_owner, `,
    );
    expect(first.out).toContain(`IN ROLE ${prefix}_worker;`);
    expect(await rolesOf(prefix)).toEqual([`${prefix}_owner`, `${prefix}_reader`, `${prefix}_worker`]);
    const worker = await newLogin(server, admin, [`${prefix}_worker`]);
    // As in the guide: nothing here needs an advisory lock.
    const [revoke] = await server.sql(
      `SELECT string_agg(format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC;', oid::regprocedure), ' ') AS all
        FROM pg_proc WHERE proname ~ '^pg_(try_)?advisory_'`,
      admin,
    );
    await server.sql(String(revoke!["all"]), admin);
    await expect(server.sql("SELECT pg_advisory_lock(1)", worker)).rejects.toMatchObject({ code: "42501" });
    expect(await append(worker, 0)).toMatchObject({ ok: true });
    // The queue's library starts without the right to create tables.
    const ran: string[] = [];
    const queue = await createDbosQueue({
      url: worker,
      schema: "remand",
      worker: "w@1",
      limits: { checks: 1 },
      pollMs: 20,
    });
    await queue.start(async (id) => void ran.push(id));
    await queue.enqueue([{ id: "a:1", lane: "checks" }]);
    await expect.poll(() => ran).toEqual(["a:1"]);
    await queue.stop(1000);
  });

  test("can be repeated, keeps a chosen prefix, and revokes what was granted meanwhile", async () => {
    const admin = await server.newDatabase();
    expect((await migrated(admin, "--roles", "acme", "--dry-run")).out).toContain(
      "would use the roles acme_owner, acme_worker, acme_reader\n",
    );
    expect(await rolesOf("acme")).toEqual([]);
    await migrated(admin, "--roles", "acme");
    await server.sql(
      "GRANT ALL ON remand.line TO acme_worker, PUBLIC; GRANT EXECUTE ON FUNCTION remand.append_2 TO PUBLIC",
      admin,
    );
    const again = await Promise.all([migrated(admin), migrated(admin)]);
    for (const { exit, out } of again) {
      expect(exit).toBe(0);
      expect(out).toContain("roles: acme_owner owns the tables, acme_worker appends, acme_reader reads\n");
    }
    const worker = await newLogin(server, admin, ["acme_worker"]);
    await expect(server.sql("DELETE FROM remand.line", worker)).rejects.toMatchObject({ code: "42501" });
    const stranger = await newLogin(server, admin);
    await expect(server.sql("SELECT * FROM remand.line", stranger)).rejects.toMatchObject({ code: "42501" });
    expect(JSON.parse((await migrated(admin, "--json")).out)).toMatchObject({
      schema: "remand.migrate/1",
      lines: 0,
      head: null,
      roles: { state: "made", created: [], hasQueue: true, hasGuard: true, roles: { owner: "acme_owner" } },
    });
  });

  test("rejects a worker's login, and says which login to use", async () => {
    const admin = await server.newDatabase();
    await migrated(admin, "--roles", "other");
    const worker = await newLogin(server, admin, ["other_worker"]);
    expect(await migrated(worker)).toMatchObject({
      exit: 1,
      err: expect.stringMatching(
        /may not change the tables of .*, which other_owner owns\n {2}Run it as a member of other_owner/,
      ),
    });
  });

  test("continues with one role if the user may not create roles, and says what an administrator must run", async () => {
    const admin = await server.newDatabase();
    const owner = await newLogin(server, admin);
    await server.sql(`GRANT CREATE ON DATABASE ${databaseOf(admin)} TO ${loginOf(owner)}`);
    const refused = await migrated(owner, "--roles", "late");
    expect(refused).toMatchObject({ exit: 0, err: "" });
    expect(refused.out).toContain(
      `no roles: the user ${loginOf(owner)} may not make them (permission denied to create role)`,
    );
    expect(await append(owner, 0)).toMatchObject({ ok: true });
    const statements = refused.out.split("\n").filter((line) => line.startsWith("  "));
    expect(statements.join("\n")).toContain('CREATE ROLE "late_worker" NOLOGIN;');
    await server.sql(statements.join("\n"), admin);
    expect((await migrated(owner, "--roles", "late")).out).toContain(
      "roles: late_owner owns the tables, late_worker appends",
    );
    expect(await append(await newLogin(server, admin, ["late_worker"]), 1)).toMatchObject({ ok: true });
  });

  test("makes a user who may create roles a member of the owner's role", async () => {
    const admin = await server.newDatabase();
    const maker = await newLogin(server, admin, [], "CREATEROLE");
    await server.sql(`GRANT CREATE ON DATABASE ${databaseOf(admin)} TO ${loginOf(maker)}`);
    const made = await migrated(maker, "--roles", "made");
    expect(made.out).toContain("roles: made_owner owns the tables");
    expect(made.out).toContain("Members of made_reader can still stall appends by statements such as CREATE RULE");
    expect((await migrated(maker)).out).toContain("roles: made_owner owns the tables");
    expect(await append(await newLogin(server, admin, ["made_worker"]), 0)).toMatchObject({ ok: true });
    expect((await migrated(admin)).out).not.toContain("can still stall");
    // The owner of the tables may still change them, and removed roles do not hinder any user.
    expect((await migrated(maker)).out).toContain("roles: made_owner owns the tables");
  });
});

describe("a database of the previous version", () => {
  test("is migrated with its lines unchanged; the login that owned it becomes a worker", async () => {
    const { admin, owner } = await oldDatabase();
    const before = await server.sql("SELECT * FROM remand.line ORDER BY position", admin);
    const told = await migrated(admin, "--roles", "former");
    expect(told.out).toContain(
      `${loginOf(owner)} owned the tables until now; it is a member of former_worker from now on, and can no longer change lines.`,
    );
    expect(await server.sql("SELECT * FROM remand.line ORDER BY position", admin)).toEqual(before);
    expect(await server.sql("SELECT version FROM remand.version", admin)).toEqual([{ version: NEWEST_VERSION }]);
    expect(await append(owner, 2)).toMatchObject({ ok: true });
    const pool = await openPool(owner);
    const journal = await createPostgresJournal(pool);
    expect(await lines(journal)).toHaveLength(3);
    expect(await journal.verify()).toMatchObject({ ok: true });
    await createPostgresEvidence(pool).keep("printed");
    await expect(pool.query({ text: "UPDATE remand.line SET at = 0" })).rejects.toMatchObject({
      code: "journal-refused",
    });
    await journal.close();
    await pool.close();
  });

  test("is migrated by the first worker that opens it as its owner, without roles", async () => {
    const { owner } = await oldDatabase();
    expect(await append(owner, 2)).toMatchObject({ ok: true });
  });

  test("keeps its writers, which append by functions from now on; other roles get no right", async () => {
    const { admin, owner } = await oldDatabase();
    const [writer, looker] = [await newLogin(server, admin), await newLogin(server, admin)];
    await server.sql(
      `GRANT USAGE ON SCHEMA remand TO ${loginOf(writer)}, ${loginOf(looker)};
       GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA remand TO ${loginOf(writer)};
       GRANT SELECT ON ALL TABLES IN SCHEMA remand TO ${loginOf(looker)}`,
      admin,
    );
    const old = createPostgresJournal(writer);
    await expect(old).rejects.toMatchObject({
      code: "journal-refused",
      message: expect.stringContaining(`has version 3, this Remand needs ${NEWEST_VERSION}, and the user`),
      hint: expect.stringContaining("remand migrate --no-move"),
    });
    await append(owner, 2);
    expect(await append(writer, 3)).toMatchObject({ ok: true });
    await expect(server.sql("DELETE FROM remand.line", writer)).rejects.toMatchObject({ code: "42501" });
    await expect(append(looker, 4)).rejects.toMatchObject({ code: "journal-refused" });
  });

  test("is not migrated while a reader holds its tables, and says so; appends continue meanwhile", async () => {
    const { owner } = await oldDatabase();
    const pool = await openPool(owner);
    const reader = await pool.session();
    await reader.query({ text: "BEGIN" });
    await reader.query({ text: "SELECT * FROM remand.worker, remand.evidence" });
    await expect(createPostgresJournal(owner)).rejects.toMatchObject({
      code: "journal-locked",
      message: expect.stringContaining("did not free a lock in time"),
    });
    const old = `SELECT is_ok FROM remand.append_1('w', 1, ARRAY[gen_random_uuid()], '{B}', ARRAY['"B"'], '{0}', '{1}', '{1}',
      ARRAY['{"by":"0","type":"story.started"}'], '{}', '{}', '{}', '{}')`;
    expect(await pool.query({ text: old })).toEqual([{ is_ok: true }]);
    await reader.end();
    const journal = await createPostgresJournal(owner);
    expect(await journal.append(B, 1, [startedEvent()], 1)).toMatchObject({ ok: true });
    expect(await journal.verify()).toMatchObject({ ok: true });
    await journal.close();
    await pool.close();
  });
});
