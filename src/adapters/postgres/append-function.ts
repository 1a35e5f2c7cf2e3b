/** The maximum size of an event. Output of agents and gates is evidence, which is stored separately. */
const MOST_EVENT_BYTES = 32 * 1024 * 1024;

/** SQLSTATE of a refused line, mapped to a message in `errors.ts`. */
export const NOT_A_LINE = "RM001";

/**
 * Runs the function as the owner of the tables. Fixes session settings that would change its meaning: names are looked
 * up only in the catalog, and floating point numbers are printed in full.
 */
export const AS_OWNER = "SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1";

/** Waits for a turn, which ends with the transaction. Only the owner of the tables may lock the row. */
export const takeTurn = (schema: string, name: string): string => `
    PERFORM FROM ${schema}.turn WHERE turn.name = ${name} FOR UPDATE;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the table ${schema}.turn has lost a row' USING ERRCODE = 'XX001';
    END IF;`;

/**
 * The type of an event. Escapes are replaced first, because PostgreSQL cannot decode all that JSON allows (`\\u0000`,
 * half surrogates), and no event type contains one.
 */
export const eventType = (event: string): string => `(CASE WHEN strpos(${event}, E'\\\\u') = 0 THEN ${event}
      ELSE regexp_replace(${event}, E'\\\\\\\\(u[0-9a-fA-F]{4}|.)', '_', 'g') END)::json ->> 'type'`;

const refuse = (what: string): string => `RAISE EXCEPTION '%', ${what} USING ERRCODE = '${NOT_A_LINE}';`;

/** Rejects invalid lines before the turn is taken. Story ids must match `STORY_ID_PATTERN`. */
const checks = `
    FOR i IN 1 .. cardinality(tickets) LOOP
      IF (tickets[i] IS NOT NULL AND expected[i] >= 0 AND counts[i] >= 0) IS NOT TRUE THEN
        ${refuse("'an append needs a ticket, an expected length and a count'")}
      END IF;
      IF (streams[i] = '' OR streams[i] ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$') IS NOT TRUE THEN
        ${refuse("'a stream is named after a story'")}
      END IF;
      IF (ats[i] ~ '^[0-9]{1,15}([.][0-9]{1,20})?$' AND ats[i]::double precision::text = ats[i]) IS NOT TRUE THEN
        ${refuse("'the time of a line is a number of milliseconds since 1970, as JSON writes it'")}
      END IF;
      total := total + counts[i];
    END LOOP;
    IF total <> cardinality(events) OR cardinality(tickets) <> ALL (ARRAY[
        cardinality(streams), cardinality(expected), cardinality(counts), cardinality(ats)]) THEN
      ${refuse("'the counts of an append do not fit its events'")}
    END IF;
    FOREACH event IN ARRAY events LOOP
      IF (octet_length(event) <= ${MOST_EVENT_BYTES}) IS NOT TRUE THEN
        ${refuse(`'an event has ' || octet_length(event) || ' bytes, and at most ${MOST_EVENT_BYTES} are allowed'`)}
      END IF;
      IF json_typeof(event::json) <> 'object' THEN
        ${refuse("'an event is a JSON object'")}
      END IF;
      IF (${eventType("event")} ~ '^[a-z][a-z0-9.-]{0,99}$') IS NOT TRUE THEN
        ${refuse("'an event has a type'")}
      END IF;
    END LOOP;`;

const lines = (schema: string): string => `
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
            || ',"stream":' || CASE streams[i] WHEN '' THEN 'null' ELSE '"' || streams[i] || '"' END || ',"v":1}',
          'UTF8')), 'hex');
        INSERT INTO ${schema}.line (position, stream, seq, at, v, event, hash, ticket)
          VALUES (place, streams[i], length, ats[i]::double precision, 1, events[next], chain, tickets[i]);
        hashes := hashes || chain;
        next := next + 1;
        wrote := true;
      END LOOP;
      RETURN NEXT;
    END LOOP;`;

const outbox = (schema: string): string => `
    FOR i IN 1 .. cardinality(put_ids) LOOP
      INSERT INTO ${schema}.outbox (id, key, text) VALUES (put_ids[i], put_keys[i], put_texts[i])
        ON CONFLICT (id) DO UPDATE SET key = excluded.key, text = excluded.text;
    END LOOP;
    IF cardinality(dropped) > 0 THEN
      DELETE FROM ${schema}.outbox WHERE outbox.id = ANY (dropped);
    END IF;`;

/**
 * Writes a group of appends, and adds and removes texts of the outbox, in the transaction of one call. The turn admits
 * one group at a time, from any writer, and ends after the commit, so that positions have no gap and no line is visible
 * before its predecessor. Position, sequence number and hash are computed here, so that a caller cannot choose them. A
 * second call with the same tickets writes nothing and returns the same result.
 *
 * A full notification queue would make the commit fail, and every role can fill it: then the notification is left out,
 * and watchers read a few seconds later.
 */
export function appendFunction(schema: string): string {
  return `
  CREATE FUNCTION ${schema}.append_2(
    writer text, tickets uuid[], streams text[], expected bigint[], counts integer[], ats text[], events text[],
    put_ids text[], put_keys text[], put_texts bytea[], dropped text[]
  ) RETURNS TABLE (is_ok boolean, actual bigint, first bigint, hashes text[])
  LANGUAGE plpgsql ${AS_OWNER} AS $body$
  DECLARE
    place bigint;
    chain text;
    length bigint;
    event text;
    total bigint := 0;
    next integer := 1;
    wrote boolean := false;
  BEGIN
    ${checks}
    ${takeTurn(schema, "'append'")}
    SELECT line.position, line.hash INTO place, chain FROM ${schema}.line ORDER BY line.position DESC LIMIT 1;
    IF NOT FOUND THEN
      place := 0;
      chain := repeat('0', 64);
    END IF;
    ${lines(schema)}
    ${outbox(schema)}
    IF wrote AND pg_notification_queue_usage() < 0.5 THEN
      PERFORM pg_notify('remand_${schema}', writer);
    END IF;
  END
  $body$;`;
}
