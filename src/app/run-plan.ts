import { RemandError, type Problem } from "../core/events/error.ts";
import type { Event } from "../core/events/event.ts";
import type { StoryId } from "../core/events/ids.ts";
import type { Policy } from "../core/events/policy.ts";
import type { RunState } from "../core/stories/run-state.ts";
import { storiesOf } from "../views/run/run-summary.ts";
import type { Story } from "../core/stories/story.ts";
import type { Config } from "../config/config.ts";
import type { World, Checkout } from "./command.ts";
import type { Host, EngineSession, RunPlan } from "./host.ts";
import { writeTrail } from "./trail-files.ts";
import { type ConfigOptions, loadConfig, loadStories, storiesFolder } from "./load-config.ts";
import { resolveIds } from "./option-values.ts";

export interface DriveOptions {
  readonly plan: RunPlan;
  readonly asked: readonly StoryId[];
  /** Stories that a person named: naming a paused story resumes it. The others stay paused. */
  readonly named: readonly StoryId[];
  /** The person who ran the command: named stories are resumed in this person's name. */
  readonly by: string;
  readonly signal: AbortSignal;
  /** Keeps running when all is done, and continues when a file or an answer is new. */
  readonly watch?: Omit<StoryWatch, "onSettled">;
  /** Called before the journal is closed, even after an error. */
  onEnd?(state: RunState): Promise<void>;
}

/**
 * Becomes the engine, works until nothing is left to do or the signal is aborted, and updates the trail. Interrupted
 * work continues on the next run: nothing is lost, and nothing that finished is repeated.
 */
export async function drivePlan(
  world: Pick<World, "cwd" | "files" | "host">,
  { plan, asked, named, by, signal, watch, onEnd }: DriveOptions,
): Promise<RunState> {
  const engine = await world.host.openEngine(world.cwd, plan);
  const writeTrailNow = async (): Promise<void> => void (await writeTrail(world, plan.config));
  let state: RunState;
  try {
    await resumeWork(engine, { plan, asked, named, by });
    state = await (watch === undefined
      ? engine.drive(signal)
      : driveAndWatch(world.host, engine, { ...watch, onSettled: writeTrailNow }, signal));
  } finally {
    await onEnd?.(engine.state());
    await engine.close();
  }
  await writeTrailNow();
  return state;
}

/**
 * Resumes a halted run, and the paused stories that were named. What an identified person paused, only an identified
 * person can resume. Other paused stories stay paused.
 */
async function resumeWork(
  engine: EngineSession,
  { plan, asked, named, by }: Pick<DriveOptions, "plan" | "asked" | "named" | "by">,
): Promise<void> {
  const run = engine.state();
  const resume = async (what: string, stream: StoryId | null, event: Event): Promise<void> => {
    try {
      await engine.append(stream, [event]);
    } catch (error) {
      if (!(error instanceof RemandError) || error.code !== "not-a-person") throw error;
      plan.onNotice?.(`${what} stays paused. ${error.message}. ${error.hint}`);
    }
  };
  if (run.halted !== null) await resume("The run", null, { type: "run.resumed", by });
  for (const { story, held, ending, escalation, deferred } of storiesOf(run, asked)) {
    if (held && ending === null && named.includes(story.id))
      await resume(story.id, story.id, { type: "story.released", by });
    // A deferred question is asked again by the next run, which is this one (S3.32).
    if (deferred !== undefined && escalation !== null)
      await engine.append(story.id, [{ type: "escalation.raised", escalation }]);
  }
  const ids = plan.stories.map(({ id }) => id).filter((id) => !named.includes(id));
  const paused = storiesOf(run, ids).filter(({ held, ending }) => held && ending === null);
  if (paused.length > 0) plan.onNotice?.(pausedText(paused.map(({ story }) => story.id)));
}

const MOST_PAUSED = 3;

/** `2 stories stay paused: login, search. Resume them: remand resume login search` */
function pausedText(paused: readonly StoryId[]): string {
  const [one] = paused;
  if (paused.length === 1) return `1 story stays paused: ${one}. Resume it: remand resume ${one}`;
  const isShort = paused.length <= MOST_PAUSED;
  const shown = isShort
    ? paused.join(", ")
    : `${paused.slice(0, MOST_PAUSED).join(", ")} and ${paused.length - MOST_PAUSED} more`;
  const how = isShort
    ? `Resume them: remand resume ${paused.join(" ")}`
    : "Resume one: remand resume <story>; all of them: remand resume";
  return `${paused.length} stories stay paused: ${shown}. ${how}`;
}

export interface StoryWatch {
  /** Where the stories' files are. */
  readonly folder: string;
  /** Reads the stories' files again; `wrong` has the problems that were not reported before (empty: none is new). */
  reread(): Promise<{ readonly stories: readonly Story[] } | { readonly wrong: string }>;
  /** Called when nothing is left to do for now. */
  onIdle(state: RunState, folder: string): void;
  onTrouble(text: string): void;
  /** Updates exported files before the wait. */
  onSettled(): Promise<void>;
}

/**
 * Works, and when nothing is left to do, waits until a story's file changes or another process appends events; ends
 * when the signal is aborted. Files are also read while work goes on, so that a new story need not wait for the others.
 */
