import { RemandError } from "../../core/events/error.ts";
import type { Command, StoryCommand } from "../../core/stories/command.ts";
import type { Event, Step } from "../../core/events/event.ts";
import { laneOf } from "../../decide/next-step.ts";
import { runTimeLeft } from "../../decide/spending.ts";
import { type Ledger, appendIfRunning } from "../ledger.ts";
import { withFencing } from "../fencing.ts";
import { whatRan } from "../recover.ts";
import { type SpendingWatch, UNWATCHED, overrunOf, watchSpending } from "../spending-watch.ts";
import type { EngineWorld } from "../world.ts";
import { adjudicate, resumeGate, startGate } from "./gate.ts";
import { askAgain, resumeAttempt, startAttempt } from "./attempt.ts";
import { judgeBase, startStory } from "./base.ts";
import { blameFailure } from "./blame.ts";
import { adoptWork, deliver, fixLint, refusal } from "./delivery.ts";
import { checkHealth, startRemediation } from "./remediation.ts";
import { restoreTree, sendBack } from "./steps.ts";
import type { CommandContext, ContextOf } from "./command-context.ts";

/**
 * Performs one command. The start is appended before acting; if the append is refused, another process performs the
 * command and nothing is done. An operating error becomes an event of its story.
 */
export async function perform(
  command: Command,
  shared: Ledger,
  world: EngineWorld,
  signal: AbortSignal,
): Promise<void> {
  const ledger = withFencing(command, shared);
  const isRun = (command.story !== null && laneOf(command) !== "engine") || RUNS.has(command.type);
  if (!isRun) return performCommand(command, { ledger, world, signal, spending: UNWATCHED });
  if (await isRunOutOfTime(ledger, world)) return;
  const spending = watchSpending(command, ledger, world);
  try {
    await performCommand(command, { ledger, world, signal: AbortSignal.any([signal, spending.signal]), spending });
  } finally {
    spending.stop();
  }
  if (!signal.aborted) await reportCutShort(command, ledger, world, spending);
  // The replies of the command's agents are in the journal, or the agents were stopped.
  await world.agentRuns?.drop(command.story);
}

/** Commands of the engine's lane that run an agent. */
const RUNS: ReadonlySet<Command["type"]> = new Set(["ask-again", "resume-work", "start-remediation", "check-health"]);

/**
 * Whether the running steps have used up the run's time and are being stopped. Nothing new starts then; once the steps
 * have reported their time, a person is asked.
 */
async function isRunOutOfTime(ledger: Ledger, { clock }: EngineWorld): Promise<boolean> {
  const left = runTimeLeft(ledger.state(), clock.now());
  if (left === null || left.left > 0) return false;
  await clock.sleep(REPORTED_MS);
  return true;
}

const REPORTED_MS = 50;

/** Reports a step that a budget stopped before the step reported anything. */
async function reportCutShort(
  { story }: Command,
  ledger: Ledger,
  world: EngineWorld,
  spending: SpendingWatch,
): Promise<void> {
  const budget = spending.exceeded();
  if (budget === null || story === null) return;
  const state = ledger.story(story);
  const { running } = state;
  if (running === null || !ledger.mayWrite(story)) return;
  if (state.tree !== null) await world.workspace.forget(story);
  const overrun = overrunOf(budget, world.clock.now() - running.since, spending.used());
  const detail = `the ${budget} budget was used up during ${whatRan(state)}`;
  await appendIfRunning(ledger, story, (now) => now === running, [{ type: "work.interrupted", detail, overrun }]);
}

