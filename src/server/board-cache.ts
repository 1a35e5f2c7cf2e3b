import type { RunState } from "../domain/run-state.ts";
import type { StoryState } from "../domain/story-state.ts";
import { entries, lookup, byText } from "../stdx/sorted-map.ts";
import { boardCard, cardMatches, COLUMNS, type BoardCard, type Column } from "../views/board-cards.ts";
import type { BoardColumn } from "../views/dashboard.ts";

/** The cards of all stories. A card is made again only when its story, or what it waits for, has changed. */
export interface BoardCache {
  cards(run: RunState): readonly BoardCard[];
}

interface Made {
  readonly state: StoryState;
  readonly card: BoardCard;
}

export function createBoardCache(): BoardCache {
  let made = new Map<string, Made>();
  let before: RunState | null = null;
  let cards: readonly BoardCard[] = [];
  return {
    cards: (run) => {
      if (run === before) return cards;
      const isSameRun = before !== null && sameSurroundings(run, before);
      const next = new Map<string, Made>();
      for (const [id, state] of entries(run.stories)) {
        const known = made.get(id);
        const isKnown = isSameRun && known?.state === state && !waitsForStory(run, state);
        next.set(id, isKnown ? known : { state, card: boardCard(run, state) });
      }
      made = next;
      before = run;
      cards = [...next.values()].map(({ card }) => card);
      return cards;
    },
  };
}

function sameSurroundings(a: RunState, b: RunState): boolean {
  return a.remediation === b.remediation && a.halted === b.halted && a.escalation === b.escalation;
}

/** What such a story says of itself changes with the story that it waits for. */
function waitsForStory(run: RunState, { ending, story, wait, policy }: StoryState): boolean {
  if (ending !== null) return false;
  if (wait?.type === "story") return true;
  return policy === null && story.dependsOn.some((id) => lookup(run.stories, id, byText)?.ending?.how !== "accepted");
}

/** What needs somebody first comes first; what is over, the latest first. */
export function boardColumns(cards: readonly BoardCard[], query: string, mostCards: number): readonly BoardColumn[] {
  const byColumn = new Map<Column, BoardCard[]>(COLUMNS.map((name) => [name, []]));
  for (const card of cards) if (cardMatches(card, query)) byColumn.get(card.column)!.push(card);
  return COLUMNS.map((name) => {
    const all = byColumn.get(name)!;
    const isOver = name === "accepted" || name === "stopped";
    all.sort((a, b) => (isOver ? (b.endedAt ?? 0) - (a.endedAt ?? 0) : 0) || a.arrival - b.arrival);
    return { name, total: all.length, cards: all.slice(0, mostCards) };
  });
}
