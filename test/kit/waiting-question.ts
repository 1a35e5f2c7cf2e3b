import { presetPolicy } from "../../src/config/presets.ts";
import type { Event } from "../../src/core/events/event.ts";
import { storyId } from "../../src/core/events/ids.ts";
import { escalateStory } from "../../src/decide/escalate.ts";
import { evolve } from "../../src/fold/fold-event.ts";
import { EMPTY_RUN } from "../../src/fold/new-state.ts";
import type { Journal } from "../../src/ports/journal.ts";
import { stateOf } from "../seeds/scripted-run.ts";
import { story } from "./story-world.ts";

const HOUR = 3_600_000;

/** Writes a story whose question has waited for two hours. */
export async function writeWaitingQuestion(journal: Journal): Promise<void> {
  const at = Date.now() - 2 * HOUR;
  let state = EMPTY_RUN;
  const write = async (of: string | null, seq: number, event: Event): Promise<void> => {
    const appended = await journal.append(of === null ? null : storyId(of), seq, [event], at);
    if (!appended.ok) throw new Error("nobody else writes here");
    for (const line of appended.stored) state = evolve(state, line);
  };
  await write(null, 0, { type: "policy.set", policy: presetPolicy("goal"), by: "test" });
  await write("a", 0, { type: "story.added", story: story("a") });
  const reason = { type: "stall", stall: "same-failure", detail: "the same test fails" } as const;
  await write("a", 1, { type: "escalation.raised", escalation: escalateStory(stateOf(state, "a"), reason, "checks") });
}
