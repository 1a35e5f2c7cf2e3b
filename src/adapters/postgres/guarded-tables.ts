import { AS_OWNER, NOT_A_LINE, appendFunction, eventType, takeTurn } from "./append-function.ts";

/** Evidence is capped long before this; the limit keeps a worker from filling the disk with one call. */
const MOST_EVIDENCE_BYTES = 64 * 1024 * 1024;

/**
 * Saves the new parts of a snapshot, or all of them, in one transaction. Returns `null` if the snapshot covers lines
 * that do not exist, and `false` if it does not continue the stored one.
 */
function saveSnapshotFunction(schema: string): string {
  return `
  CREATE FUNCTION ${schema}.save_snapshot_2(
    of_place bigint, of_format text, since bigint, names text[],
    digests bigint[], texts text[], outline_digests bigint[], outlines text[]
  ) RETURNS boolean
  LANGUAGE plpgsql ${AS_OWNER} AS $body$
  DECLARE
    there ${schema}.snapshot%ROWTYPE;
    chain text;
    fresh integer;
  BEGIN
    ${takeTurn(schema, "'snapshot'")}
    chain := CASE WHEN of_place = 0 THEN repeat('0', 64)
      ELSE (SELECT line.hash FROM ${schema}.line WHERE line.position = of_place) END;
    IF chain IS NULL THEN
      RETURN NULL;
    END IF;
    SELECT * INTO there FROM ${schema}.snapshot;
    IF since IS NULL THEN
      DELETE FROM ${schema}.part;
      DELETE FROM ${schema}.outline;
      there.parts := 0;
    ELSIF there.position IS DISTINCT FROM since OR there.format <> of_format OR there.chain <> (CASE
        WHEN since = 0 THEN repeat('0', 64)
        ELSE (SELECT line.hash FROM ${schema}.line WHERE line.position = since) END) THEN
      RETURN false;
    END IF;
    WITH written AS (
      INSERT INTO ${schema}.part (name, digest, text) SELECT * FROM unnest(names, digests, texts)
        ON CONFLICT (name) DO UPDATE SET digest = excluded.digest, text = excluded.text
        RETURNING xmax = 0 AS is_new
    ) SELECT count(*) FILTER (WHERE is_new) INTO fresh FROM written;
    INSERT INTO ${schema}.outline (name, digest, text) SELECT * FROM unnest(names, outline_digests, outlines)
      ON CONFLICT (name) DO UPDATE SET digest = excluded.digest, text = excluded.text;
    INSERT INTO ${schema}.snapshot (position, format, chain, parts)
      VALUES (of_place, of_format, chain, there.parts + fresh)
      ON CONFLICT (single) DO UPDATE
        SET position = excluded.position, format = excluded.format, chain = excluded.chain, parts = excluded.parts;
    RETURN true;
  END
  $body$;`;
}

/**
 * Stores evidence. An existing row is replaced only if its bytes are damaged, so that no worker can destroy another's
 * evidence. Rows of earlier versions have no digest and are never replaced.
 */
const keepEvidenceFunction = (schema: string): string => `
  CREATE FUNCTION ${schema}.keep_evidence_1(of_id text, bytes bytea) RETURNS void
  LANGUAGE plpgsql ${AS_OWNER} AS $body$
  BEGIN
    IF (of_id ~ '^[0-9a-f]{64}$' AND substr(bytes, 1, 2) = decode('1f8b', 'hex')
        AND octet_length(bytes) <= ${MOST_EVIDENCE_BYTES}) IS NOT TRUE THEN
      RAISE EXCEPTION 'evidence is named by a hash, packed by gzip, and has at most ${MOST_EVIDENCE_BYTES} bytes'
        USING ERRCODE = '${NOT_A_LINE}';
    END IF;
    INSERT INTO ${schema}.evidence AS kept (id, packed, digest) VALUES (of_id, bytes, sha256(bytes))
      ON CONFLICT (id) DO UPDATE SET packed = excluded.packed, digest = excluded.digest
      WHERE kept.digest <> sha256(kept.packed);
  END
  $body$;`;

