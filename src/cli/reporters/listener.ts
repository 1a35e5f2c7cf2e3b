import type { StoryId } from "../../domain/ids.ts";
import type { RunState } from "../../domain/run-state.ts";
import type { Stored } from "../../ports/journal.ts";
import type { Glyphs } from "../../views/glyphs.ts";
import { linesFor, NOTHING_HEARD, type LineMemory, type RunLine } from "../../views/run-lines.ts";

/** A line of the run with the line of the journal it came from. */
export interface Heard {
  readonly line: RunLine;
  readonly stored: Stored;
}

/** Turns lines of the journal into lines for people, and keeps what one of them needs of those before it. */
export function createListener(glyphs: Glyphs): (lines: readonly Stored[], state: RunState) => Heard[] {
  const memories = new Map<StoryId | null, LineMemory>();
  return (lines, state) =>
    lines.flatMap((stored) => {
      const heard = linesFor(stored, memories.get(stored.story) ?? NOTHING_HEARD, state, glyphs);
      memories.set(stored.story, heard.memory);
      return heard.lines.map((line) => ({ line, stored }));
    });
}
