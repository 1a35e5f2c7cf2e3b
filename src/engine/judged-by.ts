import type { StoryState } from "../domain/story-state.ts";
import type { EngineWorld } from "./world.ts";

/** The commands and words by which the gates of the story's present phase will judge. */
export function judgedByAll(world: Pick<EngineWorld, "gates">, state: StoryState): readonly string[] {
  const gates = state.policy?.phases.find((plan) => plan.phase === state.phase)?.gates ?? [];
  return gates.flatMap((gate) => world.gates.get(gate)?.judgedBy() ?? []);
}
