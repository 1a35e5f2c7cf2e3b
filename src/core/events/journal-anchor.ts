import type { lostJournalSchema } from "../schemas/event.ts";
import type { Stored } from "../schemas/scalars.ts";

/**
 * What a clone remembers of its journal outside of the journal's own file. It may be behind the journal, never ahead of
 * it: it is written after the lines it speaks of are on the disk.
 */
export interface JournalAnchor {
  readonly v: 1;
  /** The random id of the journal. */
  readonly id: string;
  /** How many lines it had, and the hash of the last of them. */
  readonly position: number;
  readonly hash: string;
  readonly at: number;
  /** The file after it was closed with a chain that had been checked. Missing while it is being written to. */
  readonly file?: FileMark;
  /** A replacement that has begun: written before the old file is moved, gone when the new journal is there. */
  readonly pending?: PendingJournal;
}

/** Tells whether a file was written to since. Numbers of the file system are kept as text: they are larger than ours. */
export interface FileMark {
  readonly dev: string;
  readonly ino: string;
  readonly size: string;
  readonly mtimeNs: string;
  readonly ctimeNs: string;
}

export interface PendingJournal {
  /** Of the new journal. */
  readonly id: string;
  readonly lost: LostJournal;
  readonly by: string;
}

/** What is known of a journal that was lost or given up. */
export type LostJournal = Stored<typeof lostJournalSchema>;
