import type { Pool } from "pg";

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