/** One worker at a time reads until when people were reminded, decides, and updates it: its transaction is the turn. */
const reminderFunctions = (schema: string): string => `
  CREATE FUNCTION ${schema}.reminder_turn_1(of_what text) RETURNS double precision
  LANGUAGE plpgsql ${AS_OWNER} AS $body$
  BEGIN
    IF (of_what IN ('reminders', 'questions')) IS NOT TRUE THEN
      RAISE EXCEPTION 'there are no such reminders' USING ERRCODE = '${NOT_A_LINE}';
    END IF;
    ${takeTurn(schema, "of_what")}
    RETURN (SELECT reminder.until FROM ${schema}.reminder WHERE reminder.what = of_what);
  END
  $body$;
  CREATE FUNCTION ${schema}.note_reminder_1(of_what text, of_until double precision) RETURNS void
  LANGUAGE sql ${AS_OWNER} AS $body$
    -- Not a number is the largest of all, and would be the last reminder.
    INSERT INTO ${schema}.reminder (what, until)
      SELECT of_what, of_until WHERE of_what IN ('reminders', 'questions') AND of_until < 'Infinity' ON CONFLICT (what)
      DO UPDATE SET until = greatest(reminder.until, excluded.until)
  $body$;`;

const launchFunction = (schema: string): string => `
  CREATE FUNCTION ${schema}.launch_turn_1() RETURNS void LANGUAGE plpgsql ${AS_OWNER} AS $body$
  BEGIN
    ${takeTurn(schema, "'launch'")}
  END
  $body$;`;

/** Turns are locks on rows that only the owner of the tables may lock. */
const turns = (schema: string): string => `
  CREATE TABLE ${schema}.turn (name text COLLATE "C" PRIMARY KEY);
  INSERT INTO ${schema}.turn VALUES ('append'), ('snapshot'), ('places'), ('reminders'), ('questions'), ('launch');`;

/**
 * Grants the functions to roles that could write to the old tables, and revokes their direct write access. By default
 * every role may call a function, so that is revoked too.
 */
const handOver = (schema: string): string => `
  REVOKE ALL ON ALL FUNCTIONS IN SCHEMA ${schema} FROM PUBLIC;
  REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON ALL TABLES IN SCHEMA ${schema} FROM PUBLIC;
  DO $body$
  DECLARE
    writer text;
  BEGIN
    FOR writer IN SELECT DISTINCT grantee::regrole::text FROM pg_class, aclexplode(relacl)
      WHERE pg_class.oid = '${schema}.line'::regclass AND privilege_type = 'INSERT' AND grantee NOT IN (0, relowner)
    LOOP
      EXECUTE format('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${schema} TO %s', writer);
      EXECUTE format('GRANT SELECT ON ${schema}.lead TO %s', writer);
      EXECUTE format('REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON ALL TABLES IN SCHEMA ${schema} FROM %s', writer);
    END LOOP;
  END
  $body$;`;

/**
 * Version 4: workers write only through functions, and a role that may only read cannot lock anything they wait for.
 * The lock waits for appends of older workers, which do not use turns.
 */
export const MIGRATION_4 = (schema: string): string => `
  LOCK TABLE ${schema}.line IN SHARE ROW EXCLUSIVE MODE;
  DROP FUNCTION ${schema}.append_1, ${schema}.save_snapshot_1;
  ALTER TABLE ${schema}.evidence ADD COLUMN digest bytea;
  CREATE OR REPLACE VIEW ${schema}.log AS
    SELECT position, stream, seq, to_timestamp(at / 1000) AS at, ${eventType("event")} AS type, event
    FROM ${schema}.line;
  ${turns(schema)}
  ${appendFunction(schema)}
  ${saveSnapshotFunction(schema)}
  ${keepEvidenceFunction(schema)}
  ${reminderFunctions(schema)}
  ${launchFunction(schema)}
  ${PLACES(schema)}
  ${handOver(schema)}
`;

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
 * Which workers are alive, which one leads, and whose place another worker took. Everything is in rows that only these
 * functions write: an advisory lock could be taken by every role that can connect. A worker's place ends with its
 * connection, because the server knows its connections; a worker that hangs loses its place after the lease.
 */
const PLACES = (schema: string): string => [tables, signing, taking, leading].map((part) => part(schema)).join("\n");
