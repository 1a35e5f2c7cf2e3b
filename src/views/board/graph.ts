import type { StoryId } from "../../core/events/ids.ts";
import type { RunState } from "../../core/stories/run-state.ts";
import { byText, lookup } from "../../stdx/sorted-map.ts";
import { type Column, type BoardGroup, groupOf } from "./columns.ts";
import type { BoardCard } from "./board.ts";
import { findCards } from "./find-cards.ts";

/** The graph of dependencies between stories, from left to right, with the critical path. */
export interface GraphDocument {
  readonly position: number;
  readonly nodes: readonly GraphNode[];
  /** The open stories of the longest chain, in the order in which they must be done. */
  readonly critical: readonly StoryId[];
  /** The expected duration of that chain, by the accepted stories; `null` before the first of them. */
  readonly criticalMs: number | null;
  /** The number of stories without dependencies in either direction, which are not drawn. */
  readonly alone: number;
  /** The number of stories that are not drawn because there are too many. */
  readonly leftOut: number;
}

export interface GraphNode {
  readonly id: StoryId;
  readonly title: string;
  readonly column: Column;
  readonly group: BoardGroup;
  readonly why: string;
  /** The drawn stories that this one waits for. */
  readonly dependsOn: readonly StoryId[];
  /** The position: steps from the left, and steps from the top. */
  readonly level: number;
  readonly row: number;
  readonly isCritical: boolean;
}

export const EMPTY_GRAPH: GraphDocument = {
  position: 0,
  nodes: [],
  critical: [],
  criticalMs: null,
  alone: 0,
  leftOut: 0,
};

/** More boxes than this are unreadable. */
const MOST_NODES = 300;

/** Builds the graph. With a query: the stories that match, and their direct neighbors. */
export function graphOf(run: RunState, cards: readonly BoardCard[], query: string): GraphDocument {
  const links = linksOf(run, cards);
  const linked = cards.filter(({ id }) => links.after.get(id)!.length > 0 || links.before.get(id)!.length > 0);
  const wanted = query === "" ? linked : withNeighbors(linked, links, query);
  // Finished stories that no open story waits for are the least interesting and are left out first.
  const kept = wanted
    .toSorted((a, b) => Number(a.endedAt !== null) - Number(b.endedAt !== null) || a.arrival - b.arrival)
    .slice(0, MOST_NODES);
  const { path, ms } = criticalPath(run, cards, links);
  return {
    position: run.position,
    nodes: placeNodes(kept, links, new Set(path)),
    critical: path,
    criticalMs: ms,
    alone: cards.length - linked.length,
    leftOut: wanted.length - kept.length,
  };
}

interface Links {
  /** The stories that a story waits for, and those that wait for it. */
  readonly after: ReadonlyMap<StoryId, readonly StoryId[]>;
  readonly before: ReadonlyMap<StoryId, readonly StoryId[]>;
}

function linksOf(run: RunState, cards: readonly BoardCard[]): Links {
  const known = new Set(cards.map(({ id }) => id));
  const after = new Map<StoryId, readonly StoryId[]>();
  const before = new Map<StoryId, StoryId[]>(cards.map(({ id }) => [id, []]));
  for (const { id } of cards) {
    const dependsOn = (lookup(run.stories, id, byText)?.story.dependsOn ?? []).filter((each) => known.has(each));
    after.set(id, dependsOn);
    for (const each of dependsOn) before.get(each)!.push(id);
  }
  return { after, before };
}

function withNeighbors(linked: readonly BoardCard[], { after, before }: Links, query: string): readonly BoardCard[] {
  const near = new Set<StoryId>();
  for (const card of findCards(linked, query))
    for (const id of [card.id, ...after.get(card.id)!, ...before.get(card.id)!]) near.add(id);
  return linked.filter(({ id }) => near.has(id));
}

/** Sorts each story after those that it waits for. Stories in a cycle are left out. */
function inOrder(ids: readonly StoryId[], { after, before }: Links): readonly StoryId[] {
  const among = new Set(ids);
  const open = new Map(ids.map((id) => [id, after.get(id)!.filter((each) => among.has(each)).length]));
  const ordered = ids.filter((id) => open.get(id) === 0);
  for (let at = 0; at < ordered.length; at++)
    for (const next of before.get(ordered[at]!)!) {
      const left = (open.get(next) ?? 0) - 1;
      open.set(next, left);
      if (left === 0) ordered.push(next);
    }
  return ordered;
}

