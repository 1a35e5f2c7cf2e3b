import type { Recorded } from "../domain/event.ts";
import type { Stored } from "../ports/journal.ts";
import { slimLine } from "../views/ledger.ts";
import { someLines } from "./live.ts";
import type { Sight } from "./source.ts";

/**
 * Where each story's lines are, and what the ledger needs of all of them. It is made when somebody first asks, and
 * grows with the journal: to open one story nobody reads through those of all others.
 */
export interface LineIndex {
  /** The story's lines after a place, whole; at most so many. */
  linesOf(sight: Sight, story: string, after: number, most: number): Promise<readonly Stored[]>;
  /** The story's last lines, whole, and how many came before them. */
  lastOf(sight: Sight, story: string, most: number): Promise<{ readonly lines: readonly Stored[]; earlier: number }>;
  spendings(sight: Sight): Promise<readonly Recorded[]>;
}

export function createLineIndex(): LineIndex {
  const places = new Map<string | null, number[]>();
  const slim: Recorded[] = [];
  let position = 0;
  let turn: Promise<void> = Promise.resolve();

  const grow = async (sight: Sight): Promise<void> => {
    for await (const line of sight.lines(position)) {
      const known = places.get(line.story);
      if (known === undefined) places.set(line.story, [line.position]);
      else known.push(line.position);
      const small = slimLine(line);
      if (small !== null) slim.push(small);
      position = line.position;
    }
  };
  const grown = (sight: Sight): Promise<void> => {
    const next = turn.then(
      () => grow(sight),
      () => grow(sight),
    );
    turn = next;
    return next;
  };

  return {
    linesOf: async (sight, story, after, most) => {
      await grown(sight);
      const wanted = (places.get(story) ?? []).filter((place) => place > after).slice(0, most);
      return readPlaces(sight, wanted);
    },
    lastOf: async (sight, story, most) => {
      await grown(sight);
      const all = places.get(story) ?? [];
      const last = all.slice(-most);
      return { lines: await readPlaces(sight, last), earlier: all.length - last.length };
    },
    spendings: async (sight) => {
      await grown(sight);
      return slim;
    },
  };
}

/** Places that follow one another are read in one go. */
async function readPlaces(sight: Sight, places: readonly number[]): Promise<readonly Stored[]> {
  const lines: Stored[] = [];
  for (let from = 0; from < places.length;) {
    let to = from + 1;
    while (to < places.length && places[to] === places[to - 1]! + 1) to++;
    lines.push(...(await someLines(sight, places[from]! - 1, to - from)));
    from = to;
  }
  return lines;
}
