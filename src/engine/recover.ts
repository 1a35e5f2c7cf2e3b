import { entries } from "../stdx/sorted-map.ts";
import type { StoryId } from "../domain/ids.ts";
import type { StoryState } from "../domain/story-state.ts";
import type { Ledger } from "./ledger.ts";
import { attemptKey, reportAttempt, type EndedAttempt } from "./report-attempt.ts";
import type { EngineWorld } from "./world.ts";

/**
 * The engine was gone. What had ended by then and was not yet in the journal is reported now; whatever else was
 * under way is interrupted: nobody saw it end, what was counted for it is given back, and the step is decided anew.
 * Whoever owns the journal calls this once, before anything else. Returns how many were interrupted.
 */
export async function recover(ledger: Ledger, world: EngineWorld): Promise<number> {
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
  for (const [id] of entries(ledger.state().stories)) if (await recoverStory(id, ledger, world)) interrupted++;
  return interrupted;
}

/** The same for one story, when whoever worked on it is gone. Says whether something was interrupted. */
export async function recoverStory(id: StoryId, ledger: Ledger, world: EngineWorld): Promise<boolean> {
  const state = ledger.story(id);
  if (state.running === null || state.ending !== null || (await reported(ledger, world, state))) return false;
  if (state.tree !== null) await world.workspace.forget(id);
  return ledger.append(
    id,
    [{ type: "work.interrupted", detail: `the engine stopped during ${whatRan(state)}` }],
    state.seq,
  );
}

async function reported(ledger: Ledger, world: EngineWorld, state: StoryState): Promise<boolean> {
  const { running, story } = state;
  // A gate judges the same tree again for nothing worse than its own cost; an agent that worked must not work again.
  if (running?.type !== "attempt") return false;
  const text = await world.outbox.get(attemptKey(story.id, running.attempt));
  if (text === null) return false;
  await reportAttempt(ledger, world, state, running.attempt, JSON.parse(text) as EndedAttempt);
  return true;
}

function whatRan({ running }: StoryState): string {
  if (running?.type === "attempt") return `attempt ${running.attempt}`;
  return running?.type === "gate" ? `the ${running.gate} gate` : (running?.step ?? "nothing");
}
