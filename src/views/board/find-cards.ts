import { type BoardCard, stateText } from "./board.ts";
import { COLUMN_TITLES } from "./columns.ts";

/** The last search of some cards: a page searches twice per key, for the counts and for the rows. */
const found = new WeakMap<readonly BoardCard[], { readonly query: string; readonly cards: readonly BoardCard[] }>();

/** The cards that contain all typed words. */
export function findCards(cards: readonly BoardCard[], query: string): readonly BoardCard[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return cards;
  const before = found.get(cards);
  if (before?.query === query) return before.cards;
  const matching = cards.filter((card) => {
    const text = searchText(card);
    return words.every((word) => text.includes(word));
  });
  found.set(cards, { query, cards: matching });
  return matching;
}

/** Cached per card: a filter searches every card at every key. */
const searchTexts = new WeakMap<BoardCard, string>();

function searchText(card: BoardCard): string {
  const known = searchTexts.get(card);
  if (known !== undefined) return known;
  const { id, title, why, agent, finding, status, gate, column, labels, files } = card;
  const parts = [id, title, why, agent, finding, status, stateText(card).word, gate, COLUMN_TITLES[column]];
  const text = [...parts, ...labels, ...files].join(" ").toLowerCase();
  searchTexts.set(card, text);
  return text;
}
