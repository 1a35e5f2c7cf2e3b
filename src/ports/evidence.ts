import type { EvidenceId, StoryId } from "../core/events/ids.ts";
import type { OutputLine, OutputPage, OutputPosition } from "../core/events/output-line.ts";

/**
 * Stores the output of gates and agents by its content: the same text is stored once, and an id is the hash of its
 * text.
 */
export interface Evidence {
  /** Removes secrets and caps the size before anything is written to the disk; a cut is noted in the text. */
  keep(text: string): Promise<EvidenceId>;
  read(id: EvidenceId): Promise<string | null>;
  /** Where a person finds the whole text, for a report. */
  placeOf(id: EvidenceId): string;
  /**
   * Writes the text as a plain file that agents can read in their sandbox, and returns its path. Absent if agents share
   * no disk with it.
   */
  show?(id: EvidenceId): Promise<string | null>;
}

/** Reads the output of a story while it is worked on. Only the newest part is available; older files are deleted. */
export interface OutputReader {
  /** Returns the lines after a position; `null`: from the oldest line available. */
  read(story: StoryId, after: OutputPosition | null): Promise<OutputPage>;
  /**
   * Returns a position shortly before the end, for readers that want only the newest lines; `null` if nothing was
   * printed yet.
   */
  lastPlace(story: StoryId): Promise<OutputPosition | null>;
  /** Returns the newest line; `null` if nothing was printed yet. */
  lastLine(story: StoryId): Promise<OutputLine | null>;
}
