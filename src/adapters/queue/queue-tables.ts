import type * as SystemDatabase from "@dbos-inc/dbos-sdk/internal/system_database";
import { poolFor } from "./dbos-pool.ts";

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
