import type { StartAttempt, StoryAction } from "../core/stories/command.ts";
import type { Running, StoryState } from "../core/stories/story-state.ts";
import { assert } from "../stdx/assert.ts";
import { startGate } from "./next-step.ts";

/** Can an engine go on with what another one began? Only agents outlive their engine. */
export const isResumable = ({ type }: Running): boolean => type === "attempt" || type === "gate";

/** The command that began what runs, once more, as its state says it was. */
export function resumeWork(state: StoryState, running: Running): StoryAction {
  assert(state.policy !== null && running.type !== "step", "only attempts and gates are resumed");
  if (running.type === "gate") return { type: "resume-work", work: startGate(state, state.policy, running.gate) };
  return { type: "resume-work", work: runningAttempt(state, state.policy.limits.timeoutMs.developer) };
}

function runningAttempt({ attempts, counters }: StoryState, timeoutMs: number): StartAttempt {
  const { attempt, phase, role, tddPhase, reworkOf } = attempts.at(-1)!;
  return {
    type: "start-attempt",
    attempt,
    phase,
    role,
    ...(tddPhase === undefined ? {} : { tddPhase }),
    reworkOf,
    spellOutFormat: counters.lastFailure?.type === "unclear",
    timeoutMs,
    forecastUsd: null,
  };
}
