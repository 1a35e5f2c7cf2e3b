import type { Command } from "../domain/command.ts";
import { storyId, type StoryId } from "../domain/ids.ts";
import type { RunState } from "../domain/run-state.ts";
import { decide } from "../policy/decide.ts";
import { byText, lookup } from "../stdx/sorted-map.ts";
import { decidedAt } from "./grip.ts";
import type { Ledger } from "./ledger.ts";
import { perform } from "./perform.ts";
import { recoverStory } from "./recover.ts";
import type { EngineWorld } from "./world.ts";

/**
 * Does one job of a fleet: folds what is new, decides, and does what was decided if that is still the command of the
 * job's name. If not, somebody else has been at it, or it may not be done just now: then nothing is done, and whoever
 * hands out jobs sees by the journal what is left to do.
 */
export async function doJob(id: string, ledger: Ledger, world: EngineWorld, signal: AbortSignal): Promise<void> {
  await ledger.catchUp();
  const { clock } = world;
  let command = commandOf(id, ledger.state(), clock.now(), ({ key }) => key === id);
  if (command === null) return;
  while (command !== null) {
    await perform(command, ledger, world, signal);
    // Whoever led the conversation and has the agent's files asks again: nobody else can.
    command = signal.aborted ? null : commandOf(id, ledger.state(), clock.now(), ({ type }) => type === "ask-again");
  }
  // Broken off: it is said to be, so that nobody takes it for something that still runs.
  if (signal.aborted) await handBack(id, ledger, world, "stopped");
}

function commandOf(id: string, state: RunState, now: number, is: (command: Command) => boolean): Command | null {
  const story = storyOf(id);
  if (state.policy === null) return null;
  const only = new Set(story === null ? [] : [story]);
  return decide(state, state.policy, now, only).find((command) => command.story === story && is(command)) ?? null;
}

/** The worker that did this job died, or gives it up. What it had begun is reported or interrupted, if it still runs. */
export async function handBack(id: string, ledger: Ledger, world: EngineWorld, how: "stopped" | "died"): Promise<void> {
  await ledger.catchUp();
  const story = storyOf(id);
  if (story === null) return;
  const running = lookup(ledger.state().stories, story, byText)?.running ?? null;
  if (running !== null && running.seq > decidedAt({ key: id })) await recoverStory(story, ledger, world, how);
}

/** The story a job is about; `null`: about the project. */
export function storyOf(id: string): StoryId | null {
  return id.startsWith("@") ? null : storyId(id.slice(0, id.lastIndexOf(":")));
}
