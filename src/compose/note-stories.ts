import { join } from "node:path";
import type { RunPlan } from "../app/host.ts";
import type { StoryId } from "../core/events/ids.ts";
import type { RunState } from "../core/stories/run-state.ts";
import type { Journal, StoredEvent, Watcher } from "../ports/journal.ts";
import { byText, lookup } from "../stdx/sorted-map.ts";
import { ownRedactor } from "../adapters/process/own-secrets.ts";
import { createNodeFiles } from "../adapters/files/node-files.ts";
import { createStoryStore } from "../adapters/stories/story-pages.ts";
import { type Refinement, type StoryProgress, storyProgressEdits } from "../write/reports/story-progress.ts";
import type { Recorded } from "../core/events/event.ts";
import type { GateName, Judgement } from "../core/gates/gate.ts";
import type { StoryState } from "../core/stories/story-state.ts";
import { shortLine } from "../views/text/words.ts";
import { canonicalJson, instant } from "../stdx/canonical-json.ts";
import { withStartLicense } from "../core/gates/base-failures.ts";
import type { Story } from "../core/stories/story.ts";
import type { Ledger } from "../engine/ledger.ts";
import { appendWithRetry } from "./journal/append-answer.ts";

export interface StoryNotes {
  /** Receives the calls of the plan's own watcher, and updates the files of changed stories. */
  readonly watcher: Watcher;
  /** Updates the files from the state when a run has ended. Throws where a file cannot be written. */
  settle(state: RunState): Promise<void>;
}

/**
 * Maintains the fields of S4.34 in the stories' own files during a run of the preset `story`. The rest of each file
 * belongs to a person and stays byte for byte.
 */
export function createStoryNotes(root: string, plan: RunPlan, journal: Pick<Journal, "read">): StoryNotes {
  const { config, watcher, place } = plan;
  if (config.preset !== "story" || place === "in-place") return { watcher, settle: async () => undefined };
  const store = createStoryStore({ folder: join(root, config.stories), files: createNodeFiles() });
  const lines = linesByStory(journal);
  const note = async (state: RunState, id: StoryId): Promise<void> => {
    const story = lookup(state.stories, id, byText);
    if (story === undefined || story.policy === null) return;
    await store.note(id, storyProgressEdits(storyProgress(story, await lines(id))));
  };
  const changed = new Set<StoryId>();
  let noting = Promise.resolve();
  let newest: RunState | null = null;
  const noteChanged = async (): Promise<void> => {
    for (const id of changed) {
      changed.delete(id);
      // An error here is reported at the end of the run, if it still occurs.
      await note(newest!, id).catch(() => undefined);
    }
  };
  return {
    watcher: {
      onOutput: (command, line) => watcher.onOutput(command, line),
      onLines: (lines, state) => {
        watcher.onLines(lines, state);
        newest = state;
        // A merge into a checkout waits for uncommitted files, so the notes are then written after the merge.
        if (config.deliver === "merge") return;
        for (const { story } of lines) if (story !== null) changed.add(story);
        noting = noting.then(noteChanged);
      },
    },
    async settle(state) {
      await noting;
      for (const { id } of plan.stories) await note(state, id);
    },
  };
}

/** Returns the journal's lines of a story. Each line is read only once. */
function linesByStory({ read }: Pick<Journal, "read">): (story: StoryId) => Promise<readonly StoredEvent[]> {
  const known = new Map<StoryId, StoredEvent[]>();
  let position = 0;
  return async (story) => {
    for await (const line of read(position)) {
      position = line.position;
      if (line.story === null) continue;
      const own = known.get(line.story);
      if (own === undefined) known.set(line.story, [line]);
      else own.push(line);
    }
    return known.get(story) ?? [];
  };
}

/**
 * A story's progress, for the fields of S4.34 in its file: from the state and the story's own lines of the journal. An
 * abandoned story is in the backlog, not in progress: a person decides when it is ready.
 */
