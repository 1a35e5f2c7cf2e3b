import { RemandError } from "../core/events/error.ts";
import { type StoryId, storyId } from "../core/events/ids.ts";
import type { RunOutline, RunState } from "../core/stories/run-state.ts";
import type { StoryState } from "../core/stories/story-state.ts";
import type { StoredEvent } from "../ports/journal.ts";
import { byText, entries, lookup } from "../stdx/sorted-map.ts";
import type { World } from "./command.ts";
import type { StoriesView, JournalView } from "./host.ts";
import type { JournalTrouble } from "./host-plans.ts";
import { resolveIds, matchName } from "./option-values.ts";
import { storiesOf } from "../views/run/run-summary.ts";

/** Opens the journal for reading and closes it even after an error. */
export async function withJournal<T>(world: World, work: (view: JournalView) => Promise<T>): Promise<T> {
  await warnOfJournal(world);
  const view = await world.host.openView(world.cwd);
  if (view === null) throw nothingYet();
  try {
    return await work(view);
  } finally {
    await view.close();
  }
}

/** The same for a few stories, which costs less than reading all. */
export async function withStories<T>(
  world: World,
  of: readonly StoryId[],
  work: (view: StoriesView) => Promise<T>,
): Promise<T> {
  await warnOfJournal(world);
  const view = await world.host.readStories(world.cwd, of);
  if (view === null) throw nothingYet();
  try {
    return await work(view);
  } finally {
    await view.close();
  }
}

/** Warns that the journal may not show what happened; the command still runs. */
export async function warnOfJournal(world: Pick<World, "cwd" | "host" | "err">): Promise<void> {
  const trouble = await world.host.journalTrouble(world.cwd, false);
  if (trouble !== null) world.err(`remand: warning: ${trouble.text} To see more: remand verify\n`);
}

export const nothingYet = (): RemandError =>
  new RemandError("usage", "nothing has run here yet", "Start with remand run, remand loop or remand demo.");

/** Reads one story with its lines, by its id or a prefix of it. */
export async function withStory<T>(
  world: World,
  typed: string,
  work: (view: StoriesView, state: StoryState) => Promise<T>,
): Promise<T> {
  const [id] = await storiesTyped(world, [typed]);
  return withStories(world, [id!], (view) => work(view, view.states[0]!));
}

/** Resolves typed ids, in full or by prefix. Reads little if they are complete. */
export async function storiesTyped(
  world: World,
  typed: readonly string[],
  fields: readonly string[] = [],
): Promise<StoryId[]> {
  return (await outlineTyped(world, typed, fields)).ids;
}

/** The same, with an outline that includes these stories. */
export async function outlineTyped(
  world: World,
  typed: readonly string[],
  fields: readonly string[] = [],
): Promise<{ readonly ids: StoryId[]; readonly run: RunOutline }> {
  const named = await world.host.readOutline(world.cwd, typed.map(storyId));
  const isThere = (text: string, run: RunOutline): boolean => lookup(run.stories, storyId(text), byText) !== undefined;
  if (named !== null && typed.every((text) => isThere(text, named)))
    return { ids: [...new Set(typed)].map(storyId), run: named };
  const run = await world.host.readOutline(world.cwd);
  if (run === null) throw nothingYet();
  const known = [...entries(run.stories)].map(([id]) => id);
  return { ids: resolveIds(typed, known, fields), run };
}

/** Resolves a typed prefix to the full name of a question or a story. */
export async function questionTyped(world: World, typed: string): Promise<string> {
  const all = await world.host.readOutline(world.cwd);
  if (all === null) throw nothingYet();
  const states = [...entries(all.stories)].map(([, state]) => state);
  const questions = [all.escalation, ...states.map(({ escalation }) => escalation)].flatMap((each) => each?.id ?? []);
  return matchName<string>(typed, [...states.map(({ story }) => story.id), ...questions]) ?? typed;
}

/** The one story that a typed id or prefix means. */
export function storyOf(run: RunState, typed: string): StoryState {
  const known = [...entries(run.stories)].map(([id]) => id);
  return storiesOf(run, resolveIds([typed], known))[0]!;
}

export async function linesOf(view: JournalView, story: StoryId | null): Promise<StoredEvent[]> {
  return collectLines(story === null ? view.lines(0) : view.lines(0, story));
}

export async function collectLines(lines: AsyncIterable<StoredEvent>): Promise<StoredEvent[]> {
  const all: StoredEvent[] = [];
  for await (const line of lines) all.push(line);
  return all;
}

export const NEW_JOURNAL_HELP =
  "where the journal is missing or was changed: keep the old file, record the loss, start over";

export const WAY_OUT =
  "Or start over with --new-journal (remand run, remand loop): the old file is kept, and the new journal records what was lost and who decided it.";

/** The error for a journal that does not continue its own past; its hint names both ways out. */
export function journalRefusal({ kind, text }: JournalTrouble): RemandError {
  return kind === "missing"
    ? new RemandError("journal-lost", text, `Bring .remand/journal.db back from a backup. ${WAY_OUT}`)
    : new RemandError(
        "journal-corrupt",
        text,
        `Nothing was changed. Bring .remand/journal.db back from a backup. ${WAY_OUT}`,
      );
}

/** Asks a person at a terminal once: the new journal records the loss, and is not missing the next time. */
export async function isNewJournalWanted(world: Pick<World, "cwd" | "host" | "ask">): Promise<boolean> {
  if (world.ask === null) return false;
  const trouble = await world.host.journalTrouble(world.cwd, false);
  if (trouble?.kind !== "missing") return false;
  const answer = await world.ask(`${trouble.text} Start a new one, which records the loss? [y/N] `);
  return /^y(es)?$/i.test(answer.trim());
}
