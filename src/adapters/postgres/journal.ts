import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Journal, JournalReader } from "../../ports/journal.ts";
import type { Outbox } from "../../ports/notifier.ts";
import { assert } from "../../stdx/assert.ts";
import { keptEvent, verifyChain } from "../journal/chain.ts";
import { type GroupWriter, createGroupWriter } from "../journal/group-writer.ts";
import { type PoolOptions, type PostgresPool, type Session, openPool } from "./pool.ts";
import { createReading, type DroppedKeys, createCommit, keyId } from "./journal-lines.ts";
import { migrate, schemaVersion } from "./schema.ts";
import { createSharedSnapshots, createSnapshotReading, createSnapshotWriting } from "./snapshots.ts";

export interface PostgresOptions extends PoolOptions, WatchOptions {
  /** For workers of a fleet: one of them saves the snapshot, the others skip it. */
  readonly sharesSnapshots?: boolean;
}

export interface PostgresJournal extends Journal {
  /** In the same database, so that writes to both are committed together. */
  readonly outbox: Outbox;
}

/**
 * The journal in a PostgreSQL database that many processes on many machines share. Appends of one turn of the event
 * loop are committed with one call. While the server is away, all calls wait: an append whose reply was lost is sent
 * again, and is neither lost nor written twice. If opened by an address, the journal closes its connections; a pool
 * that was passed in stays open.
 */
export async function createPostgresJournal(
  place: string | PostgresPool,
  options: PostgresOptions = {},
): Promise<PostgresJournal> {
  const pool = typeof place === "string" ? await openPool(place, options) : place;
  const release = async (): Promise<void> => (typeof place === "string" ? pool.close() : undefined);
  try {
    await migrate(pool);
  } catch (error) {
    await release();
    throw error;
  }
  const writerName = randomBytes(8).toString("hex");
  const reading = createReading(pool);
  const watch = createWatch(pool, writerName, options);
  const outbox = createPostgresOutbox(pool);
  const commit = createCommit(pool, writerName, outbox);
  const writer = createGroupWriter(async (group) => {
    const outcomes = await commit(group);
    if (outcomes.some((each) => each.ok && each.stored.length > 0)) watch.tell();
    return outcomes;
  });
  return {
    id: null,
    append: async (stream, expectedSeq, events, at) => {
      assert(stream !== "", "a story's stream has a name");
      assert(Number.isFinite(at), "a line has a time");
      return writer.write({ stream, expectedSeq, at, events: events.map(keptEvent) });
    },
    read: reading.readStored,
    head: reading.head,
    watch: watch.watch,
    ...(options.sharesSnapshots === true
      ? createSharedSnapshots(pool)
      : { ...createSnapshotReading(pool), saveSnapshot: createSnapshotWriting(pool) }),
    verify: (noted, onProgress) => verifyChain(reading.lines(0), noted, onProgress),
    outbox: outbox.through(writer),
    close: async () => {
      await watch.close();
      if (!(await writer.close())) return;
      try {
        await outbox.close();
      } finally {
        await release();
      }
    },
  };
}

/** Whether this database has a journal. */
export async function hasJournal(pool: PostgresPool): Promise<boolean> {
  return (await schemaVersion(pool)) !== null;
}

/** Opens an existing journal for reading, from any machine. Needs the right to read, and creates nothing. */
export async function openPostgresReadOnly(pool: PostgresPool, options: WatchOptions = {}): Promise<JournalReader> {
  const reading = createReading(pool);
  const watch = createWatch(pool, "", options);
  return {
    id: null,
    read: reading.readStored,
    head: reading.head,
    watch: watch.watch,
    ...createSnapshotReading(pool),
    verify: (noted, onProgress) => verifyChain(reading.lines(0), noted, onProgress),
    close: watch.close,
  };
}

export interface PostgresOutbox extends DroppedKeys {
  through(writer: GroupWriter): Outbox;
  /** Deletes what was dropped since the last commit. */
  close(): Promise<void>;
}

/** The outbox as a table beside the journal's. A put is committed together with the other writes of the moment. */
export function createPostgresOutbox(pool: PostgresPool): PostgresOutbox {
  const dropped = new Set<string>();
  let sweeping = new Set<string>();
  const sweep: DroppedKeys["sweep"] = async (work) => {
    sweeping = new Set(dropped);
    dropped.clear();
    try {
      const result = await work([...sweeping]);
      sweeping.clear();
      return result;
    } catch (error) {
      for (const key of sweeping) dropped.add(key);
      throw error;
    }
  };
  return {
    sweep,
    close: async () => {
      if (dropped.size > 0) await createCommit(pool, "", { sweep })([]);
    },
    through: (writer) => ({
      put: async (key, text) => {
        // A key that is put again must not be deleted. The put is written after the sweep that is under way.
        dropped.delete(key);
        sweeping.delete(key);
        const { ok } = await writer.write({ key, text });
        assert(ok, "putting into the outbox cannot conflict");
      },
      get: async (key) => {
        if (dropped.has(key) || sweeping.has(key)) return null;
        const text = `SELECT text FROM ${pool.schema}.outbox WHERE id = $1`;
        const [row] = await pool.query<{ text: Buffer }>({ name: "outbox", text, values: [keyId(key)] });
        return row?.text.toString("utf8") ?? null;
      },
      drop: async (key) => void dropped.add(key),
    }),
  };
}

/** Notifies watchers of this journal's own lines at once, and of other writers' lines by the server's notifications. */
export interface PostgresWatch {
  watch: Journal["watch"];
  /** Call after this journal added lines. */
  tell(): void;
  close(): Promise<void>;
}

export interface WatchOptions {
  /** How often the server is polled in addition, to make up for lost notifications and detect dead connections. */
  readonly pollMs?: number;
}

const POLL_MS = 5000;
/** The pause between two attempts to reconnect. */
const PAUSE_MS = 200;

/** Notifications with this `writer` are the journal's own. */
export function createWatch(pool: PostgresPool, writer: string, options: WatchOptions = {}): PostgresWatch {
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
      // Each call gets its own watcher, so that the same function can watch twice.
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

/** Listens on a session of its own until stopped, and reconnects when the session is lost. */
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
      await listenOn(session, pool.schema, writer, others, pollMs, stop);
    } catch {
      // The watcher's next read reports the error in full if it persists.
    } finally {
      await session?.end();
    }
    await sleep(PAUSE_MS, undefined, { signal: stop }).catch(() => undefined);
  }
}

async function listenOn(
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
  // The first poll comes after listening has started, and makes up for what was written before.
  for (let isFirst = true; !over.signal.aborted; isFirst = false) {
    const text = `SELECT max(position) AS position FROM ${schema}.line`;
    const [head] = await session.query<{ position: string }>({ text });
    if (stop.aborted) return;
    if (isFirst || head!.position !== seen) others();
    seen = head!.position;
    await sleep(pollMs, undefined, { signal: over.signal }).catch(() => undefined);
  }
}
