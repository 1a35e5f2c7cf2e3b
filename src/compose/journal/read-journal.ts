import { existsSync } from "node:fs";
import { HIDDEN_OUTPUT_NOTICE, isHiddenText } from "../../core/gates/check-output.ts";
import type { Evidence } from "../../ports/evidence.ts";
import type { Journal, JournalReader } from "../../ports/journal.ts";
import type * as SqliteAdapter from "../../adapters/journal/sqlite-journal.ts";
import type * as PostgresAdapter from "../../adapters/postgres/journal.ts";
import type { PostgresPool } from "../../adapters/postgres/pool.ts";
import { stateFolder } from "../state-folder.ts";
import type { StoriesView, JournalView } from "../../app/host.ts";
import { foldJournal } from "../../engine/fold-journal.ts";
import type { StoryId } from "../../core/events/ids.ts";
import { type RunOutline, type WithEngine, withEngine } from "../../core/stories/run-state.ts";
import { foldStoryDetails, foldOutlines } from "../../engine/fold-outlines.ts";

/** Where a project's journal and evidence are: in its checkout, or in a fleet's database. */
export interface JournalLocation {
  /**
   * Opens the journal for reading next to a writer; `null` where nothing was ever written. The caller must close it.
   */
  read(): Promise<OpenedJournal<JournalReader> | null>;
  /**
   * Opens the journal to append from outside of the engine; `null` where nothing was ever written. The caller must
   * close it.
   */
  write(): Promise<OpenedJournal<Journal> | null>;
}

export interface OpenedJournal<J> {
  readonly journal: J;
  readonly evidence: Evidence;
  close(): Promise<void>;
}

/** `db`: the address of a database; `null`: the checkout's own journal. Loads only the adapter that is needed. */
export function journalLocation(root: string, db: string | null): JournalLocation {
  return db === null ? inCheckout(root) : inDatabase(db);
}

function inCheckout(root: string): JournalLocation {
  const { journal: file, evidence: folder } = stateFolder(root);
  const openExisting = async <J extends JournalReader>(open: (adapter: typeof SqliteAdapter) => Promise<J>) => {
    if (!existsSync(file)) return null;
    const journal = await open(await import("../../adapters/journal/sqlite-journal.ts"));
    const { createEvidenceStore } = await import("../../adapters/evidence/evidence-store.ts");
    return { journal, evidence: createEvidenceStore(folder), close: () => journal.close() };
  };
  return {
    read: () => openExisting(({ openJournalReadOnly }) => openJournalReadOnly(file)),
    write: () => openExisting<Journal>(async () => (await import("./open-journal.ts")).openJournalBeside(root, file)),
  };
}

function inDatabase(db: string): JournalLocation {
  const openExisting = async <J extends JournalReader>(
    open: (adapter: typeof PostgresAdapter, pool: PostgresPool) => Promise<J>,
  ): Promise<OpenedJournal<J> | null> => {
    const { openPool } = await import("../../adapters/postgres/pool.ts");
    const { createPostgresEvidence } = await import("../../adapters/postgres/evidence.ts");
    const adapter = await import("../../adapters/postgres/journal.ts");
    const pool = await openPool(db);
    try {
      // Reading creates nothing: a mistyped name must not leave tables behind.
      if (!(await adapter.hasJournal(pool))) {
        await pool.close();
        return null;
      }
      const journal = await open(adapter, pool);
      const close = async (): Promise<void> => {
        await journal.close();
        await pool.close();
      };
      return { journal, evidence: createPostgresEvidence(pool), close };
    } catch (error) {
      await pool.close();
      throw error;
    }
  };
  return {
    read: () => openExisting(({ openPostgresReadOnly }, pool) => openPostgresReadOnly(pool)),
    write: () => openExisting<Journal>(({ createPostgresJournal }, pool) => createPostgresJournal(pool)),
  };
}

/**
 * Opens the current state. Git is loaded on the first request for code: most commands only show the status of stories.
 */
export async function openView(
  root: string,
  db: string | null,
  /** Whether the caller is an identified person. Only people see evidence of hidden checks. */
  isPerson: () => Promise<boolean>,
): Promise<JournalView | null> {
  const opened = await journalLocation(root, db).read();
  if (opened === null) return null;
  const { journal, evidence, close } = opened;
  try {
    const folded = await foldJournal(journal);
    return {
      state: await besideEngine(root, db, folded.state),
      folded,
      journal,
      evidence: withoutHidden(evidence, isPerson),
      lines: (after, only) => journal.read(after, only),
      workspace: async () => {
        const { createWorktrees } = await import("../../adapters/git/worktree/worktrees.ts");
        return createWorktrees({ root, state: stateFolder(root).path });
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function withoutHidden(evidence: Evidence, isPerson: () => Promise<boolean>): Evidence {
  return {
    ...evidence,
    async read(id) {
      const text = await evidence.read(id);
      return text !== null && isHiddenText(text) && !(await isPerson()) ? HIDDEN_OUTPUT_NOTICE : text;
    },
  };
}

/**
 * Adds whether an engine is running, which the journal cannot tell. For a fleet's workers, that is not determined here.
 */
async function besideEngine<R extends RunOutline>(root: string, db: string | null, run: R): Promise<R & WithEngine> {
  if (db !== null) return run;
  const { hasLivingOwner } = await import("../../adapters/journal/ownership.ts");
  return withEngine(run, await hasLivingOwner(stateFolder(root).journal));
}

/** Reads only the outlines of the stories. */
export async function readOutline(
  root: string,
  db: string | null,
  only: readonly StoryId[] | "open" | null = null,
): Promise<RunOutline | null> {
  const opened = await journalLocation(root, db).read();
  if (opened === null) return null;
  try {
    return await besideEngine(root, db, await foldOutlines(opened.journal, only));
  } finally {
    await opened.close();
  }
}

/** Reads some stories with their lines. */
export async function readStories(
  root: string,
  db: string | null,
  of: readonly StoryId[] | "asking",
): Promise<StoriesView | null> {
  const opened = await journalLocation(root, db).read();
  if (opened === null) return null;
  const { journal, close } = opened;
  try {
    const { run, states } = await foldStoryDetails(journal, of);
    const lines: StoriesView["lines"] = (story) => journal.read(0, story);
    return { run: await besideEngine(root, db, run), states, lines, close };
  } catch (error) {
    await close();
    throw error;
  }
}
