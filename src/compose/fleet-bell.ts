import type { Config } from "../config/config.ts";
import type { Ledger } from "../engine/ledger.ts";
import type { EngineWorld } from "../engine/world.ts";
import type { ReminderNote } from "../ports/reminder-note.ts";
import { createPostgresNote } from "../adapters/postgres/reminder-note.ts";
import { openPool, type PostgresPool } from "../adapters/postgres/pool.ts";
import { sendingOf } from "./doorbell-of.ts";
import { createServeBell, type ServeBell } from "./serve-bell.ts";

export interface FleetBellParts {
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly config: Pick<Config, "notify" | "env" | "redact">;
  readonly pool: PostgresPool;
  readonly ledger: Pick<Ledger, "state" | "changed">;
  readonly journal: Pick<EngineWorld["journal"], "read">;
  onNotice(text: string): void;
}

/**
 * Tells people of a fleet's questions: the worker that leads does, of new ones when they come up, and again while nobody
 * answers. Each once: beside any dashboard, and also where another comes to lead.
 */
export async function createFleetBell(parts: FleetBellParts): Promise<ServeBell> {
  const { root, env, config, pool, ledger, journal, onNotice } = parts;
  const sending = await sendingOf(root, config, env, onNotice);
  if (sending.outlets.length === 0) return { close: () => Promise.resolve() };
  const view = {
    now: () => Promise.resolve({ state: ledger.state(), sight: { lines: (after: number) => journal.read(after) } }),
    changed: (signal: AbortSignal) => Promise.race([ledger.changed(), aborted(signal)]),
  };
  const notes = {
    note: createPostgresNote(pool, "reminders"),
    newsNote: createPostgresNote(pool, "questions"),
  };
  return createServeBell(view, { ...sending, ...notes });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** The same note for whoever only looks on: connections of its own, made when somebody has to be reminded. */
export function fleetNote(db: string): ReminderNote & { close(): Promise<void> } {
  let pool: Promise<PostgresPool> | null = null;
  return {
    turn: async (take) => {
      pool ??= openPool(db, { connections: 1, patienceMs: PATIENCE_MS });
      try {
        await createPostgresNote(await pool, "reminders").turn(take);
      } catch (error) {
        // The next turn begins anew: a pool that never came about would be given to everybody after.
        await (await pool.catch(() => null))?.close();
        pool = null;
        throw error;
      }
    },
    close: async () => {
      await (await pool?.catch(() => null))?.close();
    },
  };
}

/** Whoever has to be reminded waits for hours; a server that is away is tried again in a minute. */
const PATIENCE_MS = 5000;
