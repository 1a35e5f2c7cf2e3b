import { afterAll, beforeAll } from "vitest";
import { createPostgresJournal } from "../../../src/adapters/postgres/journal.ts";
import { journalContract } from "../../contract/journal.ts";
import { fleetDatabase } from "../../kit/fleet/postgres-roles.ts";
import { startPostgres, type PostgresServer } from "../../kit/fleet/postgres-server.ts";

let server: PostgresServer;
let count = 0;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

journalContract("the journal on PostgreSQL", {
  // A schema per journal, as for several projects in one database.
  open: () => createPostgresJournal(`${server.url}?schema=project_${++count}`),
  clear: async () => undefined,
});

/** With a worker's login, which may only use the functions. */
journalContract("the journal on PostgreSQL, for a worker", {
  open: async () => {
    const { worker } = await fleetDatabase(server, { url: `${server.url}?schema=fleet_${++count}` });
    return createPostgresJournal(worker);
  },
  clear: async () => undefined,
});
