import type { StoryId } from "../domain/ids.ts";
import type { RunState } from "../domain/run-state.ts";
import { storiesOf } from "../views/run-summary.ts";
import { EXIT, type ExitCode, type Interrupt, type World } from "./command.ts";
import { exitCodeOf } from "./exit.ts";
import type { Owned, RunPlan } from "./host.ts";
import { createReporter, reporterName, type Reporter } from "./reporters/reporter.ts";
import { runDocument } from "./run-document.ts";
import { writeTrail } from "./trail-files.ts";

export interface EngineOptions {
  readonly reporter?: string | undefined;
  readonly json?: boolean | undefined;
  /** Who called it: stories that were held are released in this name. */
  readonly by: string;
}

export interface EngineResult {
  readonly exit: ExitCode;
  readonly state: RunState;
}

/**
 * Becomes the engine, works until nothing is left to do or somebody says stop, and tells how it went. What was
 * stopped is worked on again the next time: nothing is lost, and nothing that finished is done twice.
 */
export async function runEngine(
  world: World,
  plan: Omit<RunPlan, "watcher">,
  asked: readonly StoryId[],
  options: EngineOptions,
): Promise<EngineResult> {
  const isDocument = options.json === true;
  const reporter = isDocument
    ? silentReporter(world)
    : await createReporter(reporterName(options.reporter, world.env), { world, asked });
  const owned = await world.host.own(world.cwd, { ...plan, watcher: reporter });
  const stop = new AbortController();
  let interrupt: Interrupt | null = null;
  const unhook = world.onInterrupt((signal) => {
    interrupt = signal;
    reporter.note("remand: stopping; what runs is ended and will be done again (once more: at once)\n");
    stop.abort();
  });
  let state: RunState;
  try {
    await released(owned, asked, options.by);
    state = await owned.drive(stop.signal);
  } finally {
    unhook();
    // Even when it breaks, the footer must not stay on the screen.
    await reporter.end(owned.state());
    await owned.close();
  }
  if (isDocument) world.out(`${JSON.stringify(runDocument(state, asked), null, 2)}\n`);
  await writeTrail(world, plan.config);
  return { exit: interrupt === null ? exitCodeOf(state, asked) : INTERRUPTED[interrupt], state };
}

const INTERRUPTED: { readonly [I in Interrupt]: ExitCode } = { SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated };

const silentReporter = (world: World): Reporter => ({
  onLines: () => undefined,
  onOutput: () => undefined,
  note: (text) => world.err(text),
  end: () => Promise.resolve(),
});

/** Whoever starts the work of a story that was stopped means it to go on. */
async function released(owned: Owned, asked: readonly StoryId[], by: string): Promise<void> {
  const run = owned.state();
  if (run.halted !== null) await owned.tell(null, [{ type: "run.resumed", by }]);
  for (const { story, held, ending } of storiesOf(run, asked)) {
    if (held && ending === null) await owned.tell(story.id, [{ type: "story.released", by }]);
  }
}