async function performCommand(command: Command, performing: Omit<CommandContext, "command">): Promise<void> {
  const { ledger, world } = performing;
  const step = (of: StoryCommand, name: Step, work: () => Promise<void>): Promise<void> =>
    tryStep(performing, of, name, work);
  switch (command.type) {
    case "start-story":
      return step(command, "prepare", () => startStory({ ...performing, command }));
    case "judge-base":
      return step(command, "base", () => judgeBase({ ...performing, command }));
    case "start-attempt":
      return step(command, "dispatch", () => startAttempt({ ...performing, command }));
    case "ask-again":
      return step(command, "dispatch", () => askAgain({ ...performing, command }));
    case "resume-work":
      return step(command, "dispatch", () => resumeWork({ ...performing, command }));
    case "start-gate":
      return step(command, "dispatch", () => startGate({ ...performing, command }));
    case "send-back":
      return step(command, "brief", () => sendBack({ ...performing, command }));
    case "restore-tree":
      return step(command, "restore", () => restoreTree({ ...performing, command }));
    case "adjudicate":
      return step(command, "adjudication", () => adjudicate({ ...performing, command }));
    case "find-blame":
      return step(command, "blame", () => blameFailure({ ...performing, command }));
    case "fix-lint":
      return step(command, "lint-fix", () => fixLint({ ...performing, command }));
    case "deliver":
      return step(command, "delivery", () => deliver({ ...performing, command }));
    case "adopt-work":
      return step(command, "adopt", () => adoptWork({ ...performing, command }));
    case "start-remediation":
      return startRemediation({ ...performing, command });
    case "check-health":
      return checkHealth({ ...performing, command });
    case "accept":
      return step(command, "delivery", () => accept({ ...performing, command }));
    case "fail":
      if (await ledger.append(command.story, [eventFor(command)])) await leave(command, world);
      return;
    default:
      await ledger.append(command.story, [eventFor(command)]);
  }
}

async function resumeWork(performing: ContextOf<"resume-work">): Promise<void> {
  const { work, story, key } = performing.command;
  if (work.type === "start-gate") return resumeGate({ ...performing, command: { ...work, story, key } });
  return resumeAttempt({ ...performing, command: { ...work, story, key } });
}

/** Accepts a story. A branch that is handed to people holds exactly the commit that passed the gates. */
async function accept({ command, ledger, world }: ContextOf<"accept">): Promise<void> {
  const { story, drop } = command;
  const { policy, commit, tree, delivered } = ledger.story(story);
  if (world.integration !== null && policy?.deliver === "branch" && delivered === null && tree !== null) {
    const stray = await world.integration.align(story, { commit, tree }, drop ?? null);
    if (stray !== null) {
      await ledger.append(story, [refusal(stray)]);
      return;
    }
  }
  if (!(await ledger.append(story, [eventFor(command)]))) return;
  await world.receipts?.issue(story, ledger.state());
  await leave(command, world);
}

/** Removes the worktree of an ended story; its branch stays. A failure to remove it changes nothing else. */
async function leave(command: StoryCommand & Command, world: EngineWorld): Promise<void> {
  try {
    await world.workspace.dispose(command.story);
  } catch (error) {
    if (!(error instanceof RemandError)) throw error;
    world.watcher.onOutput(command, `its worktree could not be removed: ${error.message}`);
  }
}

type RecordOnlyCommand = Extract<
  Command,
  { type: "raise-escalation" | "accept" | "fail" | "grant-grace" | "warn-budget" | "flag-story" }
>;

/** Returns the event of a command that only records something. */
function eventFor(command: RecordOnlyCommand): Event {
  switch (command.type) {
    case "raise-escalation":
      return { type: "escalation.raised", escalation: command.escalation };
    case "accept":
      return { type: "story.accepted", ...(command.notes === undefined ? {} : { notes: command.notes }) };
    case "fail":
      return { type: "story.failed", how: command.how, reason: command.reason };
    case "grant-grace":
      return { type: "grace.granted", gate: command.gate, failures: command.failures };
    case "warn-budget":
      return { type: "budget.warned", budget: command.budget, used: command.used, limit: command.limit };
    case "flag-story":
      return { type: "story.flagged", usualMs: command.usualMs, takenMs: command.takenMs };
  }
}

/** Runs a step of the engine. A failure becomes an event, and is retried within its limit. */
async function tryStep(
  { ledger, spending }: Omit<CommandContext, "command">,
  { story }: StoryCommand,
  name: Step,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof RemandError) || isJournalFailure(error)) throw error;
    // A budget stopped the step: that is not a failure of the step.
    if (spending.exceeded() !== null) return;
    // Only the failed step may be ended: by the time this is written, another one may be running.
    const failed = ledger.story(story).running;
    await appendIfRunning(ledger, story, (running) => running === failed, [
      {
        type: "step.failed",
        step: name,
        detail: `${error.message} — ${error.hint}`,
        infrastructure: false,
        ...(LASTING.has(error.code) ? { lasting: true } : {}),
      },
    ]);
  }
}

/** Errors that a retry cannot change: a person is asked at once. */
const LASTING: ReadonlySet<RemandError["code"]> = new Set([
  "check-unusable",
  "branch-missing",
  "branch-taken",
] as const);

/** Whether the journal itself cannot be written, so that no event can report the error. */
function isJournalFailure(error: RemandError): boolean {
  return error.code.startsWith("journal-");
}
