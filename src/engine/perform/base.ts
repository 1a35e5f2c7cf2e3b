import type { KnownFailure } from "../../core/gates/base-failures.ts";
import { RemandError } from "../../core/events/error.ts";
import type { BaseRun, GateName } from "../../core/gates/gate.ts";
import type { StoryId, TreeId } from "../../core/events/ids.ts";
import type { RunState } from "../../core/stories/run-state.ts";
import type { StoryState } from "../../core/stories/story-state.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Baseline, Gate } from "../../ports/gate.ts";
import type { PreparedWorkspace } from "../../ports/workspace.ts";
import { entries } from "../../stdx/sorted-map.ts";
import { appendIfRunning, isStep } from "../ledger.ts";
import { gateRequest } from "../gate-request.ts";
import type { ContextOf } from "./command-context.ts";
import type { EngineWorld } from "../world.ts";

/** The failures on the base, from all gates that ran there. */
interface BaseResults {
  readonly preExisting: readonly string[];
  readonly flaky: readonly string[];
  readonly baseRuns?: { readonly [G in GateName]?: BaseRun };
}

/**
 * Prepares the story's worktree and runs the gates on the base. Checks that take longer than the limit continue beside
 * the first attempt; no gate runs on the work before they have ended.
 */
export async function startStory(performing: ContextOf<"start-story">): Promise<void> {
  const { command, ledger, world, signal } = performing;
  if (!(await ledger.append(command.story, [{ type: "story.started", by: "engine" }]))) return;
  const state = ledger.story(command.story);
  if (state.commit !== "" && state.attempts.length === 0) await bringUpToDate(state, world);
  const place = await world.workspace.prepare(command.story, state.story.dependsOn, signal);
  const { tree, commit } = place;
  const gates = gatesWithBase(state, world);
  const seen = await lookAtBase(
    performing,
    place,
    gates.filter(({ hasOwnBase }) => hasOwnBase !== true),
  );
  let isOpen = false;
  const later = lookAtBase(
    performing,
    place,
    gates.filter(({ hasOwnBase }) => hasOwnBase === true),
    () => isOpen,
  );
  const { clock, baseWaitMs } = world;
  const own = await (baseWaitMs === undefined ? later : endedWithin(clock, baseWaitMs, later));
  if (signal.aborted) return;
  isOpen = own === null;
  if (own === null) openBasesOf(world).set(command.story, later);
  const known = knownElsewhere(ledger.state(), state);
  const { flaky, ...both } = own === null ? seen : mergeBaseResults(seen, own);
  await appendIfRunning(ledger, command.story, isStep("prepare"), [
    {
      type: "story.prepared",
      tree,
      commit,
      ...both,
      ...(own === null ? { isBaseOpen: true } : { flaky }),
      ...(known.length === 0 ? {} : { known }),
    },
  ]);
}

/** Waits for the checks of the base that ran beside the first attempt; after a crash, runs them again. */
export async function judgeBase(performing: ContextOf<"judge-base">): Promise<void> {
  const { command, ledger, world, signal } = performing;
  if (!(await ledger.append(command.story, [{ type: "step.started", step: "base" }]))) return;
  const state = ledger.story(command.story);
  const { openBase } = state;
  if (openBase === undefined) return;
  const opened = openBasesOf(world);
  const under = opened.get(command.story) ?? lookAgain(performing, state, openBase);
  opened.delete(command.story);
  const seen = await Promise.race([under, whenAborted(signal)]);
  if (seen === null || signal.aborted) return;
  await appendIfRunning(ledger, command.story, isStep("base"), [{ type: "base.judged", ...seen }]);
}

async function lookAgain(
  performing: ContextOf<"judge-base">,
  state: StoryState,
  { tree, commit }: { readonly tree: TreeId; readonly commit: string },
): Promise<BaseResults> {
  const { command, world, signal } = performing;
  const place = await world.workspace.prepare(command.story, state.story.dependsOn, signal);
  const gates = gatesWithBase(state, world).filter(({ hasOwnBase }) => hasOwnBase === true);
  return lookAtBase(performing, { ...place, tree, commit }, gates, () => true);
}

/** Unfinished runs on the base in this process, by story. */
const openBases = new WeakMap<EngineWorld["journal"], Map<StoryId, Promise<BaseResults>>>();

