import type { StoryId } from "../domain/ids.ts";
import type { RunState } from "../domain/run-state.ts";
import { storiesOf } from "../views/run-summary.ts";
import type { World } from "./command.ts";
import { driveAndWatch, type Watching } from "./drive-and-watch.ts";
import type { Owned, RunPlan } from "./host.ts";
import { writeTrail } from "./trail-files.ts";

export interface Driving {
  readonly plan: RunPlan;
  readonly asked: readonly StoryId[];
  /** Who called it: stories that were held are released in this name. */
  readonly by: string;
  readonly signal: AbortSignal;
  /** Stays when all is done, and goes on when a file or a person says something new. */
  readonly watch?: Omit<Watching, "settled">;
  /** Before the journal is let go of, even when something broke. */
  onEnd?(state: RunState): Promise<void>;
}

/**
 * Becomes the engine, works until nothing is left to do or the signal says stop, and brings the trail up to date. What
 * was stopped is worked on again the next time: nothing is lost, and nothing that finished is done twice.
 */
export async function drivePlan(
  world: Pick<World, "cwd" | "files" | "host">,
  { plan, asked, by, signal, watch, onEnd }: Driving,
): Promise<RunState> {
  const owned = await world.host.own(world.cwd, plan);
  const settled = async (): Promise<void> => void (await writeTrail(world, plan.config));
  let state: RunState;
  try {
    await released(owned, asked, by);
    state = await (watch === undefined
      ? owned.drive(signal)
      : driveAndWatch(world.host, owned, { ...watch, settled }, signal));
  } finally {
    await onEnd?.(owned.state());
    await owned.close();
  }
  await settled();
  return state;
}

/** Whoever starts the work of a story that was stopped means it to go on. */
async function released(owned: Owned, asked: readonly StoryId[], by: string): Promise<void> {
  const run = owned.state();
  if (run.halted !== null) await owned.tell(null, [{ type: "run.resumed", by }]);
  for (const { story, held, ending } of storiesOf(run, asked)) {
    if (held && ending === null) await owned.tell(story.id, [{ type: "story.released", by }]);
  }
}
