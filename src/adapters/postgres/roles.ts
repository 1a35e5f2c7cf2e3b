import { RemandError } from "../../core/events/error.ts";
import { codeOf } from "./errors.ts";
import type { PostgresPool, Query } from "./pool.ts";

/** Three roles without a login. Logins become members of one of them. */
export interface RoleNames {
  /** Owns the tables and functions. Not for workers, because it can change lines. */
  readonly owner: string;
  /** May read, and append only through the functions. */
  readonly worker: string;
  readonly reader: string;
}

export type RolesReport =
  | {
      readonly state: "made";
      readonly roles: RoleNames;
      /** Roles that were newly created. */
      readonly created: readonly string[];
      /** The login that owned the tables before. It becomes a member of the workers' role. */
      readonly formerOwner: string | null;
      /** Whether workers and readers are kept from statements that lock tables before rights are checked. */
      readonly hasGuard: boolean;
    }
  | {
      /** Nothing was changed: everything still uses one role. */
      readonly state: "refused";
      readonly user: string;
      readonly why: string;
      /** Statements that an administrator has to run first. */
      readonly statements: readonly string[];
    };

/** Returns the roles that `makeRoles` would use. Finds a prefix that was chosen before by the owner of the schema. */
export async function roleNames({ schema, query }: PostgresPool, prefix?: string): Promise<RoleNames> {
  const [row] = await query<{ database: string; owner: string | null }>({
    text: `SELECT current_database()::text AS database,
      (SELECT rolname FROM pg_catalog.pg_namespace JOIN pg_catalog.pg_roles ON pg_roles.oid = nspowner
        WHERE nspname = $1 AND NOT rolcanlogin)::text AS owner`,
    values: [schema],
  });
  const { database, owner } = row!;
  const known = owner?.endsWith(OWNER) === true ? owner.slice(0, -OWNER.length) : null;
  // Roles belong to the whole server, so the name of the database keeps two fleets apart.
  const common = prefix ?? known ?? (database === schema ? schema : `${database}_${schema}`);
  if (common === "" || Buffer.byteLength(common) > MOST_PREFIX_BYTES) {
    const message = `the prefix of the roles has ${Buffer.byteLength(common)} bytes, and 1 to ${MOST_PREFIX_BYTES} are allowed`;
    throw new RemandError("usage", message, "Choose another one: remand migrate --roles <prefix>.");
  }
  return { owner: `${common}${OWNER}`, worker: `${common}_worker`, reader: `${common}_reader` };
}

const OWNER = "_owner";
/** A name has at most 63 bytes, and `_worker` and `_reader` have seven. */
const MOST_PREFIX_BYTES = 56;

/**
 * Creates the roles and grants their rights, all or nothing; safe to repeat. If the user may not do that, nothing is
 * changed.
 */
export async function makeRoles(pool: PostgresPool, prefix?: string): Promise<RolesReport> {
  const roles = await roleNames(pool, prefix);
  const { user, formerOwner, mayChange } = await facts(pool.query, pool.schema);
  if (!mayChange) {
    const message = `the user ${user} may not change the tables of ${pool.where}, which ${formerOwner} owns`;
    throw new RemandError("journal-refused", message, `Run it as a member of ${formerOwner}, or as an administrator.`);
  }
  for (let tries = 1; ; tries++) {
    try {
      return await pool.transaction((query) => makeWithin(query, pool.schema, roles));
    } catch (error) {
      const cause = error instanceof RemandError ? error.cause : error;
      if (tries < MOST_TRIES && MADE_BY_ANOTHER.has(codeOf(cause))) continue;
      if (codeOf(cause) !== INSUFFICIENT_PRIVILEGE) throw error;
      return { state: "refused", user, why: (cause as Error).message, statements: await missing(pool, roles, user) };
    }
  }
}

const MOST_TRIES = 3;
/** Another process created the same role at the same time. */
const MADE_BY_ANOTHER: ReadonlySet<string> = new Set(["23505", "42710"]);
const INSUFFICIENT_PRIVILEGE = "42501";

