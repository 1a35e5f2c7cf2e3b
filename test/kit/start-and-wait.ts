import { startPostgres } from "./fleet/postgres-server.ts";

// Says where its server is, and waits to be killed.
process.stdout.write(`${(await startPostgres()).url}\n`);
setInterval(() => {}, 1000);
