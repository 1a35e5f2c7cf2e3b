import { LOCK } from "./lock.ts";

/**
 * Saves the parts of a snapshot that are new, or all of them, in one transaction. It answers `null` where the snapshot
 * is of lines that do not exist, and `false` where it does not continue the one that is there.
 */
export function saveSnapshotFunction(schema: string): string {
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
