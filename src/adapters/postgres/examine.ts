import { openPool, type PostgresPool } from "./pool.ts";
import { type RightsReport, rightsOf } from "./rights.ts";
import { NEWEST_VERSION } from "./schema.ts";

/** What can be said of a database from outside. Nothing in it is changed. */
export interface DatabaseReport {
  /** For people: without user and password. */
  readonly where: string;
  readonly server: { readonly version: string; readonly isEncrypted: boolean; readonly isReplica: boolean };
  readonly tables: TablesState;
  /** `null` where there are no tables of this version that we may read. */
  readonly rights: RightsReport | null;
  /** `null` where the books cannot be read: there are none, or we have not the right. */
  readonly workers: readonly WorkerSilence[] | null;
}

export type TablesState =
  | { readonly state: "none"; readonly encoding: string; readonly mayMake: boolean }
  | { readonly state: "foreign"; readonly schema: string }
  | { readonly state: "no-rights"; readonly schema: string; readonly user: string }
  | {
      readonly state: "ours";
      readonly version: number;
      readonly newest: number;
      readonly lines: number;
    };

export interface WorkerSilence {
  readonly name: string;
  readonly silentMs: number;
}

/** Who examines wants to know now: a server that does not answer at once is the finding. */
const TRY_MS = 5000;

export async function examineDatabase(url: string): Promise<DatabaseReport> {
  const pool = await openPool(url, { tryMs: TRY_MS, patienceMs: 0, connections: 1 });
  try {
    const server = await serverOf(pool);
    const tables = await tablesOf(pool);
    const workers = tables.state === "ours" ? await workersOf(pool) : null;
    const isOurs = tables.state === "ours" && tables.version === tables.newest;
    return { where: pool.where, server, tables, rights: isOurs ? await rightsOf(pool) : null, workers };
  } finally {
    await pool.close();
  }
}

async function serverOf(pool: PostgresPool): Promise<DatabaseReport["server"]> {
  const [row] = await pool.query<{ version: string; encrypted: boolean | null; replica: boolean }>({
    text: `SELECT current_setting('server_version') AS version, pg_is_in_recovery() AS replica,
      (SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()) AS encrypted`,
  });
  return { version: row!.version, isEncrypted: row!.encrypted === true, isReplica: row!.replica };
}

/** Every user may read the catalog but not the tables, so the rights are checked before a table is read. */
async function tablesOf(pool: PostgresPool): Promise<TablesState> {
  const { schema } = pool;
  const [seen] = await pool.query<CatalogueRow>({ text: CATALOGUE, values: [schema] });
  const { tables, ours, encoding, may_make: mayMake, may_use: mayUse, user } = seen!;
  if (tables === 0) return { state: "none", encoding, mayMake };
  if (!ours) return { state: "foreign", schema };
  const mayRead = mayUse && (await may(pool, "version", "SELECT")) && (await may(pool, "line", "SELECT"));
  if (!mayRead) return { state: "no-rights", schema, user };
  const [row] = await pool.query<{ version: number; lines: string }>({
    text: `SELECT (SELECT version FROM ${schema}.version) AS version,
      coalesce((SELECT max(position) FROM ${schema}.line), 0) AS lines`,
  });
  return { state: "ours", version: row!.version, newest: NEWEST_VERSION, lines: Number(row!.lines) };
}

interface CatalogueRow {
  readonly tables: number;
  readonly ours: boolean;
  readonly encoding: string;
  readonly may_make: boolean;
  readonly may_use: boolean;
  readonly user: string;
}

const CATALOGUE = `SELECT count(relname)::integer AS tables, coalesce(bool_or(relname = 'version'), false)
      AND coalesce(bool_or(relname = 'line'), false) AS ours,
    current_setting('server_encoding') AS encoding, current_user::text AS user,
    CASE WHEN to_regnamespace($1) IS NULL THEN has_database_privilege(current_database(), 'CREATE')
      ELSE has_schema_privilege(to_regnamespace($1), 'CREATE') END AS may_make,
    coalesce(has_schema_privilege(to_regnamespace($1), 'USAGE'), false) AS may_use
  FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace AND nspname = $1`;

/** By the table's number, because its name is not to be looked up without the right to use its schema. */
async function may(pool: PostgresPool, table: string, right: string): Promise<boolean> {
  const [row] = await pool.query<{ may: boolean }>({
    text: `SELECT coalesce(bool_or(has_table_privilege(pg_class.oid, $3)), false) AS may FROM pg_catalog.pg_class
      JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = $1 AND relname = $2`,
    values: [pool.schema, table, right],
  });
  return row!.may;
}

async function workersOf(pool: PostgresPool): Promise<readonly WorkerSilence[] | null> {
  if (!(await may(pool, "worker", "SELECT"))) return null;
  const rows = await pool.query<{ name: string; silent_ms: string }>({
    text: `SELECT name, extract(epoch FROM clock_timestamp() - seen) * 1000 AS silent_ms
      FROM ${pool.schema}.worker ORDER BY name, id`,
  });
  return rows.map(({ name, silent_ms: text }) => ({ name, silentMs: Math.max(0, Number(text)) }));
}
