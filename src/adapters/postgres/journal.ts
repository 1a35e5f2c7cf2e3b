import { randomBytes } from "node:crypto";
import type { Journal, JournalReader } from "../../ports/journal.ts";
import type { Outbox } from "../../ports/outbox.ts";
import { assert } from "../../stdx/assert.ts";
import { keptEvent, verifyChain } from "../journal/chain.ts";
import { createGroupWriter } from "../journal/group-writer.ts";
import { createCommit } from "./commit.ts";
import { createPostgresOutbox } from "./outbox.ts";
import { openPool, type PoolOptions, type PostgresPool } from "./pool.ts";
import { createReading } from "./reading.ts";
import { migrate, schemaVersion } from "./schema.ts";
import { createSharedSnapshots, createSnapshotReading, createSnapshotWriting } from "./snapshots.ts";
import { createWatch, type WatchOptions } from "./watch.ts";

export interface PostgresOptions extends PoolOptions, WatchOptions {
  /** For the workers of a fleet: one of them keeps the snapshot, the others leave it to that one. */
  readonly sharesSnapshots?: boolean;
}

export interface PostgresJournal extends Journal {
  /** In the same database, so that what goes into both is committed once. */
  readonly outbox: Outbox;
}

/**
 * The journal in a PostgreSQL database that many processes on many machines share. Appends are gathered for one turn of
 * the event loop and committed with one call. While the server is away, everybody waits: an append whose answer was
 * lost is asked about again, and is neither lost nor written twice. Opened by an address, it has connections of its
 * own; opened by a pool, it leaves them open when it is closed.
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
    read: reading.stored,
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

/** Has anybody ever written a journal there? */
export async function hasJournal(pool: PostgresPool): Promise<boolean> {
  return (await schemaVersion(pool)) !== null;
}

/** For looking from anywhere, where there is a journal: it needs the right to read, and makes nothing. */
export async function openPostgresReadOnly(pool: PostgresPool, options: WatchOptions = {}): Promise<JournalReader> {
  const reading = createReading(pool);
  const watch = createWatch(pool, "", options);
  return {
    id: null,
    read: reading.stored,
    head: reading.head,
    watch: watch.watch,
    ...createSnapshotReading(pool),
    verify: (noted, onProgress) => verifyChain(reading.lines(0), noted, onProgress),
    close: watch.close,
  };
}
