import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createSqliteJournal } from "../../src/adapters/journal/sqlite-journal.ts";
import { openSqlite } from "../../src/adapters/journal/sqlite.ts";
import { stateFolder } from "../../src/compose/state-folder.ts";
import type { Event } from "../../src/core/events/event.ts";
import { storyId } from "../../src/core/events/ids.ts";
import { foldJournal } from "../../src/engine/fold-journal.ts";
import { openLedger, SNAPSHOT_EVERY } from "../../src/engine/ledger.ts";
import { createSnapshotSaver } from "../../src/engine/snapshot.ts";
import { openEngine } from "./driven.ts";
import { instantWorld } from "./instant-world.ts";
import { names } from "./steps.ts";

/** A checkout's state folder with a long journal, and a copy without its snapshots. */
export interface LongJournal {
  readonly root: string;
  readonly file: string;
  readonly withoutSnapshot: string;
  readonly events: number;
}

/**
 * Ten thousand stories in progress: started, judged, sent back, and queued for rework. One story is really driven; the
 * others get its events under their own names.
 */
export async function longJournal(folder: string, stories: number): Promise<LongJournal> {
  const root = join(folder, "checkout");
  const { journal: file, path } = stateFolder(root);
  mkdirSync(path, { recursive: true });
  const journal = await createSqliteJournal(file);
  const engine = await openEngine(journal, { atOnce: 20, failures: 1 });
  await engine.accept([MODEL]);
  const half = await firstHalf(journal);
  const text = JSON.stringify(half);
  // As many lines after the last snapshot as an engine ever leaves.
  const after = Math.floor((SNAPSHOT_EVERY - 1) / half.length);
  for (let from = 0; from < stories; from += BATCH) {
    const batch = names("story", Math.min(from + BATCH, stories)).slice(from);
    const add = (some: readonly string[]) =>
      Promise.all(
        some.map((name) =>
          journal.append(storyId(name), 0, JSON.parse(text.replaceAll(MODEL, name)) as Event[], Date.now()),
        ),
      );
    await add(batch.slice(0, -after));
    const folded = await foldJournal(journal);
    await createSnapshotSaver(journal, folded.kept)(folded);
    await add(batch.slice(-after));
  }
  const { position: events } = await journal.head();
  await journal.close();
  const withoutSnapshot = join(folder, "without-snapshot.db");
  copyFileSync(file, withoutSnapshot);
  const db = await openSqlite(withoutSnapshot, "write");
  db.exec("DELETE FROM snapshot; DELETE FROM part; DELETE FROM outline; PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
  return { root, file, withoutSnapshot, events };
}

const MODEL = "the-model";
const BATCH = 1000;

/** The events up to the rework: ten events of a story that is still open. */
async function firstHalf(journal: Parameters<typeof foldJournal>[0]): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const { story, event } of journal.read(0)) if (story === MODEL) events.push(event);
  return events.slice(0, events.findIndex(({ type }) => type === "work.sent-back") + 1);
}

/** Opens a journal as an engine does, in a child process, and reports the cost. */
export async function openAndTell(file: string): Promise<{ ms: number; rss: number; stories: number }> {
  const begin = performance.now();
  const journal = await createSqliteJournal(file);
  const ledger = await openLedger(instantWorld({ journal, atOnce: 1, failures: 0 }));
  const ms = performance.now() - begin;
  const stories = ledger.state().stories?.size ?? 0;
  const { rss } = process.memoryUsage();
  await journal.close();
  return { ms, rss, stories };
}
