import { disputable } from "../core/gates/finding.ts";
import { RemandError } from "../core/events/error.ts";
import { GATES } from "../core/gates/gate.ts";
import type { StoryId } from "../core/events/ids.ts";
import type { RunState, WithEngine } from "../core/stories/run-state.ts";
import type { StoryState } from "../core/stories/story-state.ts";
import { reopenRefusal, undoRefusal } from "../core/stories/escalation.ts";
import { readGitDiff } from "../parse/code/git-output.ts";
import { byText, entries, lookup } from "../stdx/sorted-map.ts";
import { COLUMNS, BOARD_GROUPS, type BoardGroup, groupOf } from "../views/board/columns.ts";
import { type BoardCard, boardCard } from "../views/board/board.ts";
import { findCards } from "../views/board/find-cards.ts";
import {
  type BoardColumn,
  type BoardDocument,
  type InboxDocument,
  type LinesDocument,
  type ListDocument,
  type OpenAnswer,
  type StoryPageDocument,
  type TrailDocument,
} from "../views/board/dashboard.ts";
import { type DiffDocument, readDiff } from "../views/story/diff-document.ts";
import { diffRange } from "../views/story/diff-range.ts";
import { likelyAnswers } from "../views/answers/likely-answers.ts";
import { allItems, inboxItems } from "../views/answers/inbox.ts";
import { knownFindings } from "../views/answers/person-answer.ts";
import { NO_COUNTS, runCounts } from "../views/run/run-summary.ts";
import { storyDocument, type AttemptDocument, attemptDocument, rounds } from "../views/story/story-document.ts";
import { type StoryLine, lineMatches, storyLine } from "../views/story/story-lines.ts";
import type { StoryLineIndex } from "./line-index.ts";
import { type CurrentRun, someLines } from "./live.ts";

/** The maximum number of cards per column; the list shows all of them, in pages. */
const MOST_CARDS = 40;
const PAGE = 100;
const MOST_STORY_LINES = 5000;
const MOST_DIFF_LINES = 6000;

/** Cached per state: a filter sends a request per key, and the counts are those of all stories. */
const counted = new WeakMap<RunState, ReturnType<typeof runCounts>>();

function countsOf(run: RunState & WithEngine): ReturnType<typeof runCounts> {
  const counts = counted.get(run) ?? runCounts(run, null);
  counted.set(run, counts);
  return counts;
}

/** `mostCards`: per column; a page with a list needs only the numbers. */
export function boardOf(
  currentRun: CurrentRun | null,
  cards: readonly BoardCard[],
  query: string,
  mostCards = MOST_CARDS,
): BoardDocument {
  const state = currentRun?.state ?? null;
  const matching = findCards(cards, query);
  const totals = new Map<string, number>();
  for (const { column } of matching) totals.set(column, (totals.get(column) ?? 0) + 1);
  return {
    position: state?.position ?? 0,
    hasJournal: currentRun !== null,
    counts: state === null ? NO_COUNTS : countsOf(state),
    spentUsd: state?.spent.costUsd ?? 0,
    costUnknown: state?.spent.costUnknown ?? false,
    limitUsd: state?.raised["run-cost"] ?? state?.policy?.limits.run.costUsd ?? null,
    matching: matching.length,
    columns: COLUMNS.map((name) => ({ name, total: totals.get(name) ?? 0 })),
    groups: boardGroups(matching, Math.min(mostCards, MOST_CARDS)),
  };
}

export function listOf(
  currentRun: CurrentRun | null,
  cards: readonly BoardCard[],
  query: string,
  column: string,
  offset: number,
): ListDocument {
  const isWanted = (card: BoardCard): boolean => column === "" || card.column === column || groupOf(card) === column;
  const matching = findCards(cards, query).filter(isWanted);
  const position = currentRun?.state.position ?? 0;
  return { position, matching: matching.length, offset, cards: matching.slice(offset, offset + PAGE) };
}

export function knownStory({ state }: CurrentRun, id: string): StoryState {
  const found = lookup(state.stories, id as StoryId, byText);
  if (found !== undefined) return found;
  throw new RemandError("usage", `there is no story ${id}`, "The board lists all stories.");
}

