import type { StoryId } from "../../core/events/ids.ts";
import type { RunState } from "../../core/stories/run-state.ts";
import type { StoredEvent } from "../../ports/journal.ts";
import type { Glyphs, LineMark } from "../../views/text/words.ts";
import { type LineMemory, NO_LINES_YET, type RunLine, linesFor } from "../../views/run/run-lines.ts";
import type { Paint } from "../terminal-kind.ts";

/** A line of the report with the journal line it was made from. */
export interface ReportedLine {
  readonly line: RunLine;
  readonly stored: StoredEvent;
}

/** Turns journal lines into lines for people, and remembers what later lines need from earlier ones. */
export function createListener(glyphs: Glyphs): (lines: readonly StoredEvent[], state: RunState) => ReportedLine[] {
  const memories = new Map<StoryId | null, LineMemory>();
  return (lines, state) =>
    lines.flatMap((stored) => {
      const printed = linesFor(stored, memories.get(stored.story) ?? NO_LINES_YET, state, glyphs);
      memories.set(stored.story, printed.memory);
      return printed.lines.map((line) => ({ line, stored }));
    });
}

/** Formats a line for a terminal: a mark, the story in a column, the event; the reasons below, indented. */
export function lineText(line: RunLine, width: number, glyphs: Glyphs, paint: Paint): string {
  const sign = toneOf(line.mark, paint)(glyphs.marks[line.mark]);
  const story = line.story === null ? "" : paint.strong(line.story.padEnd(width));
  const head = [sign, story, paintGlyphs(line.text, glyphs, paint)].filter((part) => part !== "").join(" ");
  const details = line.details.map((detail) => `    ${paint.dim(detail)}\n`);
  return `${head.trimEnd()}\n${details.join("")}`;
}

/** The width of the column of stories: that of the longest id, up to a limit. */
export function columnWidth(ids: readonly string[]): number {
  return Math.min(32, Math.max(0, ...ids.map((id) => id.length))) + 1;
}

function toneOf(mark: LineMark, paint: Paint): (text: string) => string {
  switch (mark) {
    case "accepted":
      return paint.good;
    case "rejected":
    case "failed":
      return paint.bad;
    case "person":
    case "sent-back":
    case "trouble":
      return paint.warn;
    case "started":
    case "note":
      return paint.dim;
  }
}

/** Colors the marks of gates where they are symbols; ASCII words stay plain. */
function paintGlyphs(text: string, glyphs: Glyphs, paint: Paint): string {
  if (glyphs.pass.length > 1) return text;
  return text.replaceAll(glyphs.pass, paint.good(glyphs.pass)).replaceAll(glyphs.fail, paint.bad(glyphs.fail));
}
