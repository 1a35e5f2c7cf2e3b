import type { Event, Recorded } from "../core/events/event.ts";
import type { StoryId } from "../core/events/ids.ts";
import type { Command } from "../core/stories/command.ts";
import type { RunState } from "../core/stories/run-state.ts";

/** A line of the journal with its place: in the whole, in its stream, and in the chain of hashes. */
export interface StoredEvent extends Recorded {
  /** Counts from 1 over the whole journal, without a gap. */
  readonly position: number;
  /** Counts from 1 within the stream. */
  readonly seq: number;
  /** Over this line and the hash before it: an edit, a loss or a reordering anywhere shows. */
  readonly hash: string;
}

/** Events to append to one story, or (`null`) to the run. */
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
 * State as text, and the place up to which it was folded. Only ever a short cut: the lines are the truth. It is kept
 * in parts, so that a new one costs what has changed since the last.
 */
export interface Snapshot {
  readonly position: number;
  /** Changes when what is folded changes its form; an unknown one is passed over. */
  readonly format: string;
  readonly parts: readonly SnapshotPart[];
}

export interface SnapshotPart {
  readonly name: string;
  readonly text: string;
  /** What those need who want to know a little of every part. */
  readonly outline: string;
}

/** Outlines of the newest snapshot: all of them, or those that were asked for by their parts' names. */
export interface Outlines {
  readonly position: number;
  /** How many parts the snapshot has. */
  readonly parts: number;
  readonly outlines: readonly { readonly name: string; readonly text: string }[];
}

/** Append-only events, the only truth. Everything else is folded from it. */
export interface Journal {
  /** Random, and given once. `null`: written before journals had ids, and not changed since. */
  readonly id: string | null;
  /**
   * Writes all of the events or none. It resolves when they would survive a crash. `expectedSeq` is how many
   * lines the writer believes the stream has.
   */
  append(stream: StoryId | null, expectedSeq: number, events: readonly Event[], at: number): Promise<AppendResult>;
  /** Lines after a position, in order; of one story alone, where it is named. */
  read(after: number, only?: StoryId): AsyncIterable<StoredEvent>;
  head(): Promise<Head>;
  /**
   * Calls back, with no lines, when there may be new ones: `ours`, appended here, or `others`, appended by another process.
   * Returns how to stop it.
   */
  watch(notice: (whose: "ours" | "others") => void): () => void;
  /**
   * `since`: the place of the snapshot these parts change; its other parts stay. `null`: these are all there are, and
   * whatever was there goes. `false`: the snapshot that is there is not the one of `since`; nothing was written.
   */
  saveSnapshot(snapshot: Snapshot, since: number | null): Promise<boolean>;
  /** The snapshot that is there, if it has this format, is whole and belongs to these very lines. */
  latestSnapshot(format: string): Promise<Snapshot | null>;
  latestOutlines(format: string, names?: readonly string[]): Promise<Outlines | null>;
  /** Parts by their names, as far as there are such; `null` when the snapshot is not the one of this place any more. */
  snapshotParts(format: string, position: number, names: readonly string[]): Promise<readonly SnapshotPart[] | null>;
  /**
   * Checks every line's hash against the chain; says the first place where it breaks. A chain alone cannot show
   * that its end was cut off or that all of it was rewritten: a head that was noted elsewhere can.
   */
  verify(noted?: Head, onProgress?: (checked: number) => void): Promise<VerifyResult>;
  close(): Promise<void>;
}

export type VerifyResult =
  | { readonly ok: true; readonly head: Head }
  | { readonly ok: false; readonly position: number; readonly problem: string };

/** What the engine does with a journal; its owner checks and closes it. */
export type EngineJournal = Omit<Journal, "verify" | "close">;

/** A read-only journal; another process may be writing to it. */
export type JournalReader = Omit<Journal, "append" | "saveSnapshot">;

/** Observes the engine while it works, as a reporter or notifier does. It changes nothing. */
export interface Watcher {
  /** Lines the journal took, and the state after them. */
  onLines(lines: readonly StoredEvent[], state: RunState): void;
  /** A line that an agent or a gate printed. */
  onOutput(command: Command, line: string): void;
}

/** Signs what was accepted or waived. */
export interface Receipts {
  /** Makes the receipts that the story's lines ask for and that are not there yet. Trouble is reported, and costs no work. */
  issue(story: StoryId, state: RunState): Promise<void>;
}
