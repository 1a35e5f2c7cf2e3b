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
 * The engine has ended. What had finished by then and was not yet in the journal is reported now; everything else that
 * was under way is interrupted: its result is not known, what was counted for it is given back, and the step is decided
 * again. The owner of the journal calls this once, before anything else. Returns how many were interrupted.
 */
export async function recover(ledger: Ledger, world: EngineWorld, how: "stopped" | "died"): Promise<number> {
  let interrupted = 0;
  const { remediation } = ledger.state();
  // The try was counted when it began; what it did, if anything, the health check will find out.
  if (
    remediation?.stage === "repairing" &&
    (await ledger.append(null, [
      { type: "remediation.finished", attempt: remediation.tries, fixes: [], durationMs: 0 },
    ]))
  )
    interrupted++;
  // A health check has no first line in the journal. One that ends the engine each time must not be repeated for ever.
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

/** The dispatches that go on. All others are over, or will be decided again. */
function resumedKeys(ledger: Ledger): Set<string> {
  const states = [...entries(ledger.state().stories)].map(([, state]) => state);
  return new Set(states.flatMap((state) => (state.running?.resumed === true ? (dispatchKey(state) ?? []) : [])));
}

/** The same for one story, when the engine that worked on it has ended. Says whether something was interrupted. */
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

/** An agent that outlived the engine is waited for, and one that ended since is heard, instead of dispatched again. */
async function resumeStory(ledger: Ledger, world: EngineWorld, state: StoryState, engine: EngineEnd): Promise<boolean> {
  const { agentRuns } = world;
  const { running, story } = state;
  const key = dispatchKey(state);
  if (agentRuns === undefined || running === null || key === null || engine === "stopped") return false;
  if (!isResumable(running) || deathReason(workResumed(state, engine)) !== null) return false;
  // The folder in which a reviewer looked at the work ended with the engine, so it cannot go on.
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
  // A gate judges the same tree again for nothing worse than its own cost; an agent that worked must not work again.
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
