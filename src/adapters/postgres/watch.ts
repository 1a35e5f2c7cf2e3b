import { setTimeout as sleep } from "node:timers/promises";
import type { Journal } from "../../ports/journal.ts";
import type { PostgresPool, Session } from "./pool.ts";

/** Tells watchers of this journal's own lines at once, and of others' when the server tells us. */
export interface Watch {
  watch: Journal["watch"];
  /** There are new lines of ours. */
  tell(): void;
  close(): Promise<void>;
}

export interface WatchOptions {
  /** How often the server is asked nevertheless: a word that got lost is made up for, a dead connection found out. */
  readonly pollMs?: number;
}

const POLL_MS = 5000;
/** Between two tries to reach the server again. */
const PAUSE_MS = 200;

/** `writer` is whose notifications are our own. */
export function createWatch(pool: PostgresPool, writer: string, options: WatchOptions = {}): Watch {
  const watchers = new Set<Parameters<Journal["watch"]>[0]>();
  let listening: { readonly stop: AbortController; readonly over: Promise<void> } | null = null;

  const tell = (whose: "ours" | "others"): void => {
    for (const watcher of watchers) watcher(whose);
  };
  const begin = (): void => {
    const stop = new AbortController();
    const others = (): void => tell("others");
    listening = { stop, over: listen(pool, writer, others, options.pollMs ?? POLL_MS, stop.signal) };
  };
  const rest = async (): Promise<void> => {
    const ended = listening;
    listening = null;
    ended?.stop.abort();
    await ended?.over;
  };
  return {
    watch: (notice) => {
      // A watcher of its own for each call, so that the same function can watch twice.
      const watcher: typeof notice = (whose) => notice(whose);
      watchers.add(watcher);
      if (listening === null) begin();
      return () => {
        watchers.delete(watcher);
        if (watchers.size === 0) void rest();
      };
    },
    tell: () => tell("ours"),
    close: async () => {
      watchers.clear();
      await rest();
    },
  };
}

/** Listens on a session of its own until it is told to stop, and on a new one whenever that is lost. */
async function listen(
  pool: PostgresPool,
  writer: string,
  others: () => void,
  pollMs: number,
  stop: AbortSignal,
): Promise<void> {
  while (!stop.aborted) {
    let session: Session | null = null;
    try {
      session = await pool.session();
      await heard(session, pool.schema, writer, others, pollMs, stop);
    } catch {
      // Whoever watches reads next, and reading says in full what is wrong, if it stays so.
    } finally {
      await session?.end();
    }
    await sleep(PAUSE_MS, undefined, { signal: stop }).catch(() => undefined);
  }
}

async function heard(
  session: Session,
  schema: string,
  writer: string,
  others: () => void,
  pollMs: number,
  stop: AbortSignal,
): Promise<void> {
  const over = new AbortController();
  const end = (): void => over.abort();
  session.onEnd(end);
  stop.addEventListener("abort", end, { once: true });
  session.onNotification((from) => {
    if (from !== writer && !stop.aborted) others();
  });
  await session.query({ text: `LISTEN remand_${schema}` });
  let seen: string | undefined;
  // The first look is after we listen: what was written before that is made up for by it.
  for (let isFirst = true; !over.signal.aborted; isFirst = false) {
    const text = `SELECT max(position) AS position FROM ${schema}.line`;
    const [head] = await session.query<{ position: string }>({ text });
    if (stop.aborted) return;
    if (isFirst || head!.position !== seen) others();
    seen = head!.position;
    await sleep(pollMs, undefined, { signal: over.signal }).catch(() => undefined);
  }
}
