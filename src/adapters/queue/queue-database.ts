import type { Pool } from "pg";
import type * as SystemDatabase from "@dbos-inc/dbos-sdk/internal/system_database";

/**
 * Opens a pool for the queue. The library's own pools would wait forever for a lost reply, and so would a worker that
 * ends.
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
 * Creates or migrates the queue's tables, as the library does when a worker starts, for workers that may not do that.
 * Returns `false` if the library is not installed.
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