export async function storyOf(
  currentRun: CurrentRun,
  index: StoryLineIndex,
  id: string,
  placeOf: (story: StoryId) => string | null,
): Promise<StoryPageDocument> {
  const story = knownStory(currentRun, id);
  const lines = await index.linesOf(currentRun.view, id, 0, MOST_STORY_LINES);
  const place = placeOf(story.story.id);
  return {
    ...storyDocument(currentRun.state, story, lines),
    position: currentRun.state.position,
    place,
    isHeld: story.held,
    isRunning: story.running !== null,
    answered: openAnswer(currentRun.state, story),
    disputable: GATES.flatMap((gate) => disputable(story, gate)).map(({ id }) => id),
    likely: story.escalation === null ? [] : likelyAnswers(story.escalation),
    rounds: rounds(lines),
    delivered: story.delivered,
    canDeliver: story.ending !== null && reopenRefusal(story, "merge") === null,
    canReopen: story.ending !== null && reopenRefusal(story, "send-back") === null,
  };
}

export async function attemptOf(
  currentRun: CurrentRun,
  index: StoryLineIndex,
  id: string,
  attempt: number,
): Promise<AttemptDocument> {
  knownStory(currentRun, id);
  return attemptDocument(await index.linesOf(currentRun.view, id, 0, MOST_STORY_LINES), attempt);
}

export async function linesOf(
  currentRun: CurrentRun,
  index: StoryLineIndex,
  id: string,
  after: number,
): Promise<LinesDocument> {
  knownStory(currentRun, id);
  const lines = await index.linesOf(currentRun.view, id, after, PAGE * 5);
  return {
    lines: lines.map(storyLine),
    position: lines.at(-1)?.position ?? after,
    more: lines.length === PAGE * 5,
    earlier: 0,
  };
}

/** The last page of lines, which a person who opens a story sees first. */
export async function lastLinesOf(currentRun: CurrentRun, index: StoryLineIndex, id: string): Promise<LinesDocument> {
  knownStory(currentRun, id);
  const { lines, earlier } = await index.lastOf(currentRun.view, id, PAGE);
  return { lines: lines.map(storyLine), position: lines.at(-1)?.position ?? 0, more: false, earlier };
}

export async function diffOf(
  currentRun: CurrentRun,
  index: StoryLineIndex,
  id: string,
  attempt: number | null,
  since: number | null,
): Promise<DiffDocument> {
  const state = knownStory(currentRun, id);
  const { story } = state;
  const lines = await index.linesOf(currentRun.view, id, 0, MOST_STORY_LINES);
  const range = diffRange(id, lines, attempt, since);
  const workspace = await currentRun.view.workspace();
  const read = async (from: string, to: string) => readGitDiff(await workspace.diff(story.id, from, to));
  return readDiff({ state, lines, range, mostLines: MOST_DIFF_LINES, read });
}

/** `only`: the id of a single question. */
export async function inboxOf(
  currentRun: CurrentRun | null,
  index: StoryLineIndex,
  only: string | null = null,
): Promise<InboxDocument> {
  if (currentRun === null) return { position: 0, items: [], answered: [] };
  const { state, view } = currentRun;
  const items = [];
  const wanted = only === null ? inboxItems(state) : allItems(state).filter(({ id }) => id === only);
  for (const item of wanted.slice(0, PAGE)) {
    const story = item.story === null ? null : knownStory(currentRun, item.story);
    const escalation = story?.escalation ?? state.escalation;
    if (escalation === null) continue;
    const lines = item.story === null ? [] : await index.linesOf(view, item.story, 0, MOST_STORY_LINES);
    const asked = lines.findLast(({ event }) => event.type === "escalation.raised");
    const findings = escalation.gate === null ? [] : knownFindings(story, escalation.gate).slice(0, 50);
    items.push({ ...item, escalation, askedAt: asked?.at ?? null, findings });
  }
  return { position: state.position, items, answered: openAnswers(state) };
}

