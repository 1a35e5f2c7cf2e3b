/** Who works on the stories: each worker says once a second that it is there. What it holds is held by a lock. */
export const WORKERS = (schema: string): string => `
  CREATE TABLE ${schema}.worker (
    id text COLLATE "C" PRIMARY KEY,
    name text NOT NULL,
    backend integer NOT NULL,
    since timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen timestamptz NOT NULL DEFAULT clock_timestamp()
  );
`;
