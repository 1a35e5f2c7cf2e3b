import { openPool } from "../../../src/adapters/postgres/pool.ts";
import { makeRoles, type RoleNames } from "../../../src/adapters/postgres/roles.ts";
import { migrate } from "../../../src/adapters/postgres/schema.ts";
import { makeQueueTables } from "../../../src/adapters/queue/queue-database.ts";
import type { PostgresServer } from "./postgres-server.ts";

/** A fleet's database as `remand migrate` makes it, with a login for each role. */
export interface FleetDatabase {
  /** As the superuser of the tests. */
  readonly admin: string;
  readonly worker: string;
  readonly reader: string;
  readonly roles: RoleNames;
}

let logins = 0;

/** A new login of the server that is a member of these roles; its address in the same database. */
export async function newLogin(
  server: PostgresServer,
  url: string,
  roles: readonly string[] = [],
  attributes = "",
): Promise<string> {
  const name = `login_${process.pid}_${++logins}`;
  await server.sql(`CREATE ROLE ${name} LOGIN ${attributes} PASSWORD 'word of ${name}'`);
  for (const role of roles) await server.sql(`GRANT "${role}" TO ${name}`);
  const address = new URL(url);
  [address.username, address.password] = [name, `word of ${name}`];
  return address.href;
}

export const loginOf = (url: string): string => new URL(url).username;

export async function fleetDatabase(
  server: PostgresServer,
  options: { readonly url?: string; readonly queue?: boolean } = {},
): Promise<FleetDatabase> {
  const admin = options.url ?? (await server.newDatabase());
  const pool = await openPool(admin);
  try {
    await migrate(pool);
    if (options.queue === true) await makeQueueTables(admin, pool.schema);
    const report = await makeRoles(pool);
    if (report.state !== "made") throw new Error(report.why);
    const { roles } = report;
    return {
      admin,
      worker: await newLogin(server, admin, [roles.worker]),
      reader: await newLogin(server, admin, [roles.reader]),
      roles,
    };
  } finally {
    await pool.close();
  }
}
