/** `REMA`, as in the file of a local journal: the first half of the advisory locks of versions 1 to 3. */
const LOCK = 0x52454d41;

/**
 * Writes a group of appends, and adds and removes texts of the outbox, in the transaction of one call. The lock admits
 * one group at a time, from any writer, and is released after the commit, so that positions have no gap and no line is
 * visible before its predecessor. The chain is computed here, because only the holder of the lock knows the previous
 * hash. A second call with the same tickets writes nothing and returns the same result.
 */
function appendFunction(schema: string): string {
  return `
  CREATE FUNCTION ${schema}.append_1(
    writer text, form integer, tickets uuid[], streams text[], stream_texts text[], expected bigint[],
    counts integer[], ats text[], events text[],
    put_ids text[], put_keys text[], put_texts bytea[], dropped text[]
  ) RETURNS TABLE (is_ok boolean, actual bigint, first bigint, hashes text[])
  LANGUAGE plpgsql AS $body$
  DECLARE
    place bigint;
    chain text;
    length bigint;
    next integer := 1;
    wrote boolean := false;
  BEGIN
    PERFORM pg_advisory_xact_lock(${LOCK}, hashtext('${schema}'));
    SELECT line.position, line.hash INTO place, chain FROM ${schema}.line ORDER BY line.position DESC LIMIT 1;
    IF NOT FOUND THEN
      place := 0;
      chain := repeat('0', 64);
    END IF;
    FOR i IN 1 .. cardinality(tickets) LOOP
      SELECT coalesce(max(line.seq), 0) INTO length FROM ${schema}.line WHERE line.stream = streams[i];
      actual := length;
      IF length <> expected[i] THEN
        SELECT min(line.position), array_agg(line.hash ORDER BY line.seq) INTO first, hashes
          FROM ${schema}.line
          WHERE line.stream = streams[i] AND line.seq > expected[i] AND line.seq <= expected[i] + counts[i]
            AND line.ticket = tickets[i];
        is_ok := first IS NOT NULL;
        next := next + counts[i];
        RETURN NEXT;
        CONTINUE;
      END IF;
      is_ok := true;
      first := place + 1;
      hashes := '{}';
      FOR n IN 1 .. counts[i] LOOP
        place := place + 1;
        length := length + 1;
        chain := encode(sha256(convert_to(
          chain || '{"at":' || ats[i] || ',"event":' || events[next] || ',"position":' || place || ',"seq":' || length
            || ',"stream":' || stream_texts[i] || ',"v":' || form || '}', 'UTF8')), 'hex');
        INSERT INTO ${schema}.line (position, stream, seq, at, v, event, hash, ticket)
          VALUES (place, streams[i], length, ats[i]::double precision, form, events[next], chain, tickets[i]);
        hashes := hashes || chain;
        next := next + 1;
        wrote := true;
      END LOOP;
      RETURN NEXT;
    END LOOP;
    ${outbox(schema)}
    IF wrote THEN
      PERFORM pg_notify('remand_${schema}', writer);
    END IF;
  END
  $body$;`;
}

const outbox = (schema: string): string => `
    FOR i IN 1 .. cardinality(put_ids) LOOP
      INSERT INTO ${schema}.outbox (id, key, text) VALUES (put_ids[i], put_keys[i], put_texts[i])
        ON CONFLICT (id) DO UPDATE SET key = excluded.key, text = excluded.text;
    END LOOP;
    IF cardinality(dropped) > 0 THEN
      DELETE FROM ${schema}.outbox WHERE id = ANY (dropped);
    END IF;`;

/**
 * Saves the new parts of a snapshot, or all of them, in one transaction. Returns `null` if the snapshot covers lines
 * that do not exist, and `false` if it does not continue the stored one.
 */
function saveSnapshotFunction(schema: string): string {
  return `
  CREATE FUNCTION ${schema}.save_snapshot_1(
    of_place bigint, of_format text, since bigint, names text[],
    digests bigint[], texts text[], outline_digests bigint[], outlines text[]
  ) RETURNS boolean
  LANGUAGE plpgsql AS $body$
  DECLARE
    there ${schema}.snapshot%ROWTYPE;
    chain text;
    fresh integer;
  BEGIN
    PERFORM pg_advisory_xact_lock(${LOCK}, hashtext('${schema} snapshots'));
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
 * The first version of the tables. The project's own stream is the empty text, because two NULLs do not conflict. A
 * line's ticket identifies the append it came from, so that a writer that lost the reply can check; it is not part of
 * the chain. Outlines are stored apart from their parts, so that reading all outlines takes few pages. Names are
 * compared by bytes, whatever the database's locale is.
 */
export const MIGRATION_1 = (schema: string): string => `
  CREATE TABLE ${schema}.line (
    position bigint PRIMARY KEY,
    stream text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    at double precision NOT NULL,
    v integer NOT NULL,
    event text NOT NULL,
    hash text NOT NULL,
    ticket uuid,
    UNIQUE (stream, seq)
  );
  CREATE TABLE ${schema}.snapshot (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    position bigint NOT NULL,
    format text NOT NULL,
    chain text NOT NULL,
    parts integer NOT NULL
  );
  CREATE TABLE ${schema}.part (
    name text COLLATE "C" PRIMARY KEY,
    digest bigint NOT NULL,
    text text NOT NULL
  );
  CREATE TABLE ${schema}.outline (name text COLLATE "C" PRIMARY KEY, digest bigint NOT NULL, text text NOT NULL);
  CREATE TABLE ${schema}.outbox (id text COLLATE "C" PRIMARY KEY, key text NOT NULL, text bytea NOT NULL);
  CREATE TABLE ${schema}.evidence (
    id text COLLATE "C" PRIMARY KEY,
    kept timestamptz NOT NULL DEFAULT now(),
    packed bytea NOT NULL
  );
  ALTER TABLE ${schema}.evidence ALTER COLUMN packed SET STORAGE EXTERNAL;
  CREATE VIEW ${schema}.log AS
    SELECT position, stream, seq, to_timestamp(at / 1000) AS at, event::json ->> 'type' AS type, event
    FROM ${schema}.line;
  ${appendFunction(schema)}
  ${saveSnapshotFunction(schema)}
`;

/**
 * Until when people were reminded of open questions, and up to which position they were notified of new ones. All
 * notifying workers share these rows.
 */
export const MIGRATION_3 = (schema: string): string => `
  CREATE TABLE ${schema}.reminder (
    what text COLLATE "C" PRIMARY KEY,
    until double precision NOT NULL
  );
`;

/** The workers. Each records once a second that it is alive, and has a lock for what it holds. */
export const MIGRATION_2 = (schema: string): string => `
  CREATE TABLE ${schema}.worker (
    id text COLLATE "C" PRIMARY KEY,
    name text NOT NULL,
    backend integer NOT NULL,
    since timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen timestamptz NOT NULL DEFAULT clock_timestamp()
  );
`;
