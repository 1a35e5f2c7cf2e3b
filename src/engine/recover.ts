import { entries } from "../stdx/sorted-map.ts";
import type { EngineEnd } from "../core/events/event.ts";
import type { StoryId } from "../core/events/ids.ts";
import type { StoryState } from "../core/stories/story-state.ts";
import { deathReason } from "../decide/engine-deaths.ts";
import { isResumable } from "../decide/decide.ts";
import { workResumed } from "../fold/fold-attempt.ts";
import { dispatchKey } from "./fencing.ts";
import type { Ledger } from "./ledger.ts";
import { attemptKey, reportAttempt, type EndedAttempt } from "./perform/report-attempt.ts";
import type { EngineWorld } from "./world.ts";

/**
 * Recovers after the end of an engine. Results that were not in the journal yet are reported now. Everything else that
 * was running is interrupted: its result is unknown, its counts are reversed, and the step is decided again. The owner
 * of the journal calls this once, before anything else. Returns how many steps were interrupted.
 */
export async function recover(ledger: Ledger, world: EngineWorld, how: "stopped" | "died"): Promise<number> {
  let interrupted = 0;
  const { remediation } = ledger.state();
  // The try was counted when it began. If it did anything, the health check will show it.
  if (
    remediation?.stage === "repairing" &&
    (await ledger.append(null, [
      { type: "remediation.finished", attempt: remediation.tries, fixes: [], durationMs: 0 },
    ]))
  )
    interrupted++;
  // A health check has no start event. One that always ends the engine must not be repeated forever.
  if (
    remediation?.stage === "repaired" &&
    how === "died" &&
    (await ledger.append(null, [
      {
        type: "health.checked",
        healthy: false,
        remaining: ["the engine died before the health check was done"],
        durationMs: 0,
      },
    ]))
  )
    interrupted++;
  const bootedAt = world.clock.bootedAt?.() ?? -Infinity;
  for (const [id, { running }] of entries(ledger.state().stories)) {
    const isRebooted = how === "died" && running !== null && running.since < bootedAt;
    if (await recoverStory(id, ledger, world, isRebooted ? "rebooted" : how)) interrupted++;
  }
  await world.agentRuns?.dropAllBut(resumedKeys(ledger));
  return interrupted;
}

/** Returns the keys of dispatches that continue. All others have ended, or will be decided again. */
function resumedKeys(ledger: Ledger): Set<string> {
  const states = [...entries(ledger.state().stories)].map(([, state]) => state);
  return new Set(states.flatMap((state) => (state.running?.resumed === true ? (dispatchKey(state) ?? []) : [])));
}

/** Recovers one story, when the engine that worked on it has ended. Returns whether a step was interrupted. */
export async function recoverStory(
  id: StoryId,
  ledger: Ledger,
  world: EngineWorld,
  engine: EngineEnd,
): Promise<boolean> {
  const state = ledger.story(id);
  if (state.running === null || state.ending !== null || (await reportFinished(ledger, world, state))) return false;
  if (await resumeStory(ledger, world, state, engine)) return false;
  await world.agentRuns?.drop(id);
  if (state.tree !== null) await world.workspace.forget(id);
  return ledger.append(
    id,
    [{ type: "work.interrupted", detail: `${ENDED[engine]} during ${whatRan(state)}`, engine }],
    state.seq,
  );
}

/**
 * Resumes an agent that outlived the engine, or takes the result of one that has ended since, instead of dispatching
 * again.
 */
async function resumeStory(ledger: Ledger, world: EngineWorld, state: StoryState, engine: EngineEnd): Promise<boolean> {
  const { agentRuns } = world;
  const { running, story } = state;
  const key = dispatchKey(state);
  if (agentRuns === undefined || running === null || key === null || engine === "stopped") return false;
  if (!isResumable(running) || deathReason(workResumed(state, engine)) !== null) return false;
  // The reviewer's folder was removed with the engine, so the reviewer cannot continue.
  if (running.type === "gate") await agentRuns.endUnfinished(key);
  const isToBeAsked = running.type === "attempt" && running.unclear > 0;
  if (!isToBeAsked && !(await agentRuns.has(key))) return false;
  const detail = `${ENDED[engine]} during ${whatRan(state)}; its agent was found again`;
  return ledger.append(story.id, [{ type: "work.resumed", detail, engine }], state.seq);
}

const ENDED: Readonly<Record<EngineEnd, string>> = {
  stopped: "the engine stopped",
  died: "the engine died",
  rebooted: "the machine was restarted",
};

async function reportFinished(ledger: Ledger, world: EngineWorld, state: StoryState): Promise<boolean> {
  const { running, story } = state;
  // Only attempts have results in the outbox: a gate can run again on the same tree, but an agent must not repeat its
  // work.
  if (running?.type !== "attempt") return false;
  const text = await world.outbox.get(attemptKey(story.id, running.attempt));
  if (text === null) return false;
  await reportAttempt(ledger, world, state, running.attempt, JSON.parse(text) as EndedAttempt);
  return true;
}

export function whatRan({ running }: StoryState): string {
  if (running?.type === "attempt") return `attempt ${running.attempt}`;
  return running?.type === "gate" ? `the ${running.gate} gate` : (running?.step ?? "nothing");
}