async function makeWithin(query: Query, schema: string, roles: RoleNames): Promise<RolesReport> {
  const { owner, worker, reader } = roles;
  // Give up soon: while a change of a table waits for a reader, appends wait behind it.
  await query({ text: "SET LOCAL lock_timeout = '5s'" });
  const created = await existing(query, roles).then((there) => named(roles).filter((role) => !there.has(role)));
  for (const role of created) await query({ text: `CREATE ROLE ${quoted(role)} NOLOGIN` });
  await refuseSuperuser(query, owner);
  // One process at a time changes rights.
  await query({ text: `SELECT FROM ${schema}.version FOR UPDATE` });
  const { user, isSuperuser, formerOwner, isFormerSuperuser } = await facts(query, schema);
  const [member] = await query<{ is_so: boolean }>({
    text: "SELECT pg_has_role($1::name, 'USAGE') AS is_so",
    values: [owner],
  });
  if (!isSuperuser && !member!.is_so) await query({ text: `GRANT ${quoted(owner)} TO ${quoted(user)}` });
  await query({ text: ownership(schema, owner) });
  await query({ text: journalRights(schema, roles) });
  const [queue] = await query({
    text: "SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1",
    values: [`${schema}_queue`],
  });
  if (queue !== undefined) await query({ text: queueRights(`${schema}_queue`, roles) });
  const isWorkerNow = formerOwner !== owner && formerOwner !== user && !isFormerSuperuser;
  if (isWorkerNow) await query({ text: `GRANT ${quoted(worker)} TO ${quoted(formerOwner)}` });
  await query({ text: `GRANT ${quoted(reader)} TO ${quoted(worker)}` });
  if (isSuperuser) await query({ text: ddlGuard(schema, roles) });
  const [guard] = await query<{ is_so: boolean }>({ text: `SELECT ${HAS_GUARD} AS is_so`, values: [schema] });
  return { state: "made", roles, created, formerOwner: isWorkerNow ? formerOwner : null, hasGuard: guard!.is_so };
}

async function facts(query: Query, schema: string) {
  const [row] = await query<{
    user: string;
    is_super: boolean;
    former: string;
    former_is_super: boolean;
    may_change: boolean;
  }>({
    text: `SELECT current_user::text AS user, me.rolsuper AS is_super,
        former.rolname::text AS former, former.rolsuper AS former_is_super,
        pg_has_role(relowner, 'USAGE') AS may_change
      FROM pg_catalog.pg_roles AS me, pg_catalog.pg_class, pg_catalog.pg_roles AS former
      WHERE me.rolname = current_user AND pg_class.oid = $1::regclass AND former.oid = relowner`,
    values: [`${schema}.line`],
  });
  return {
    user: row!.user,
    isSuperuser: row!.is_super,
    formerOwner: row!.former,
    isFormerSuperuser: row!.former_is_super,
    mayChange: row!.may_change,
  };
}

const named = ({ owner, worker, reader }: RoleNames): readonly string[] => [owner, worker, reader];

async function existing(query: Query, roles: RoleNames): Promise<ReadonlySet<string>> {
  const text = "SELECT rolname::text AS name FROM pg_catalog.pg_roles WHERE rolname = ANY ($1)";
  return new Set((await query<{ name: string }>({ text, values: [named(roles)] })).map(({ name }) => name));
}

/** Rejects a superuser as owner: a flaw in a function that runs as a superuser would give its rights to workers. */
async function refuseSuperuser(query: Query, owner: string): Promise<void> {
  const [row] = await query({
    text: "SELECT FROM pg_catalog.pg_roles WHERE rolname = $1 AND rolsuper",
    values: [owner],
  });
  if (row === undefined) return;
  const hint = "Choose other names: remand migrate --roles <prefix>.";
  throw new RemandError("usage", `the role ${owner} is a superuser, so it must not own the journal`, hint);
}

