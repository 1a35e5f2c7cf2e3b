import { type ConfigLayer, setLayer } from "../config/layer.ts";
import { type ResolvedConfig, resolveConfig } from "../config/resolve.ts";
import { EVERY_FAILURE } from "../core/gates/base-failures.ts";
import { type StoryId, type TreeId, storyId } from "../core/events/ids.ts";
import type { RunState } from "../core/stories/run-state.ts";
import { type Story, bareStory } from "../core/stories/story.ts";
import { sha256 } from "../stdx/sha256.ts";
import { byText, entries, lookup } from "../stdx/sorted-map.ts";
import type { StoryState } from "../core/stories/story-state.ts";
import type { World } from "./command.ts";
import { journalRefusal } from "./with-journal.ts";

export interface LoopSpec {
  /** The task for the agent; `null`: only to make the check pass. */
  readonly goal: string | null;
  readonly check: string;
  readonly maxIterations?: string | undefined;
  readonly cost?: string | undefined;
  readonly time?: string | undefined;
  /** Tests that fail at the start and are not to be fixed: names, files or patterns. */
  readonly known?: readonly string[] | undefined;
  /** Existing tests that the agent may change: names, files or patterns. */
  readonly testsMayChange?: readonly string[] | undefined;
  readonly set: readonly string[];
}

/**
 * Derives the id of a loop. The same goal and check in the same folder are the same loop, so a loop can be found again.
 */
export function loopId({ goal, check }: Pick<LoopSpec, "goal" | "check">): StoryId {
  return storyId(`loop-${sha256(`${goal ?? ""}\n${check}`).slice(0, 8)}`);
}

/** The id of a new loop with the same goal and check, for starting over. */
function freshLoopId(first: StoryId, run: RunState | null): StoryId {
  for (let number = 2; ; number++) {
    const id = storyId(`${first}-${number}`);
    if (run === null || lookup(run.stories, id, byText) === undefined) return id;
  }
}

/** The newest loop of a goal and check: the first one, or the last one that started over. */
export function newestLoopId(first: StoryId, run: RunState | null): StoryId {
  let newest = first;
  for (let number = 2; run !== null; number++) {
    const id = storyId(`${first}-${number}`);
    if (lookup(run.stories, id, byText) === undefined) break;
    newest = id;
  }
  return newest;
}

/** The loop that was started last, whatever its goal. */
export function lastLoop(run: RunState): StoryId | null {
  const loops = [...entries(run.stories)].filter(([id]) => id.startsWith("loop-")).map(([, state]) => state);
  return loops.sort((a, b) => b.arrival - a.arrival)[0]?.story.id ?? null;
}

export function loopStory(id: StoryId, { goal, check, testsMayChange = [] }: LoopSpec): Story {
  const body = goal ?? `Make this command pass: ${check}`;
  const title = body
    .trim()
    .split("\n")[0]!
    .replace(/^#+\s*/, "")
    .trim();
  return bareStory(id, title.length > 80 ? `${title.slice(0, 79)}…` : title, {
    kind: "loop",
    criteria: [{ id: "AC1", text: `\`${check}\` passes` }],
    body,
    // Every failure at the start is the loop's task, unless it is a known failure.
    target: [EVERY_FAILURE],
    ...(testsMayChange.length === 0 ? {} : { tests: testsMayChange }),
  });
}

const knownFailure = (test: string) => ({ test, reason: "excluded with --known" });

/** The preset `goal` with this check as the only one; settings from --set are applied last and win. */
export function loopConfig(
  { check, maxIterations, cost, time, known = [], set }: LoopSpec,
  user: ConfigLayer | null = null,
): ResolvedConfig {
  const { layer, problems } = setLayer([
    "preset=goal",
    // JSON is YAML; with quotes, a check may contain any character.
    `gates.checks.commands=[${JSON.stringify(check)}]`,
    "gates.checks.onUnexplained=send-back",
    ...(maxIterations === undefined ? [] : [`limits.iterations=${maxIterations}`]),
    ...(cost === undefined ? [] : [`limits.costUsd=${cost}`]),
    ...(time === undefined ? [] : [`limits.time=${time}`]),
    ...(known.length === 0 ? [] : [`knownFailures=${JSON.stringify(known.map(knownFailure))}`]),
    ...set,
  ]);
  const resolved = resolveConfig({ layers: user === null ? [layer] : [layer, user] });
  const all = [...problems, ...resolved.problems];
  if (!all.some(({ severity }) => severity === "error")) return { ...resolved, problems: all };
  return { config: null, policy: null, origins: new Map(), problems: all };
}

/** What the journal knows about the loops that ran in a folder. */
export interface SeenLoops {
  readonly run: RunState;
  /** Loops that were undone after they had ended: their files were restored to what was there before. */
  readonly undone: ReadonlySet<StoryId>;
  readonly prepared: ReadonlyMap<StoryId, { readonly tree: TreeId; readonly commit: string }>;
}

/**
 * Reads the loops of a folder; `null` where nothing ever ran, or where a new journal will replace a changed one.
 * Otherwise a changed journal is refused here: it may claim that a loop was accepted.
 */
export async function seenLoops(world: Pick<World, "cwd" | "host">, isNew = false): Promise<SeenLoops | null> {
  const trouble = await world.host.journalTrouble(world.cwd, true);
  if (trouble !== null && (isNew || trouble.kind === "missing")) return null;
  if (trouble !== null) throw journalRefusal(trouble);
  const view = await world.host.openView(world.cwd);
  if (view === null) return null;
  const undone = new Set<StoryId>();
  const prepared = new Map<StoryId, { tree: TreeId; commit: string }>();
  try {
    for await (const { story, event } of view.lines(0)) {
      if (story === null) continue;
      if (event.type === "story.prepared") prepared.set(story, { tree: event.tree, commit: event.commit });
      if (event.type === "story.accepted") undone.delete(story);
      if (event.type === "tree.restored") undone.add(story);
    }
    return { run: view.state, undone, prepared };
  } finally {
    await view.close();
  }
}

export interface ChosenLoop {
  readonly id: StoryId;
  /** The loop's state, if it ran before. */
  readonly known: StoryState | null;
  /** The loop that was accepted and then undone, if this one starts over because of that. */
  readonly undone: StoryId | null;
}

/** Chooses the loop for a goal and check: the newest one, or a new one if `fresh` is set or the newest was undone. */
export function chosenLoop(seen: SeenLoops | null, spec: Pick<LoopSpec, "goal" | "check">, fresh: boolean): ChosenLoop {
  const first = loopId(spec);
  if (seen === null) return { id: first, known: null, undone: null };
  const newest = newestLoopId(first, seen.run);
  const known = lookup(seen.run.stories, newest, byText) ?? null;
  const isUndone = seen.undone.has(newest) && known?.ending?.how === "accepted";
  if (known === null || !(fresh || isUndone)) return { id: newest, known, undone: null };
  return { id: freshLoopId(first, seen.run), known: null, undone: isUndone ? newest : null };
}
