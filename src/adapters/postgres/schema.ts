import { RemandError } from "../../domain/error.ts";
import { LOCK } from "./lock.ts";
import type { PostgresPool, Query } from "./pool.ts";
import { FIRST } from "./schema-first.ts";
import { REMINDERS } from "./schema-reminders.ts";
import { WORKERS } from "./schema-workers.ts";

/**
 * Steps from one version of the tables to the next, forward only. A step that was released is never changed: whoever
 * has it has it. Functions carry a number in their names, so that an older Remand never calls a newer one's.
 */
const STEPS: readonly ((schema: string) => string)[] = [FIRST, WORKERS, REMINDERS];

/** The version of the tables that this Remand makes. */
export const NEWEST_VERSION = STEPS.length;

/** What is there: `null` where no Remand has ever written. Newer ones are refused. */
export async function schemaVersion(pool: PostgresPool): Promise<number | null> {
  return versionSeen(pool.query, pool);
}

/** Brings the tables up to this version, or makes them. Of several that start at once one does it, the others wait. */
export async function migrate(pool: PostgresPool): Promise<void> {
  if ((await schemaVersion(pool)) === STEPS.length) return;
  await pool.transaction(async (query) => {
    const { schema } = pool;
    await query({ text: `SELECT pg_advisory_xact_lock(${LOCK}, hashtext($1))`, values: [`${schema} migrates`] });
    const version = await versionSeen(query, pool);
    if (version === null) {
      await refuseForeign(query, pool);
      await query({ text: `CREATE SCHEMA IF NOT EXISTS ${schema}` });
      await query({ text: `CREATE TABLE ${schema}.version (version integer NOT NULL)` });
      await query({ text: `INSERT INTO ${schema}.version VALUES (0)` });
    }
    for (const step of STEPS.slice(version ?? 0)) await query({ text: step(schema) });
    await query({ text: `UPDATE ${schema}.version SET version = ${STEPS.length}` });
  });
}

const RELATIONS = `SELECT relname FROM pg_catalog.pg_class
  JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = $1`;

async function versionSeen(query: Query, { schema, where }: PostgresPool): Promise<number | null> {
  // Asked of the catalogue itself: what the server remembers of names may be older than the lock we waited for.
  const there = await query({ text: `${RELATIONS} AND relname = 'version'`, values: [schema] });
  if (there.length === 0) return null;
  const [row] = await query<{ version: number }>({ text: `SELECT version FROM ${schema}.version` });
  const version = row?.version ?? 0;
  if (version <= STEPS.length) return version;
  const message = `the journal in ${where} has version ${version}, and this Remand knows ${STEPS.length}`;
  throw new RemandError("journal-newer", message, "Nothing was changed. Use the newer Remand that wrote it.");
}

/** Our functions put texts together byte by byte; and a schema with other tables in it is somebody else's. */
async function refuseForeign(query: Query, { schema, where }: PostgresPool): Promise<void> {
  const [row] = await query<{ encoding: string; tables: number }>({
    text: `SELECT current_setting('server_encoding') AS encoding,
      (SELECT count(*)::integer FROM (${RELATIONS}) AS relations) AS tables`,
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
