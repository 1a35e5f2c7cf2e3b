import type { Recorded } from "../core/events/event.ts";
import type { StoredEvent } from "../ports/journal.ts";
import { slimLine } from "../views/board/ledger.ts";
import type { StreamedLine } from "../views/board/dashboard.ts";
import { eventWords } from "../views/run/event-text.ts";
import { someLines, type RunView } from "./live.ts";

/**
 * Indexes the lines of each story, and what the page of costs needs of all lines. It is built by the first request and
 * grows with the journal, so that opening one story does not read the lines of all others.
 */
export interface StoryLineIndex {
  /** The story's full lines after a position, at most `most`. */
  linesOf(view: RunView, story: string, after: number, most: number): Promise<readonly StoredEvent[]>;
  /** The story's last full lines, and how many came before them. */
  lastOf(
    view: RunView,
    story: string,
    most: number,
  ): Promise<{ readonly lines: readonly StoredEvent[]; earlier: number }>;
  spendings(view: RunView): Promise<readonly Recorded[]>;
}

export function createLineIndex(): StoryLineIndex {
  const places = new Map<string | null, number[]>();
  const slim: Recorded[] = [];
  let position = 0;
  let turn: Promise<void> = Promise.resolve();

  const grow = async (view: RunView): Promise<void> => {
    for await (const line of view.lines(position)) {
      const known = places.get(line.story);
      if (known === undefined) places.set(line.story, [line.position]);
      else known.push(line.position);
      const small = slimLine(line);
      if (small !== null) slim.push(small);
      position = line.position;
    }
  };
  const growInTurn = (view: RunView): Promise<void> => {
    const next = turn.then(
      () => grow(view),
      () => grow(view),
    );
    turn = next;
    return next;
  };

  return {
    linesOf: async (view, story, after, most) => {
      await growInTurn(view);
      const wanted = (places.get(story) ?? []).filter((place) => place > after).slice(0, most);
      return readPlaces(view, wanted);
    },
    lastOf: async (view, story, most) => {
      await growInTurn(view);
      const all = places.get(story) ?? [];
      const last = all.slice(-most);
      return { lines: await readPlaces(view, last), earlier: all.length - last.length };
    },
    spendings: async (view) => {
      await growInTurn(view);
      return slim;
    },
  };
}

/** Reads consecutive positions in one request. */
async function readPlaces(view: RunView, places: readonly number[]): Promise<readonly StoredEvent[]> {
  const lines: StoredEvent[] = [];
  for (let from = 0; from < places.length;) {
    let to = from + 1;
    while (to < places.length && places[to] === places[to - 1]! + 1) to++;
    lines.push(...(await someLines(view, places[from]! - 1, to - from)));
    from = to;
  }
  return lines;
}

/** The journal's lines as the stream sends them. Recent texts are cached for other readers. */
export interface LineTexts {
  /** At most `most` lines after a position as one text, and the position of the last. */
  after(view: RunView, cursor: number, most: number): Promise<{ readonly text: string; readonly position: number }>;
}

/** Readers that keep up are never further apart than this. */
const KEPT = 2000;

export function createLineTexts(clean: (text: string) => string): LineTexts {
  const kept = new Map<number, string>();
  const keep = (position: number, text: string): void => {
    kept.set(position, text);
    if (kept.size > KEPT) kept.delete(kept.keys().next().value!);
  };
  return {
    after: async (view, cursor, most) => {
      const texts: string[] = [];
      let position = cursor;
      for (; texts.length < most && kept.has(position + 1); position++) texts.push(kept.get(position + 1)!);
      if (texts.length > 0) return { text: texts.join(""), position };
      for (const line of await someLines(view, cursor, most)) {
        const text = eventText(line, clean);
        keep(line.position, text);
        texts.push(text);
        position = line.position;
      }
      return { text: texts.join(""), position };
    },
  };
}

function eventText({ position, at, story, event }: StoredEvent, clean: (text: string) => string): string {
  const line: StreamedLine = { position, at, story, type: event.type, words: clean(eventWords(event)) };
  return `id: ${position}\nevent: line\ndata: ${JSON.stringify(line)}\n\n`;
}
