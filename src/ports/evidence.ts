import type { EvidenceId, StoryId } from "../core/events/ids.ts";
import type { OutputLine, OutputPage, OutputPlace } from "../core/events/output-line.ts";

/** What gates and agents printed, kept by its content: the same text is kept once, and an id says what is in it. */
export interface Evidence {
  /** Secrets are taken out and the size is capped before anything touches the disk; the cut is stated in the text. */
  keep(text: string): Promise<EvidenceId>;
  read(id: EvidenceId): Promise<string | null>;
  /** Where a person finds the whole of it, for a report. */
  placeOf(id: EvidenceId): string;
  /** Writes the text as a plain file that agents can read in their sandbox, and returns its path. Absent: they share no disk. */
  show?(id: EvidenceId): Promise<string | null>;
}

/** Reads what is printed for a story while it is worked on: the newest part of it, in files that are not kept for ever. */
export interface OutputReader {
  /** The lines after a place; `null`: from the oldest that is there. */
  read(story: StoryId, after: OutputPlace | null): Promise<OutputPage>;
  /** A place shortly before the end, for who wants the newest lines alone; `null` where nothing was printed yet. */
  lastPlace(story: StoryId): Promise<OutputPlace | null>;
  /** The newest line; `null` where nothing was printed yet. */
  lastLine(story: StoryId): Promise<OutputLine | null>;
}