function openBasesOf({ journal }: EngineWorld): Map<StoryId, Promise<BaseResults>> {
  const known = openBases.get(journal) ?? new Map<StoryId, Promise<BaseResults>>();
  openBases.set(journal, known);
  return known;
}

/** Waits for work up to a limit; `null` if it takes longer. The work continues. */
export async function endedWithin<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T | null> {
  const over = new AbortController();
  try {
    return await Promise.race([work, clock.sleep(ms, over.signal).then(() => null)]);
  } finally {
    over.abort();
    // The next wait for this work gets the error.
    work.catch(() => undefined);
  }
}

const whenAborted = (signal: AbortSignal): Promise<null> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(null), { once: true }));

function gatesWithBase(state: StoryState, { gates }: EngineWorld): readonly Gate[] {
  const planned = new Set(state.policy!.phases.flatMap((plan) => plan.gates));
  return [...gates.values()].filter(({ name, baseline }) => baseline !== undefined && planned.has(name));
}

async function lookAtBase(
  { command, ledger, world, signal }: ContextOf<"start-story" | "judge-base">,
  place: PreparedWorkspace,
  gates: readonly Gate[],
  isWorkUnderWay: () => boolean = () => false,
): Promise<BaseResults> {
  const state = ledger.story(command.story);
  let all: BaseResults = { preExisting: [], flaky: [] };
  for (const gate of gates) {
    const asked = {
      gate: gate.name,
      tree: place.tree,
      stages: [],
      since: null,
      answer: [],
      timeoutMs: state.policy!.limits.timeoutMs.critic,
      key: command.key,
    };
    const request = { ...gateRequest(state, place, asked), commit: place.commit };
    const onOutput = (line: string): void => world.watcher.onOutput(command, line);
    const seen = await gate.baseline!(request, { signal, onOutput, isWorkUnderWay });
    const trouble = signal.aborted ? null : baseTrouble(seen);
    if (trouble !== null) throw trouble;
    const { failing: preExisting, flaky, run } = seen;
    all = mergeBaseResults(all, {
      preExisting,
      flaky,
      ...(run === undefined ? {} : { baseRuns: { [gate.name]: run } }),
    });
  }
  return all;
}

function mergeBaseResults(one: BaseResults, other: BaseResults): BaseResults {
  const preExisting = [...new Set([...one.preExisting, ...other.preExisting])];
  const flaky = [...new Set([...one.flaky, ...other.flaky])].filter((each) => !preExisting.includes(each));
  const baseRuns = { ...one.baseRuns, ...other.baseRuns };
  return { preExisting, flaky, ...(Object.keys(baseRuns).length === 0 ? {} : { baseRuns }) };
}

/** Returns why no attempt could be verified, so that no agent is paid for one. */
export function baseTrouble({ unusable = [], needsVariables = [] }: Baseline): RemandError | null {
  const [first] = unusable;
  if (needsVariables.length > 0)
    return new RemandError(
      "check-unusable",
      `The checks fail without ${needsVariables.join(", ")} and pass with ${needsVariables.length === 1 ? "it" : "them"}; names that look like secrets are withheld from checks`,
      `Pass ${needsVariables.length === 1 ? "it" : "them"}: env: [${needsVariables.join(", ")}] in ~/.config/remand/config.yaml or remand.yaml.`,
    );
  if (first === undefined) return null;
  return new RemandError(
    "check-unusable",
    unusable.map(({ check, why }) => `\`${check}\`: ${why}`).join("; "),
    "Install what is missing, or correct the command under gates.checks.commands; remand doctor --run tries it.",
  );
}

/** Merges the current base into the story, which has no work yet, after a person fixed the base. */
async function bringUpToDate(state: StoryState, world: EngineWorld): Promise<void> {
  const { id, title } = state.story;
  if (world.integration === null || (await world.integration.mergeStatus(id, state.commit)).isCurrent) return;
  const { hash } = await world.journal.head();
  const note = { attempt: 0, subject: `${title}: with the base as it is now`, journalHead: hash };
  await world.integration.update(id, await world.workspace.currentState(id), note);
}

/** Returns failures that people called known for another story, so that no test is asked about twice. */
function knownElsewhere(run: RunState, { known = [] }: StoryState): readonly KnownFailure[] {
  const mine = new Set(known.map(({ test }) => test));
  const others = new Map<string, KnownFailure>();
  for (const [, state] of entries(run.stories))
    for (const each of state.known ?? []) if (!mine.has(each.test)) others.set(each.test, each);
  return [...others.values()];
}