/** The column of each story: right of all that it waits for, and close to the first that waits for it. */
function levelsOf(ids: readonly StoryId[], links: Links): ReadonlyMap<StoryId, number> {
  const levels = new Map<StoryId, number>();
  const ordered = inOrder(ids, links);
  for (const id of ordered)
    levels.set(id, Math.max(-1, ...links.after.get(id)!.map((each) => levels.get(each) ?? -1)) + 1);
  for (const id of ordered.toReversed()) {
    const next = links.before.get(id)!.flatMap((each) => levels.get(each) ?? []);
    if (next.length > 0) levels.set(id, Math.min(...next) - 1);
  }
  for (const id of ids) if (!levels.has(id)) levels.set(id, 0);
  return levels;
}

/** Assigns rows close to those of the dependencies, so that few lines cross. */
function placeNodes(cards: readonly BoardCard[], links: Links, critical: ReadonlySet<StoryId>): readonly GraphNode[] {
  const { after } = links;
  const levels = levelsOf(
    cards.map(({ id }) => id),
    links,
  );
  const rows = new Map<StoryId, number>();
  const deepest = Math.max(0, ...levels.values());
  const nodes: GraphNode[] = [];
  for (let level = 0; level <= deepest; level++) {
    const own = cards.filter(({ id }) => levels.get(id) === level);
    const pull = (id: StoryId): number => {
      const known = after.get(id)!.flatMap((each) => rows.get(each) ?? []);
      return known.length === 0 ? Infinity : known.reduce((sum, row) => sum + row, 0) / known.length;
    };
    const pulls = new Map(own.map(({ id }) => [id, pull(id)]));
    const sorted = own.toSorted((a, b) => compare(pulls.get(a.id)!, pulls.get(b.id)!) || a.arrival - b.arrival);
    sorted.forEach((card, row) => {
      const { id, title, column, why } = card;
      rows.set(id, row);
      const dependsOn = after.get(id)!.filter((each) => levels.has(each));
      const group = groupOf(card);
      nodes.push({ id, title, column, group, why, dependsOn, level, row, isCritical: critical.has(id) });
    });
  }
  return nodes;
}

const compare = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1);

/** The longest chain that ends with a story. */
interface Chain {
  readonly id: StoryId;
  readonly previous: Chain | null;
  /** In the average time of an accepted story, minus the time already worked; one per story where that is unknown. */
  readonly weight: number;
}

/** The chain of dependent open stories that takes the longest. */
function criticalPath(
  run: RunState,
  cards: readonly BoardCard[],
  links: Links,
): { readonly path: readonly StoryId[]; readonly ms: number | null } {
  const usual = Object.values(run.usual);
  const count = usual.reduce((sum, each) => sum + each.count, 0);
  const meanMs = count === 0 ? null : usual.reduce((sum, { totalMs }) => sum + totalMs, 0) / count;
  const open = new Map(cards.filter(({ endedAt }) => endedAt === null).map((card) => [card.id, card]));
  const chains = new Map<StoryId, Chain>();
  let longest: Chain | null = null;
  for (const id of inOrder([...open.keys()], links)) {
    const previous = longestOf(links.after.get(id)!.flatMap((each) => chains.get(each) ?? []));
    // An open story always has work left, however long it has been worked on.
    const own = meanMs === null ? 1 : Math.max(meanMs / 10, meanMs - open.get(id)!.timeMs);
    const chain: Chain = { id, previous, weight: (previous?.weight ?? 0) + own };
    chains.set(id, chain);
    if (previous !== null) longest = longestOf([chain, ...(longest === null ? [] : [longest])]);
  }
  const path: StoryId[] = [];
  for (let at: Chain | null = longest; at !== null; at = at.previous) path.unshift(at.id);
  return { path, ms: meanMs === null || longest === null ? null : longest.weight };
}

const longestOf = (chains: readonly Chain[]): Chain | null =>
  chains.reduce<Chain | null>((best, each) => (best === null || each.weight > best.weight ? each : best), null);