export function openAnswers(run: RunState): readonly OpenAnswer[] {
  return [...entries(run.stories)]
    .flatMap(([, state]) => openAnswer(run, state) ?? [])
    .sort((a, b) => b.at - a.at)
    .slice(0, MOST_ANSWERS);
}

/** The latest answer to a story, while it can be undone. */
function openAnswer(run: RunState, state: StoryState): OpenAnswer | null {
  if (state.undo === null || undoRefusal(run, state) !== null) return null;
  const { answer, at } = state.undo;
  const { verb, by, message } = answer;
  return { story: state.story.id, title: state.story.title, verb, by, message, at };
}

const MOST_ANSWERS = 20;

/** The journal's lines, newest first, page by page. */
export async function trailPage(
  { view, state }: CurrentRun,
  before: number | null,
  query: string,
  kind = "",
): Promise<TrailDocument> {
  const found: StoryLine[] = [];
  let end = Math.min(before ?? Infinity, state.position + 1);
  while (end > 1 && found.length < PAGE) {
    const start = Math.max(0, end - 1 - 500);
    const lines = await someLines(view, start, end - 1 - start);
    const shown = lines
      .filter(({ event }) => kind === "" || event.type.startsWith(`${kind}.`))
      .map(storyLine)
      .filter((line) => query === "" || lineMatches(line, query));
    const some = shown.reverse().slice(0, PAGE - found.length);
    found.push(...some);
    end = found.length >= PAGE ? found.at(-1)!.position : start + 1;
  }
  return { lines: found, head: await view.journal.head(), before: end, more: end > 1 };
}

/**
 * Caches the cards of all stories. A card is rebuilt only when its story, or the story that it waits for, has changed.
 */
export interface BoardCache {
  cards(run: RunState & WithEngine): readonly BoardCard[];
}

interface CachedCard {
  readonly state: StoryState;
  readonly card: BoardCard;
}

export function createBoardCache(): BoardCache {
  let made = new Map<string, CachedCard>();
  let before: (RunState & WithEngine) | null = null;
  let cards: readonly BoardCard[] = [];
  return {
    cards: (run) => {
      if (run === before) return cards;
      const isSameRun = before !== null && sameSurroundings(run, before);
      const next = new Map<string, CachedCard>();
      for (const [id, state] of entries(run.stories)) {
        const known = made.get(id);
        const isKnown = isSameRun && known?.state === state && !waitsForStory(run, state);
        next.set(id, isKnown ? known : { state, card: boardCard(run, state) });
      }
      made = next;
      before = run;
      cards = byWhoMustAct([...next.values()].map(({ card }) => card));
      return cards;
    },
  };
}

/** Sorts cards that wait for a person first, and finished ones last. */
function byWhoMustAct(cards: readonly BoardCard[]): readonly BoardCard[] {
  const groups = new Map<BoardGroup, BoardCard[]>(BOARD_GROUPS.map((name) => [name, []]));
  for (const card of cards) groups.get(groupOf(card))!.push(card);
  return [...groups.values()].flat();
}

function sameSurroundings(a: RunState & WithEngine, b: RunState & WithEngine): boolean {
  return (
    a.remediation === b.remediation && a.halted === b.halted && a.escalation === b.escalation && a.engine === b.engine
  );
}

/** Whether the story waits for another one: then its card changes with that story. */
function waitsForStory(run: RunState, { ending, story, wait, policy }: StoryState): boolean {
  if (ending !== null) return false;
  if (wait?.type === "story") return true;
  return policy === null && story.dependsOn.some((id) => lookup(run.stories, id, byText)?.ending?.how !== "accepted");
}

/** Groups cards; those that wait for a person come first, and of the finished ones the latest. */
function boardGroups(cards: readonly BoardCard[], mostCards: number): readonly BoardColumn[] {
  const byGroup = new Map<BoardGroup, BoardCard[]>(BOARD_GROUPS.map((name) => [name, []]));
  for (const card of cards) byGroup.get(groupOf(card))!.push(card);
  return BOARD_GROUPS.map((name) => {
    const all = byGroup.get(name)!;
    if (mostCards > 0) all.sort((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0) || a.arrival - b.arrival);
    return { name, total: all.length, cards: all.slice(0, mostCards) };
  });
}
