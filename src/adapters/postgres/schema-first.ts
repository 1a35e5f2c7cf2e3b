import { appendFunction } from "./schema-append.ts";
import { saveSnapshotFunction } from "./schema-snapshot.ts";

/**
 * The first version of the tables. The project's own stream is the empty text, because two nulls would be no conflict.
 * A line's ticket says which append it came from, so that a writer that lost the answer finds out; it is not part of
 * the chain. Outlines stand apart from the parts they are of, so that whoever wants them all reads few pages. Names are compared byte by byte, whatever the database's
 * language is.
 */
export const FIRST = (schema: string): string => `
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