function storyProgress(state: StoryState, lines: readonly Recorded[]): StoryProgress {
  const { ending, story, escalation } = state;
  const isAccepted = ending?.how === "accepted";
  return {
    shelf: isAccepted ? "done" : ending === null ? "in-progress" : "backlog",
    completed: isAccepted ? [...state.completed, state.phase] : state.completed,
    reviewsComplete: isAccepted,
    refinements: refinements(state, lines),
    ...(story.maxReworks === undefined ? {} : { maxReworks: story.maxReworks }),
    lastError: escalation?.title ?? (ending === null || ending.how === "accepted" ? null : ending.reason),
    updated: instant(lines.at(-1)?.at ?? 0).slice(0, 10),
  };
}

/** One refinement per time that the work was sent back, however often an agent was started for it. */
function refinements({ policy }: StoryState, lines: readonly Recorded[]): Refinement[] {
  const sent = lines.flatMap(({ event }, index) => (event.type === "work.sent-back" ? [{ event, index }] : []));
  return sent.map(({ event, index }, at) => {
    const { route, gate } = event;
    const turn = lines.slice(index + 1, sent[at + 1]?.index);
    const begun = turn.find(({ event: { type } }) => type === "attempt.started") ?? lines[index]!;
    // Work that a person sent back is done when the last gate of the phase passes.
    const lastGate = policy?.phases.find(({ phase }) => phase === route.phase)?.gates.at(-1);
    const feedback = feedbackOf(lines.slice(0, index), gate);
    const { result, at: completed } = resultOf(turn, gate === "person" ? (lastGate ?? null) : gate);
    return {
      iteration: at + 1,
      agentType: route.phase,
      startedAt: instant(begun.at),
      ...(completed === null ? {} : { completedAt: instant(completed) }),
      ...(feedback === "" ? {} : { reviewFeedback: feedback }),
      result,
    };
  });
}

/** What the gate reported, with the findings that block; or what the person wrote. */
function feedbackOf(before: readonly Recorded[], gate: GateName | "person"): string {
  for (const { event } of before.toReversed()) {
    if (gate === "person" && event.type === "person.answered") return shortLine(event.answer.message, MOST_CHARS);
    if (event.type === "gate.judged" && event.judgement.gate === gate) return wordsOf(event.judgement);
  }
  return "";
}

const MOST_CHARS = 600;

function wordsOf({ summary, findings, blocking }: Judgement): string {
  const inTheWay = findings.filter(({ id }) => blocking.includes(id)).map(({ message }) => message);
  return shortLine([summary, ...inTheWay].filter((text) => text !== "").join("; "), MOST_CHARS);
}

/**
 * The result and its time: from the first gate that fails the work, or from the gate that sent it back if that passes
 * it. Until then the refinement is in progress, even if the agent is done.
 */
function resultOf(
  turn: readonly Recorded[],
  gate: GateName | null,
): { result: Refinement["result"]; at: number | null } {
  for (const { event, at } of turn) {
    if (event.type === "story.accepted") return { result: "success", at };
    if (event.type === "story.failed") return { result: "failed", at };
    if (event.type !== "gate.judged") continue;
    if (event.judgement.result === "fail") return { result: "failed", at };
    if (event.judgement.result === "pass" && event.judgement.gate === gate) return { result: "success", at };
  }
  return { result: "in_progress", at: null };
}

/**
 * Adds new and changed stories to the journal; returns whether there were any. They are appended together, because each
 * alone would wait for the disk.
 */
export async function registerStories(ledger: Ledger, stories: readonly Story[]): Promise<boolean> {
  return (await Promise.all(stories.map((story) => registerStory(ledger, story)))).includes(true);
}

/** Adds a story to the journal, or the change of its file; returns whether there was one. */
async function registerStory(ledger: Ledger, file: Story): Promise<boolean> {
  // Redacted like in the journal; otherwise a story that contains a secret would look changed each time.
  const { story } = ownRedactor().fields({ story: file });
  const known = lookup(ledger.state().stories, story.id, byText);
  if (known === undefined) {
    await appendWithRetry(ledger, story.id, [{ type: "story.added", story }]);
    return true;
  }
  const now = withStartLicense(known, story);
  const what = (Object.keys({ ...known.story, ...now }) as (keyof Story)[]).filter(
    (key) => canonicalJson(known.story[key] ?? null) !== canonicalJson(now[key] ?? null),
  );
  if (what.length === 0 || known.ending !== null) return false;
  await appendWithRetry(ledger, story.id, [{ type: "story.changed", story: now, what }]);
  return true;
}
