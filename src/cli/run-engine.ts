import { countText } from "../stdx/plain-text.ts";
import type { StoryId } from "../core/events/ids.ts";
import type { RunState } from "../core/stories/run-state.ts";
import { runCounts } from "../views/run/run-summary.ts";
import { type ExitCode, INTERRUPTED, type Interrupt, type World, exitCodeOf } from "../app/command.ts";
import { type StoryWatch, drivePlan } from "../app/run-plan.ts";
import type { RunPlan } from "../app/host.ts";
import { shownPath } from "../app/load-config.ts";
import { type Reporter, createReporter, reporterName } from "./reporters/reporter.ts";
import { runDocument } from "./json-fields.ts";

export interface RunEngineOptions {
  readonly reporter?: string | undefined;
  readonly json?: boolean | undefined;
  /** Keeps running when all is done; has the functions that read the stories again. */
  readonly watch?: Pick<StoryWatch, "folder" | "reread"> | undefined;
  /** Stories that a person named: naming a paused story resumes it. */
  readonly named?: readonly StoryId[];
  /** The person who ran the command: named stories are resumed in this person's name. */
  readonly by: string;
}

export interface EngineResult {
  readonly exit: ExitCode;
  readonly state: RunState;
}

/** Runs the engine for a person at a terminal, with a reporter, until it ends or Ctrl-C; returns the exit code. */
export async function runEngine(
  world: World,
  plan: Omit<RunPlan, "watcher">,
  asked: readonly StoryId[],
  options: RunEngineOptions,
): Promise<EngineResult> {
  const isDocument = options.json === true;
  const reporter = isDocument
    ? silentReporter(world)
    : await createReporter(reporterName(options.reporter, world.env), { world, asked });
  const stop = new AbortController();
  let interrupt: Interrupt | null = null;
  const unhook = world.onInterrupt((signal) => {
    interrupt = signal;
    reporter.note("remand: stopping; running attempts are ended and will rerun (interrupt again to end at once)\n");
    stop.abort();
  });
  let state: RunState;
  try {
    state = await drivePlan(world, {
      plan: { ...plan, watcher: reporter, onNotice: (text) => reporter.note(`remand: ${text}\n`) },
      asked,
      named: options.named ?? [],
      by: options.by,
      signal: stop.signal,
      ...(options.watch === undefined ? {} : { watch: { ...options.watch, ...watchNotes(world, reporter, asked) } }),
      // Even after an error, the footer must not stay on the screen.
      onEnd: (last) => reporter.end(last),
    });
  } finally {
    unhook();
  }
  if (isDocument) world.out(`${JSON.stringify(runDocument(state, asked), null, 2)}\n`);
  return { exit: interrupt === null ? exitCodeOf(state, asked) : INTERRUPTED[interrupt], state };
}

/** Messages for a watching run that is idle: printed once, until something happens. */
function watchNotes(
  world: World,
  reporter: Reporter,
  asked: readonly StoryId[],
): Pick<StoryWatch, "onIdle" | "onTrouble"> {
  return {
    onIdle: (state, folder) => {
      const { needsYou } = runCounts(state, asked);
      const person =
        needsYou === 0 ? "" : `${countText(needsYou, "question waits", "questions wait")} for you: remand inbox; `;
      reporter.note(`remand: ${person}watching ${shownPath(world, folder)} and your answers (Ctrl-C ends)\n`);
    },
    onTrouble: (text) => reporter.note(text),
  };
}

const silentReporter = (world: World): Reporter => ({
  onLines: () => undefined,
  onOutput: () => undefined,
  note: (text) => world.err(text),
  end: () => Promise.resolve(),
});
