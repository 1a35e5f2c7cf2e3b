/**
 * Refuses statements that define something (`CREATE`, `ALTER`, `DROP`, `COMMENT`, …) to workers and readers. Some of
 * them, such as `CREATE RULE`, ask PostgreSQL for the strongest lock of any table before it looks at rights; while they
 * wait behind a reader's open transaction, everything waits behind them. Only a superuser can make such a guard. It is
 * in a schema of its own, because it also runs for superusers and must not belong to the owner of the tables.
 */
export function ddlGuard(
  schema: string,
  { owner, reader }: { readonly owner: string; readonly reader: string },
): string {
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

/** Whether such a guard is there and enabled. */
export const HAS_GUARD = `EXISTS (SELECT FROM pg_catalog.pg_event_trigger JOIN pg_catalog.pg_proc ON pg_proc.oid = evtfoid
    JOIN pg_catalog.pg_namespace ON pg_namespace.oid = pronamespace
    WHERE nspname = $1 || '_guard' AND evtevent = 'ddl_command_start' AND evtenabled IN ('O', 'A') AND evttags IS NULL)`;
