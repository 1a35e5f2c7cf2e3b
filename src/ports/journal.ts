import type { Event, Recorded } from "../core/events/event.ts";
import type { StoryId } from "../core/events/ids.ts";
import type { Command } from "../core/stories/command.ts";
import type { RunState } from "../core/stories/run-state.ts";

/** A line of the journal with its position in the journal, in its stream, and in the chain of hashes. */
export interface StoredEvent extends Recorded {
  /** Counts from 1 over the whole journal, without gaps. */
  readonly position: number;
  /** Counts from 1 within the stream. */
  readonly seq: number;
  /** A hash of this line and the previous hash: it shows every edit, loss or reordering. */
  readonly hash: string;
}

/** Events to append to the stream of one story, or (`null`) of the project. */
export interface StreamEvents {
  readonly stream: StoryId | null;
  readonly events: readonly Event[];
}

export type AppendResult =
  | { readonly ok: true; readonly stored: readonly StoredEvent[] }
  /** Another writer appended to the stream first: nothing was written, so fold and decide again. */
  | { readonly ok: false; readonly conflict: { readonly expected: number; readonly actual: number } };

export interface Head {
  readonly position: number;
  readonly hash: string;
}

/**
 * State as text, and the position up to which it was folded. A cache: the lines are the truth. It is stored in parts,
 * so that a new snapshot costs only what has changed since the last one.
 */
export interface Snapshot {
  readonly position: number;
  /** Changes with the form of the folded state; a snapshot of an unknown format is ignored. */
  readonly format: string;
  readonly parts: readonly SnapshotPart[];
}

export interface SnapshotPart {
  readonly name: string;
  readonly text: string;
  /** A summary of the part, for readers that need a little of every part. */
  readonly outline: string;
}

/** Outlines of the newest snapshot: all, or only those of the named parts. */
export interface Outlines {
  readonly position: number;
  /** How many parts the snapshot has. */
  readonly parts: number;
  readonly outlines: readonly { readonly name: string; readonly text: string }[];
}

/** An append-only list of events, the only source of truth. All state is folded from it. */
export interface Journal {
  /**
   * A random id that never changes. `null`: the journal is from a version without ids and has not been written since.
   */
  readonly id: string | null;
  /**
   * Writes all of the events or none, and resolves when they would survive a crash. `expectedSeq` is how many lines the
   * writer believes the stream has.
   */
  append(stream: StoryId | null, expectedSeq: number, events: readonly Event[], at: number): Promise<AppendResult>;
  /** Yields the lines after a position, in order; with `only`, those of one story. */
  read(after: number, only?: StoryId): AsyncIterable<StoredEvent>;
  head(): Promise<Head>;
  /**
   * Calls back, without lines, when there may be new ones: `ours`, appended here, or `others`, appended by another
   * process. Returns a function that stops it.
   */
  watch(notice: (whose: "ours" | "others") => void): () => void;
  /**
   * Stores a snapshot. `since`: the position of the stored snapshot that these parts change; its other parts stay.
   * `null`: these are all parts, and the stored snapshot is replaced. Returns `false`, and writes nothing, if the
   * stored snapshot is not at `since`.
   */
  saveSnapshot(snapshot: Snapshot, since: number | null): Promise<boolean>;
  /** Returns the stored snapshot if it has this format, is complete and belongs to these lines. */
  latestSnapshot(format: string): Promise<Snapshot | null>;
  latestOutlines(format: string, names?: readonly string[]): Promise<Outlines | null>;
  /** Returns the parts that exist among these names; `null` if the stored snapshot is no longer at this position. */
  snapshotParts(format: string, position: number, names: readonly string[]): Promise<readonly SnapshotPart[] | null>;
  /**
   * Checks every line's hash against the chain, and returns the first position where it breaks. A chain alone cannot
   * show that its end was cut off or that all of it was rewritten; a head that was noted elsewhere can.
   */
  verify(noted?: Head, onProgress?: (checked: number) => void): Promise<VerifyResult>;
  close(): Promise<void>;
}

export type VerifyResult =
  | { readonly ok: true; readonly head: Head }
  | { readonly ok: false; readonly position: number; readonly problem: string };

/** The parts of a journal that the engine uses; its owner checks and closes it. */
export type EngineJournal = Omit<Journal, "verify" | "close">;

/** A read-only journal; another process may be writing to it. */
export type JournalReader = Omit<Journal, "append" | "saveSnapshot">;

/** Observes the engine while it works, as a reporter or notifier does. It changes nothing. */
export interface Watcher {
  /** Called with the lines that were appended, and the state after them. */
  onLines(lines: readonly StoredEvent[], state: RunState): void;
  /** Called with a line that an agent or a gate printed. */
  onOutput(command: Command, line: string): void;
}

/** Signs acceptances and waivers. */
export interface Receipts {
  /** Makes the missing receipts for the story's lines. Problems are reported, and do not stop the work. */
  issue(story: StoryId, state: RunState): Promise<void>;
}
