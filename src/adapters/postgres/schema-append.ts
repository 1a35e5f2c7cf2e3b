import { LOCK } from "./lock.ts";

/**
 * Writes a group of appends, what is put into the outbox and what leaves it, all in the one transaction of its call.
 * The lock lets one group in at a time, whoever sends it, and is let go of after the commit: so positions have no gap,
 * and a line is never seen before the one in front of it. The chain is made here, because only who holds the lock knows
 * the hash before. Called twice with the same tickets it writes once, and answers the same.
 */
export function appendFunction(schema: string): string {
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
