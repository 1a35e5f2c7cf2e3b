import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Pool, PoolClient } from "pg";
import { LANES, type Lane } from "../../domain/lane.ts";

/** Tells the workers of a fleet that there are new jobs. It is a hint: who does not hear it asks a little later. */
export interface JobBell {
  ring(lanes: readonly Lane[]): Promise<void>;
  close(): Promise<void>;
}

/** Between two tries to listen again. */
const PAUSE_MS = 500;
/** How often the connection is tried: one that died without a word is silent for ever. */
const TRY_MS = 10_000;

/** What we ring ourselves is not heard here. `heard` is also called for all lanes whenever it has begun to listen: what was said before that is made up for. */
export function openJobBell(pool: Pool, schema: string, heard: (lanes: readonly Lane[]) => void): JobBell {
  const channel = `remand_${schema}_jobs`;
  const me = randomBytes(6).toString("hex");
  const stop = new AbortController();
  const others = (payload: string): void => {
    const [from, named = ""] = payload.split(" ");
    if (from !== me) heard(LANES.filter((lane) => named.split(",").includes(lane)));
  };
  const life = listen(pool, channel, { others, anew: () => heard(LANES) }, stop.signal);
  return {
    ring: async (lanes) => {
      await pool.query("SELECT pg_notify($1, $2)", [channel, `${me} ${lanes.join(",")}`]);
    },
    close: async () => {
      stop.abort();
      await life;
    },
  };
}

async function listen(
  pool: Pool,
  channel: string,
  heard: { others(payload: string): void; anew(): void },
  stop: AbortSignal,
): Promise<void> {
  while (!stop.aborted) {
    let client: PoolClient | null = null;
    const over = new AbortController();
    const end = (): void => over.abort();
    try {
      client = await pool.connect();
      client.on("error", end).on("end", end);
      client.on("notification", ({ payload = "" }) => heard.others(payload));
      await client.query(`LISTEN ${channel}`);
      heard.anew();
      const pause = AbortSignal.any([over.signal, stop]);
      while (!pause.aborted) {
        await sleep(TRY_MS, undefined, { signal: pause }).catch(() => undefined);
        if (!pause.aborted) await client.query("SELECT 1");
      }
    } catch {
      // Whoever asks the server for anything else says in full what is wrong, if it stays so.
    } finally {
      // It is given up and not used for anything else: it would still listen.
      client?.release(true);
    }
    await sleep(PAUSE_MS, undefined, { signal: stop }).catch(() => undefined);
  }
}
