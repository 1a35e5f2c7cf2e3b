import type { StoryId } from "../../domain/ids.ts";
import type { RunState } from "../../domain/run-state.ts";
import type { StoryState } from "../../domain/story-state.ts";
import { byText, lookup } from "../../stdx/sorted-map.ts";
import type { Stored } from "../../ports/journal.ts";
import type { Measures } from "./measures.ts";
import type { OwnLines } from "./own-lines.ts";
import type { Tally } from "./tally.ts";
import type { Traces } from "./traces.ts";
import { piecesIn, type Seen } from "./work-pieces.ts";

export interface TellerParts {
  readonly own: OwnLines;
  readonly traces: Traces;
  readonly measures: Measures;
  readonly tally: Tally;
}

export interface LineTeller {
  /** The state that the next lines follow upon. */
  resume(state: RunState): void;
  see(lines: readonly Stored[], state: RunState): void;
}

/** Makes spans and counts of the lines of the journal, of those that are ours. */
export function createLineTeller({ own, traces, measures, tally }: TellerParts): LineTeller {
  let before: RunState | null = null;
  const tell = (story: StoryId, { line, begun, ended }: Seen, isOurs: boolean): void => {
    for (const piece of ended) {
      // A person's word is nobody's step: what it breaks off is told by whoever was at it.
      if (isOurs || (isPersons(line) && traces.holds(story, piece))) {
        traces.ended(story, piece);
        measures.ended(piece);
      } else traces.givenUp(story, piece);
    }
    if (isOurs && begun !== null) traces.begun(story, begun);
  };
  const seenOf = (story: StoryId | null, lines: readonly Stored[], state: RunState): readonly Seen[] => {
    const [past, present] = [storyIn(before, story), storyIn(state, story)];
    if (present === undefined) return lines.map((line) => ({ line, begun: null, ended: [] }));
    tally.moved(past, present);
    return piecesIn(lines, past, present);
  };
  return {
    resume: (state) => {
      before = state;
    },
    see: (lines, state) => {
      for (const [story, told] of byStory(lines))
        for (const seen of seenOf(story, told, state))
          own.whose(seen.line.position, (isOurs) => {
            if (isOurs) measures.step(seen.line.event);
            if (story !== null) tell(story, seen, isOurs);
          });
      before = state;
    },
  };
}

const isPersons = ({ event }: Stored): boolean => event.type === "person.answered" || event.type === "story.held";

function storyIn(run: RunState | null, story: StoryId | null): StoryState | undefined {
  return run === null || story === null ? undefined : lookup(run.stories, story, byText);
}

function byStory(lines: readonly Stored[]): ReadonlyMap<StoryId | null, readonly Stored[]> {
  const groups = new Map<StoryId | null, Stored[]>();
  for (const line of lines) {
    const known = groups.get(line.story);
    if (known === undefined) groups.set(line.story, [line]);
    else known.push(line);
  }
  return groups;
}
