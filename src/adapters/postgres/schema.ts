import { RemandError } from "../../core/events/error.ts";
import { MIGRATION_1, MIGRATION_2, MIGRATION_3 } from "./first-tables.ts";
import { MIGRATION_4 } from "./guarded-tables.ts";
import { asPostgresError, codeOf } from "./errors.ts";
import type { PostgresPool, Query } from "./pool.ts";

/**
 * Migrations from one version of the tables to the next. Released migrations are immutable, because databases have
 * already run them. Functions have a number in their names, so that an older Remand never calls a newer function.
 */
const MIGRATIONS: readonly ((schema: string) => string)[] = [MIGRATION_1, MIGRATION_2, MIGRATION_3, MIGRATION_4];

/** The version of the tables that this Remand creates. */
export const NEWEST_VERSION = MIGRATIONS.length;

/** Returns the version of the tables; `null` if there are none. Throws for a newer version. */
export async function schemaVersion(pool: PostgresPool): Promise<number | null> {
  return versionSeen(pool.query, pool);
}

/**
 * Creates the tables, or migrates them to this version. If several processes start at once, one does it and the others
 * wait for the version's row or the schema's name. A role that may only read can lock neither.
 */
export async function migrate(pool: PostgresPool, upTo = NEWEST_VERSION): Promise<void> {
  if (((await schemaVersion(pool)) ?? -1) >= upTo) return;
  for (let tries = 1; ; tries++) {
    try {
      return await pool.transaction((query) => migrateWithin(query, pool, upTo));
    } catch (error) {
      // Another process did the same at the same time: check again what is left to do.
      if (tries === MOST_TRIES || !MADE_BY_ANOTHER.has(codeOf(error))) throw asPostgresError(error, pool.where);
    }
  }
}

const MOST_TRIES = 5;
const MADE_BY_ANOTHER: ReadonlySet<string> = new Set(["23505", "42P06", "42P07"]);
/** Give up soon: while a change of a table waits for a reader, appends wait behind it. */
const LOCK_TIMEOUT = "SET LOCAL lock_timeout = '5s'";

async function migrateWithin(query: Query, pool: PostgresPool, upTo: number): Promise<void> {
  const { schema } = pool;
  const version = await versionToChange(query, pool);
  if (version !== null && version >= upTo) return;
  if (version === null) {
    const [there] = await query({ text: "SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1", values: [schema] });
    if (there === undefined) await query({ text: `CREATE SCHEMA ${schema}` });
    await query({ text: `CREATE TABLE ${schema}.version (version integer NOT NULL)` });
    await query({ text: `INSERT INTO ${schema}.version VALUES (0)` });
    await refuseForeign(query, pool);
  }
  await query({ text: LOCK_TIMEOUT });
  for (const step of MIGRATIONS.slice(version ?? 0, upTo)) await query({ text: step(schema) });
  await query({ text: `UPDATE ${schema}.version SET version = greatest(version, ${upTo})` });
}

/** Waits until no other process changes the tables, and then acts as their owner. */
async function versionToChange(query: Query, pool: PostgresPool): Promise<number | null> {
  const { schema } = pool;
  const version = await versionSeen(query, pool);
  if (version === null || version === NEWEST_VERSION) return version;
  const [row] = await query<{ owner: string; user: string; is_member: boolean }>({
    text: `SELECT quote_ident(pg_get_userbyid(relowner)) AS owner, current_user::text AS user,
      pg_has_role(relowner, 'MEMBER') AS is_member
      FROM pg_catalog.pg_class WHERE oid = $1::regclass`,
    values: [`${schema}.version`],
  });
  const { owner, user, is_member: isMember } = row!;
  if (!isMember) throw tooOld(pool, version, user);
  await query({ text: `SET LOCAL ROLE ${owner}` });
  await query({ text: `SELECT FROM ${schema}.version FOR UPDATE` });
  return versionSeen(query, pool);
}

function tooOld({ where }: PostgresPool, version: number, user: string): RemandError {
  return new RemandError(
    "journal-refused",
    `the journal in ${where} has version ${version}, this Remand needs ${NEWEST_VERSION}, and the user ${user} may not change its tables`,
    "Update them as their owner, or as an administrator: remand migrate --no-move --to <address>.",
  );
}

const RELATIONS = `SELECT relname FROM pg_catalog.pg_class
  JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = $1`;

async function versionSeen(query: Query, { schema, where }: PostgresPool): Promise<number | null> {
  // Query the catalog directly: the server's cached names may be older than the lock that was waited for.
  const there = await query({ text: `${RELATIONS} AND relname = 'version'`, values: [schema] });
  if (there.length === 0) return null;
  const [row] = await query<{ version: number }>({ text: `SELECT version FROM ${schema}.version` });
  const version = row?.version ?? 0;
  if (version <= MIGRATIONS.length) return version;
  const message = `the journal in ${where} has version ${version}, and this Remand knows ${MIGRATIONS.length}`;
  throw new RemandError("journal-newer", message, "Nothing was changed. Use the newer Remand that wrote it.");
}

/**
 * Rejects a database that cannot be used: the functions need UTF-8, because they join texts by bytes, and a schema with
 * other tables belongs to another program.
 */
async function refuseForeign(query: Query, { schema, where }: PostgresPool): Promise<void> {
  const [row] = await query<{ encoding: string; tables: number }>({
    text: `SELECT current_setting('server_encoding') AS encoding,
      (SELECT count(*)::integer FROM (${RELATIONS} AND relname <> 'version') AS relations) AS tables`,
    values: [schema],
  });
  if (row!.encoding !== "UTF8") {
    const message = `the database ${where} keeps text as ${row!.encoding}`;
    throw new RemandError(
      "journal-refused",
      message,
      "Make one with UTF8: createdb --encoding=UTF8 --template=template0.",
    );
  }
  if (row!.tables > 0) {
    const message = `the schema ${schema} of ${where} holds tables that are not Remand's`;
    throw new RemandError(
      "journal-refused",
      message,
      "Nothing was changed. Choose another with ?schema=name in the address.",
    );
  }
}
