import { readdirSync, readFileSync } from "node:fs";
import pg from "pg";

/** Processor time, which other users of the machine do not affect. Linux only. */
export function processorMs(pid: number): number {
  const { ownTicks } = statOf(pid);
  return ownTicks * MS_PER_TICK;
}

/**
 * Processor time of a PostgreSQL server: its main process, the processes that it has started, and those of them that
 * have ended.
 */
export async function serverProcessorMs(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    const { parent } = statOf(rows[0]!.pid);
    const { ownTicks, goneTicks } = statOf(parent);
    return (ownTicks + goneTicks + childrenOf(parent)) * MS_PER_TICK;
  } finally {
    await client.end();
  }
}

/** The unit of current Linux systems. */
const MS_PER_TICK = 10;

function childrenOf(parent: number): number {
  let ticks = 0;
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = statOf(Number(name));
      if (stat.parent === parent) ticks += stat.ownTicks;
    } catch {
      // The process has ended, and is included in the ended ones.
    }
  }
  return ticks;
}

function statOf(pid: number): { readonly parent: number; readonly ownTicks: number; readonly goneTicks: number } {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The second field is a name in parentheses, which may contain anything.
  const fields = text
    .slice(text.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
  const [, parent = 0] = fields;
  return { parent, ownTicks: fields[11]! + fields[12]!, goneTicks: fields[13]! + fields[14]! };
}