async function missing({ query }: PostgresPool, roles: RoleNames, user: string): Promise<readonly string[]> {
  const there = await existing(query, roles);
  return [
    ...named(roles)
      .filter((role) => !there.has(role))
      .map((role) => `CREATE ROLE ${quoted(role)} NOLOGIN;`),
    `GRANT ${quoted(roles.owner)}, ${quoted(roles.worker)}, ${quoted(roles.reader)} TO ${quoted(user)} WITH ADMIN OPTION;`,
  ];
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Makes the owner own everything in both schemas. Sequences and indexes follow their tables. */
function ownership(schema: string, owner: string): string {
  const both = `nspname IN ('${schema}', '${schema}_queue')`;
  const other = (column: string): string =>
    `${column} <> (SELECT oid FROM pg_catalog.pg_roles WHERE rolname = ${literal(owner)})`;
  return `
  DO $do$
  DECLARE
    change text;
  BEGIN
    FOR change IN
      SELECT format('SCHEMA %I', nspname) FROM pg_catalog.pg_namespace WHERE ${both} AND ${other("nspowner")}
      UNION ALL
      SELECT format('TABLE %s', pg_class.oid::regclass) FROM pg_catalog.pg_class
        JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace
        WHERE ${both} AND ${other("relowner")} AND relkind IN ('r', 'p', 'v', 'm', 'S') AND NOT EXISTS (
          SELECT FROM pg_catalog.pg_depend WHERE classid = 'pg_catalog.pg_class'::regclass AND objid = pg_class.oid
            AND relkind = 'S' AND deptype IN ('a', 'i'))
      UNION ALL
      SELECT format('ROUTINE %s', pg_proc.oid::regprocedure) FROM pg_catalog.pg_proc
        JOIN pg_catalog.pg_namespace ON pg_namespace.oid = pronamespace WHERE ${both} AND ${other("proowner")}
      UNION ALL
      SELECT format('TYPE %s', pg_type.oid::regtype) FROM pg_catalog.pg_type
        JOIN pg_catalog.pg_namespace ON pg_namespace.oid = typnamespace
        WHERE ${both} AND ${other("typowner")} AND typtype IN ('d', 'e')
    LOOP
      EXECUTE format('ALTER %s OWNER TO %I', change, ${literal(owner)});
    END LOOP;
  END
  $do$;`;
}

/** Outcomes of agents are for workers only, and turns for functions only. */
function journalRights(schema: string, roles: RoleNames): string {
  const [owner, worker, reader] = named(roles).map(quoted);
  const defaults = `ALTER DEFAULT PRIVILEGES FOR ROLE ${owner} IN SCHEMA ${schema}`;
  return `
  REVOKE ALL ON SCHEMA ${schema} FROM PUBLIC, ${worker}, ${reader};
  REVOKE ALL ON ALL TABLES IN SCHEMA ${schema} FROM PUBLIC, ${worker}, ${reader};
  REVOKE ALL ON ALL ROUTINES IN SCHEMA ${schema} FROM PUBLIC, ${reader};
  GRANT USAGE ON SCHEMA ${schema} TO ${worker}, ${reader};
  GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${reader};
  REVOKE ALL ON ${schema}.turn, ${schema}.outbox FROM ${reader};
  GRANT SELECT ON ${schema}.outbox TO ${worker};
  GRANT EXECUTE ON ALL ROUTINES IN SCHEMA ${schema} TO ${worker};
  ${defaults} GRANT SELECT ON TABLES TO ${reader};
  ${defaults} GRANT EXECUTE ON ROUTINES TO ${worker};`;
}

/**
 * The queue's library writes its tables directly, so workers may. The queue is not the source of truth; the journal is.
 */
function queueRights(schema: string, roles: RoleNames): string {
  const [owner, worker] = named(roles).map(quoted);
  const defaults = `ALTER DEFAULT PRIVILEGES FOR ROLE ${owner} IN SCHEMA ${schema}`;
  return `
  REVOKE ALL ON SCHEMA ${schema} FROM PUBLIC;
  GRANT USAGE ON SCHEMA ${schema} TO ${worker};
  GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${worker};
  GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA ${schema} TO ${worker};
  GRANT EXECUTE ON ALL ROUTINES IN SCHEMA ${schema} TO ${worker};
  ${defaults} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${worker};
  ${defaults} GRANT USAGE, SELECT, UPDATE ON SEQUENCES TO ${worker};`;
}

/**
 * Rejects DDL statements (`CREATE`, `ALTER`, `DROP`, `COMMENT`, …) of workers and readers. Some of them, such as
 * `CREATE RULE`, request the strongest lock of any table before rights are checked; while they wait behind a reader's
 * open transaction, everything waits behind them. Only a superuser can create this guard. It has its own schema,
 * because it also runs for superusers and must not belong to the owner of the tables.
 */
function ddlGuard(schema: string, { owner, reader }: { readonly owner: string; readonly reader: string }): string {
  const name = `${schema}_guard`;
  const isMember = (role: string): string =>
    `EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = '${role.replaceAll("'", "''")}'
        AND pg_catalog.pg_has_role(session_user, pg_roles.oid, 'MEMBER'))`;
  return `
  CREATE SCHEMA IF NOT EXISTS ${name};
  REVOKE ALL ON SCHEMA ${name} FROM PUBLIC;
  CREATE OR REPLACE FUNCTION ${name}.refuse_definitions() RETURNS event_trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
  BEGIN
    IF ${isMember(reader)} AND NOT ${isMember(owner)} THEN
      RAISE EXCEPTION 'workers and readers of the schema ${schema} may not run % in this database', tg_tag
        USING ERRCODE = '42501';
    END IF;
  END
  $body$;
  DROP EVENT TRIGGER IF EXISTS ${name};
  CREATE EVENT TRIGGER ${name} ON ddl_command_start EXECUTE FUNCTION ${name}.refuse_definitions();`;
}

/** Whether the guard exists and is enabled. */
export const HAS_GUARD = `EXISTS (SELECT FROM pg_catalog.pg_event_trigger JOIN pg_catalog.pg_proc ON pg_proc.oid = evtfoid
    JOIN pg_catalog.pg_namespace ON pg_namespace.oid = pronamespace
    WHERE nspname = $1 || '_guard' AND evtevent = 'ddl_command_start' AND evtenabled IN ('O', 'A') AND evttags IS NULL)`;
