import type { Pool } from "pg";
import type * as SystemDatabase from "@dbos-inc/dbos-sdk/internal/system_database";

/**
 * Of our own, because those that the library would make wait for ever for an answer that was lost, and a worker that
 * ends would wait with them.
 */
export async function poolFor(url: string): Promise<Pool> {
  const { default: driver } = await import("pg");
  const pool = new driver.Pool({
    connectionString: url,
    max: CONNECTIONS,
    query_timeout: LONGEST_QUERY_MS,
    connectionTimeoutMillis: LONGEST_QUERY_MS,
    keepAlive: true,
  });
  // A connection that breaks while idle is replaced at the next query.
  pool.on("error", () => undefined);
  return pool;
}

const CONNECTIONS = 10;
const LONGEST_QUERY_MS = 15_000;

/**
 * Makes the queue's tables, or updates them, as the library does when a worker starts. Workers that may not do that
 * themselves need it. `false`: the library is not installed here.
 */
export async function makeQueueTables(url: string, schema: string): Promise<boolean> {
  let library: typeof SystemDatabase;
  try {
    library = await import("@dbos-inc/dbos-sdk/internal/system_database");
  } catch {
    return false;
  }
  const pool = await poolFor(url);
  try {
    const quiet = (): void => undefined;
    const logger = { info: quiet, debug: quiet, warn: quiet, error: quiet };
    type Logger = Parameters<typeof library.ensureSystemDatabase>[1];
    await library.ensureSystemDatabase(url, logger as unknown as Logger, pool, `${schema}_queue`, false);
    return true;
  } finally {
    await pool.end();
  }
}
