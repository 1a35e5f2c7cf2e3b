import type { Stored } from "../ports/journal.ts";
import type { StreamedLine } from "../views/dashboard.ts";
import { eventWords } from "../views/event-words.ts";
import { someLines } from "./live.ts";
import type { Sight } from "./source.ts";

/** The journal's lines as the stream sends them. What one reader was sent is kept for a while for those beside it. */
export interface LineTexts {
  /** At most so many lines after a place, as one text, and the place of the last. */
  after(sight: Sight, cursor: number, most: number): Promise<{ readonly text: string; readonly position: number }>;
}

/** Readers who keep up are never further apart than this. */
const KEPT = 2000;

export function createLineTexts(clean: (text: string) => string): LineTexts {
  const kept = new Map<number, string>();
  const keep = (position: number, text: string): void => {
    kept.set(position, text);
    if (kept.size > KEPT) kept.delete(kept.keys().next().value!);
  };
  return {
    after: async (sight, cursor, most) => {
      const texts: string[] = [];
      let position = cursor;
      for (; texts.length < most && kept.has(position + 1); position++) texts.push(kept.get(position + 1)!);
      if (texts.length > 0) return { text: texts.join(""), position };
      for (const line of await someLines(sight, cursor, most)) {
        const text = eventText(line, clean);
        keep(line.position, text);
        texts.push(text);
        position = line.position;
      }
      return { text: texts.join(""), position };
    },
  };
}

function eventText({ position, at, story, event }: Stored, clean: (text: string) => string): string {
  const line: StreamedLine = { position, at, story, type: event.type, words: clean(eventWords(event)) };
  return `id: ${position}\nevent: line\ndata: ${JSON.stringify(line)}\n\n`;
}
