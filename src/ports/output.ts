import type { StoryId } from "../core/events/ids.ts";
import type { OutputLine, OutputPage, OutputPlace } from "../core/events/output-line.ts";

/** Reads what is printed for a story while it is worked on: the newest part of it, in files that are not kept for ever. */
export interface OutputReader {
  /** The lines after a place; `null`: from the oldest that is there. */
  read(story: StoryId, after: OutputPlace | null): Promise<OutputPage>;
  /** A place shortly before the end, for who wants the newest lines alone; `null` where nothing was printed yet. */
  lastPlace(story: StoryId): Promise<OutputPlace | null>;
  /** The newest line; `null` where nothing was printed yet. */
  lastLine(story: StoryId): Promise<OutputLine | null>;
}
