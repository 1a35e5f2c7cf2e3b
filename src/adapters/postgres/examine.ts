import { type PostgresPool, openPool } from "./pool.ts";
import { NEWEST_VERSION } from "./schema.ts";
import { HAS_GUARD } from "./roles.ts";

/** A report about a database, made without changing it. */
export interface DatabaseReport {
  /** For display: without user and password. */
  readonly where: string;
  readonly server: { readonly version: string; readonly isEncrypted: boolean; readonly isReplica: boolean };
  readonly tables: TablesState;
  /** `null` if there are no tables of this version that the user may read. */
  readonly rights: RightsReport | null;
  /** `null` if the list of workers does not exist or may not be read. */
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

/** Short, because a server that does not answer at once is itself the finding. */
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

/** Checks rights before reading a table: every user may read the catalog, but not the tables. */
async function tablesOf(pool: PostgresPool): Promise<TablesState> {
  const { schema } = pool;
  const [seen] = await pool.query<CatalogRow>({ text: CATALOG, values: [schema] });
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

interface CatalogRow {
  readonly tables: number;
  readonly ours: boolean;
  readonly encoding: string;
  readonly may_make: boolean;
  readonly may_use: boolean;
  readonly user: string;
}

const CATALOG = `SELECT count(relname)::integer AS tables, coalesce(bool_or(relname = 'version'), false)
      AND coalesce(bool_or(relname = 'line'), false) AS ours,
    current_setting('server_encoding') AS encoding, current_user::text AS user,
    CASE WHEN to_regnamespace($1) IS NULL THEN has_database_privilege(current_database(), 'CREATE')
      ELSE has_schema_privilege(to_regnamespace($1), 'CREATE') END AS may_make,
    coalesce(has_schema_privilege(to_regnamespace($1), 'USAGE'), false) AS may_use
  FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace AND nspname = $1`;

/** Uses the table's oid, because looking up its name requires the right to use the schema. */
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

/** Who may do what with the journal, according to the database, whatever the names of the roles. */
export interface RightsReport {
  readonly schema: string;
  readonly user: string;
  readonly isSuperuser: boolean;
  /** What the connected user may do. */
  readonly may: {
    readonly append: boolean;
    /** Change or delete lines without the functions. */
    readonly change: boolean;
    /** Read and write the queue's tables; `null` if there are none yet. */
    readonly queue: boolean | null;
  };
  /** Whether workers and readers are kept from statements that could stall appends. */
  readonly hasGuard: boolean;
  readonly owner: { readonly name: string; readonly canLogIn: boolean; readonly isSuperuser: boolean };
  /** Roles other than the owner, with the logins that have their rights. */
  readonly appending: readonly RoleWithLogins[];
  readonly reading: readonly RoleWithLogins[];
  /** Roles other than the owner that could change stored data without the functions, and how. */
  readonly excess: readonly { readonly role: string; readonly rights: readonly string[] }[];
}

export interface RoleWithLogins {
  readonly role: string;
  readonly logins: readonly string[];
}

async function rightsOf(pool: PostgresPool): Promise<RightsReport> {
  const { schema } = pool;
  const [row] = await pool.query<OwnRow>({ text: OWN, values: [schema] });
  const roles = await pool.query<RoleRow>({ text: ROLES, values: [schema] });
  const excess = await pool.query<{ role: string; rights: string[] }>({ text: EXCESS, values: [schema] });
  const granted = (right: RoleRow["granted"]): RoleWithLogins[] =>
    roles.filter((role) => role.granted === right).map(({ role, logins }) => ({ role, logins }));
  const { user, is_super: isSuperuser, owner, owner_logs_in: canLogIn, owner_is_super: ownerIsSuper } = row!;
  return {
    schema,
    user,
    isSuperuser,
    may: { append: row!.may_append, change: row!.may_change, queue: row!.may_queue },
    hasGuard: row!.has_guard,
    owner: { name: owner, canLogIn, isSuperuser: ownerIsSuper },
    appending: granted("append"),
    reading: granted("read"),
    excess,
  };
}

interface OwnRow {
  readonly user: string;
  readonly is_super: boolean;
  readonly owner: string;
  readonly owner_logs_in: boolean;
  readonly owner_is_super: boolean;
  readonly may_append: boolean;
  readonly may_change: boolean;
  readonly may_queue: boolean | null;
  readonly has_guard: boolean;
}

const relation = (name: string): string => `(SELECT pg_class.oid FROM pg_catalog.pg_class
    JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = $1 AND relname = '${name}')`;

/** Work needs all functions of the schema; any one right on the table is enough to change it. */
const OWN = `SELECT current_user::text AS user, me.rolsuper AS is_super, holder.rolname::text AS owner,
    holder.rolcanlogin AS owner_logs_in, holder.rolsuper AS owner_is_super, ${HAS_GUARD} AS has_guard,
    (SELECT coalesce(bool_and(has_function_privilege(pg_proc.oid, 'EXECUTE')), false) FROM pg_catalog.pg_proc
      JOIN pg_catalog.pg_namespace ON pg_namespace.oid = pronamespace WHERE nspname = $1) AS may_append,
    has_table_privilege(line.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
      OR has_any_column_privilege(line.oid, 'INSERT, UPDATE') AS may_change,
    (SELECT has_schema_privilege(pg_namespace.oid, 'USAGE') AND bool_and(has_table_privilege(pg_class.oid, 'SELECT')
        AND has_table_privilege(pg_class.oid, 'INSERT') AND has_table_privilege(pg_class.oid, 'UPDATE'))
      FROM pg_catalog.pg_namespace JOIN pg_catalog.pg_class ON pg_namespace.oid = relnamespace AND relkind IN ('r', 'p')
      WHERE nspname = $1 || '_queue' GROUP BY pg_namespace.oid) AS may_queue
  FROM pg_catalog.pg_roles AS me, pg_catalog.pg_class AS line, pg_catalog.pg_roles AS holder
  WHERE me.rolname = current_user AND line.oid = ${relation("line")} AND holder.oid = line.relowner`;

interface RoleRow {
  readonly granted: "append" | "read";
  readonly role: string;
  readonly logins: string[];
}

/** Direct grants, and the logins that inherit them through memberships. A grant to PUBLIC covers every login. */
const ROLES = `WITH RECURSIVE granted AS (
    SELECT 'append' AS granted, grantee FROM pg_catalog.pg_proc
      JOIN pg_catalog.pg_namespace ON pg_namespace.oid = pronamespace,
      aclexplode(coalesce(proacl, acldefault('f', proowner)))
      WHERE nspname = $1 AND proname LIKE 'append%' AND grantee <> proowner
    UNION
    SELECT 'read', grantee FROM pg_catalog.pg_class, aclexplode(relacl)
      WHERE pg_class.oid = ${relation("line")} AND privilege_type = 'SELECT' AND grantee <> relowner
  ), rightful AS (
    SELECT granted, grantee, grantee AS member FROM granted
    UNION
    SELECT granted, grantee, pg_auth_members.member FROM rightful
      JOIN pg_catalog.pg_auth_members ON pg_auth_members.roleid = rightful.member
  )
  SELECT granted, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(grantee)::text END AS role,
    coalesce(array_agg(rolname::text ORDER BY rolname) FILTER (WHERE rolcanlogin), '{}') AS logins
  FROM rightful LEFT JOIN pg_catalog.pg_roles ON pg_roles.oid = rightful.member GROUP BY granted, grantee ORDER BY 1, 2`;

const WRITING = "('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER', 'MAINTAIN')";

/**
 * Includes triggers and foreign keys: a trigger runs as the owner, and a foreign key can prevent lines from being
 * written.
 */
const EXCESS = `SELECT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(grantee)::text END AS role,
    array_agg(DISTINCT privilege ORDER BY privilege) AS rights
  FROM (
    SELECT grantee, privilege_type || ' on ' || relname AS privilege FROM pg_catalog.pg_class
      JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace, aclexplode(relacl)
      WHERE nspname = $1 AND grantee <> relowner AND privilege_type IN ${WRITING}
    UNION ALL
    SELECT grantee, privilege_type || ' on ' || relname FROM pg_catalog.pg_class
      JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace
      JOIN pg_catalog.pg_attribute ON attrelid = pg_class.oid, aclexplode(attacl)
      WHERE nspname = $1 AND grantee <> relowner AND privilege_type IN ${WRITING}
    UNION ALL
    SELECT grantee, 'CREATE in the schema' FROM pg_catalog.pg_namespace, aclexplode(nspacl)
      WHERE nspname = $1 AND grantee <> nspowner AND privilege_type = 'CREATE'
    UNION ALL
    SELECT 0, 'EXECUTE on ' || proname FROM pg_catalog.pg_proc
      JOIN pg_catalog.pg_namespace ON pg_namespace.oid = pronamespace,
      aclexplode(coalesce(proacl, acldefault('f', proowner))) AS granted
      WHERE nspname = $1 AND granted.grantee = 0 AND prosecdef
  ) AS found GROUP BY grantee ORDER BY 1`;