async function driveAndWatch(
  host: Pick<Host, "watchFolder">,
  engine: EngineSession,
  watch: StoryWatch,
  signal: AbortSignal,
): Promise<RunState> {
  const wakeups = createWakeups(signal);
  let reading = Promise.resolve();
  const trouble: { error: Error | null } = { error: null };
  const readAgain = (): void => {
    reading = reading
      .then(() => registerAgain(engine, watch, wakeups.wake))
      .catch((error: unknown) => {
        trouble.error ??= error instanceof Error ? error : new Error(String(error));
        wakeups.wake();
      });
  };
  const unwatch = host.watchFolder(watch.folder, readAgain);
  const stopListening = engine.onMessage(wakeups.wake);
  try {
    // Files may have changed between the first read and the start of the watch.
    readAgain();
    await reading;
    for (;;) {
      const seen = wakeups.count();
      const state = await engine.drive(signal);
      if (trouble.error !== null) throw trouble.error;
      if (signal.aborted) return state;
      // A change that came while the engine was finishing must not be missed.
      if (wakeups.count() === seen) await watch.onSettled();
      if (wakeups.count() === seen) {
        watch.onIdle(state, watch.folder);
        await wakeups.after(seen);
      }
      if (signal.aborted) return engine.state();
    }
  } finally {
    unwatch();
    stopListening();
    await reading;
  }
}

/**
 * Registers changed stories. A file that is being written is invalid for a moment: then the stories stay as they were,
 * and the next change is read.
 */
async function registerAgain(engine: EngineSession, watch: StoryWatch, wake: () => void): Promise<void> {
  const read = await watch.reread();
  if ("wrong" in read) {
    if (read.wrong !== "") watch.onTrouble(read.wrong);
    return;
  }
  if (await engine.registerStories(read.stories)) wake();
}

/** Counts wake-ups. Those that come before `after()` are not lost. */
function createWakeups(signal: AbortSignal): { wake(): void; count(): number; after(count: number): Promise<void> } {
  let count = 0;
  let resume = (): void => undefined;
  const wake = (): void => {
    count++;
    resume();
  };
  signal.addEventListener("abort", wake, { once: true });
  const after = (seen: number): Promise<void> =>
    count === seen ? new Promise((resolve) => (resume = resolve)) : Promise.resolve();
  return { wake, count: () => count, after };
}

export interface PreparedRun {
  readonly config: Config;
  readonly policy: Policy;
  /** The stories in start order, with everything they depend on. */
  readonly stories: readonly Story[];
  readonly asked: readonly StoryId[];
  /** The stories that were typed. */
  readonly named: readonly StoryId[];
}

export type PrepareResult =
  | { readonly prepared: PreparedRun; readonly problems: readonly Problem[] }
  | { readonly prepared: null; readonly wrong: "config" | "stories"; readonly problems: readonly Problem[] };

/** Prepares what a run would work on, and its rules; `null` where a file of the project has an error. */
export async function prepareRun(
  checkout: Checkout,
  typed: readonly string[],
  options: ConfigOptions,
): Promise<PrepareResult> {
  const { config, policy, problems } = await loadConfig(checkout, options);
  if (config === null || policy === null) return { prepared: null, wrong: "config", problems };
  const reading = await loadStories(checkout, storiesFolder(checkout, config));
  const all = [...problems, ...reading.problems];
  if (reading.problems.some(({ severity }) => severity === "error"))
    return { prepared: null, wrong: "stories", problems: all };
  const ids = resolveIds(
    typed,
    reading.stories.map(({ id }) => id),
  );
  const stories = startOrder(ids.length === 0 ? reading.stories : withDependencies(reading.stories, ids));
  // Stories in the backlog run only when they are named.
  const asked = ids.length > 0 ? ids : stories.filter(({ shelf }) => shelf !== "backlog").map(({ id }) => id);
  return { prepared: { config, policy, stories, asked, named: ids }, problems: all };
}

/** The order in which stories start: dependencies first, then by priority, then as they were read. */
export function startOrder(stories: readonly Story[]): Story[] {
  const order: Story[] = [];
  const placed = new Set<string>();
  const waiting = stories.toSorted((a, b) => a.priority - b.priority);
  const known = new Set<string>(stories.map(({ id }) => id));
  while (waiting.length > 0) {
    const at = waiting.findIndex(({ dependsOn }) => dependsOn.every((id) => placed.has(id) || !known.has(id)));
    // Cycles are refused when stories are read; the stories of a cycle would still be appended here.
    const [story] = waiting.splice(Math.max(0, at), 1);
    order.push(story!);
    placed.add(story!.id);
  }
  return order;
}

/** The stories that were asked for, with all their dependencies. */
function withDependencies(stories: readonly Story[], asked: readonly string[]): Story[] {
  const byId = new Map<string, Story>(stories.map((story) => [story.id, story]));
  const wanted = new Set<string>();
  const open = [...asked];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (wanted.has(id)) continue;
    wanted.add(id);
    open.push(...(byId.get(id)?.dependsOn ?? []));
  }
  return stories.filter(({ id }) => wanted.has(id));
}
