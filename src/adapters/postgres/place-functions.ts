import { AS_OWNER, takeTurn } from "./append-function.ts";

const tables = (schema: string): string => `
  ALTER TABLE ${schema}.worker
    ADD COLUMN application text, ADD COLUMN taken_by text COLLATE "C", ADD COLUMN taken_backend integer;
  CREATE TABLE ${schema}.lead (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    holder text COLLATE "C",
    backend integer
  );
  INSERT INTO ${schema}.lead DEFAULT VALUES;

  CREATE FUNCTION ${schema}.is_connected_1(of_backend integer, of_application text) RETURNS boolean
  LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $body$
    SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = of_backend AND application_name = of_application)
  $body$;

  CREATE FUNCTION ${schema}.is_held_1(holder text, of_backend integer, lease_ms double precision) RETURNS boolean
  LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $body$
    SELECT EXISTS (
      SELECT FROM ${schema}.worker WHERE worker.id = holder AND worker.backend = of_backend
        AND worker.taken_by IS NULL AND worker.seen > clock_timestamp() - lease_ms * interval '1 millisecond'
        AND ${schema}.is_connected_1(worker.backend, worker.application))
  $body$;
`;

const signing = (schema: string): string => `
  CREATE FUNCTION ${schema}.sign_in_1(of_id text, of_name text, is_known boolean, lease_ms double precision)
  RETURNS text LANGUAGE plpgsql ${AS_OWNER} AS $body$
  BEGIN
    UPDATE ${schema}.worker SET backend = pg_backend_pid(), application = current_setting('application_name'),
        seen = clock_timestamp(), taken_by = NULL, taken_backend = NULL
      WHERE worker.id = of_id AND worker.name = of_name
        AND NOT (worker.taken_by IS NOT NULL AND ${schema}.is_held_1(worker.taken_by, worker.taken_backend, lease_ms));
    IF FOUND THEN
      UPDATE ${schema}.worker SET taken_by = NULL, taken_backend = NULL WHERE worker.taken_by = of_id;
      RETURN 'in';
    END IF;
    IF EXISTS (SELECT FROM ${schema}.worker WHERE worker.id = of_id) THEN
      RETURN 'taken';
    END IF;
    IF is_known THEN
      RETURN 'gone';
    END IF;
    INSERT INTO ${schema}.worker (id, name, backend, application)
      VALUES (of_id, of_name, pg_backend_pid(), current_setting('application_name')) ON CONFLICT (id) DO NOTHING;
    RETURN CASE WHEN FOUND THEN 'in' ELSE 'taken' END;
  END
  $body$;

  CREATE FUNCTION ${schema}.beat_1(of_id text, lease_ms double precision) RETURNS boolean
  LANGUAGE plpgsql ${AS_OWNER} AS $body$
  BEGIN
    -- It need not wait for the disk: a beat that is lost in a crash of the server is made up for by the next.
    PERFORM set_config('synchronous_commit', 'off', true);
    UPDATE ${schema}.worker SET seen = clock_timestamp(), taken_by = NULL, taken_backend = NULL
      WHERE worker.id = of_id AND worker.backend = pg_backend_pid()
        AND NOT (worker.taken_by IS NOT NULL AND ${schema}.is_held_1(worker.taken_by, worker.taken_backend, lease_ms));
    RETURN FOUND;
  END
  $body$;
`;

const taking = (schema: string): string => `
  CREATE FUNCTION ${schema}.take_places_1(of_id text, missed_ms double precision, lease_ms double precision)
  RETURNS TABLE (gone_id text, gone_name text, silent_ms double precision)
  LANGUAGE plpgsql ${AS_OWNER} AS $body$
  BEGIN
    IF NOT EXISTS (SELECT FROM ${schema}.worker WHERE worker.id <> of_id
        AND worker.seen < clock_timestamp() - missed_ms * interval '1 millisecond') THEN
      RETURN;
    END IF;
    ${takeTurn(schema, "'places'")}
    RETURN QUERY UPDATE ${schema}.worker SET taken_by = of_id, taken_backend = pg_backend_pid()
      WHERE worker.id <> of_id AND worker.seen < clock_timestamp() - missed_ms * interval '1 millisecond'
        AND (worker.seen < clock_timestamp() - lease_ms * interval '1 millisecond'
          OR NOT ${schema}.is_connected_1(worker.backend, worker.application))
        AND NOT (worker.taken_by IS NOT NULL AND ${schema}.is_held_1(worker.taken_by, worker.taken_backend, lease_ms))
      RETURNING worker.id, worker.name, extract(epoch FROM clock_timestamp() - worker.seen)::double precision * 1000;
  END
  $body$;

  CREATE FUNCTION ${schema}.strike_1(of_id text, taker text) RETURNS void LANGUAGE sql ${AS_OWNER} AS $body$
    DELETE FROM ${schema}.worker WHERE worker.id = of_id AND (worker.id = taker OR worker.taken_by = taker)
  $body$;
`;

const leading = (schema: string): string => `
  CREATE FUNCTION ${schema}.try_lead_1(of_id text, lease_ms double precision) RETURNS boolean
  LANGUAGE plpgsql ${AS_OWNER} AS $body$
  BEGIN
    IF EXISTS (SELECT FROM ${schema}.lead WHERE lead.holder = of_id AND lead.backend = pg_backend_pid()) THEN
      RETURN true;
    END IF;
    IF EXISTS (SELECT FROM ${schema}.lead WHERE ${schema}.is_held_1(lead.holder, lead.backend, lease_ms)) THEN
      RETURN false;
    END IF;
    UPDATE ${schema}.lead SET holder = of_id, backend = pg_backend_pid()
      WHERE NOT ${schema}.is_held_1(lead.holder, lead.backend, lease_ms);
    RETURN FOUND;
  END
  $body$;

  CREATE FUNCTION ${schema}.leave_lead_1(of_id text) RETURNS void LANGUAGE sql ${AS_OWNER} AS $body$
    UPDATE ${schema}.lead SET holder = NULL, backend = NULL WHERE lead.holder = of_id
  $body$;
`;

/**
 * Which workers are alive, which one leads, and whose place another worker took. All of it is in rows that only these
 * functions write: a lock by a name could be taken by every role that can connect. What a worker holds ends with its
 * connection, because the server knows which connections there are; a worker that hangs loses it after the lease.
 */
export const PLACES = (schema: string): string =>
  [tables, signing, taking, leading].map((part) => part(schema)).join("\n");
