import type { lostJournalSchema } from "../schemas/event.ts";
import type { Stored } from "../schemas/scalars.ts";

/**
 * What a clone remembers of its journal, outside the journal's own file. It is written after the lines that it counts
 * are on the disk, so it may be behind the journal, but never ahead of it.
 */
export interface JournalAnchor {
  readonly v: 1;
  /** The random id of the journal. */
  readonly id: string;
  /** The number of lines of the journal, and the hash of the last one. */
  readonly position: number;
  readonly hash: string;
  readonly at: number;
  /**
   * The mark of the file when it was last closed with a checked chain. Absent while the journal is open for writing.
   */
  readonly file?: FileMark;
  /** A replacement that has begun: written before the old file is moved, removed when the new journal is in place. */
  readonly pending?: PendingJournal;
}

/**
 * Tells whether a file was written to since. The file system's numbers are strings because they do not fit a number.
 */
export interface FileMark {
  readonly dev: string;
  readonly ino: string;
  readonly size: string;
  readonly mtimeNs: string;
  readonly ctimeNs: string;
}

export interface PendingJournal {
  /** The id of the new journal. */
  readonly id: string;
  readonly lost: LostJournal;
  readonly by: string;
}

/** What is known of a journal that was lost or replaced. */
export type LostJournal = Stored<typeof lostJournalSchema>;
