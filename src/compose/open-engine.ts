import type { EngineSession, RunPlan } from "../app/host.ts";
import { RemandError } from "../core/events/error.ts";
import type { StoryId } from "../core/events/ids.ts";
import type { Policy } from "../core/events/policy.ts";
import type { RunState } from "../core/stories/run-state.ts";
import type { Story } from "../core/stories/story.ts";
import type { Command } from "../core/stories/command.ts";
import type { Watcher } from "../ports/journal.ts";
import { type OutputRing, createOutputRing } from "../adapters/evidence/output-ring.ts";
import { drive } from "../engine/drive.ts";
import { type Ledger, openLedger } from "../engine/ledger.ts";
import { recover } from "../engine/recover.ts";
import type { EngineWorld } from "../engine/world.ts";
import { canonicalJson } from "../stdx/canonical-json.ts";
import { entries } from "../stdx/sorted-map.ts";
import { takeOwnership } from "../adapters/journal/ownership.ts";
import { COOKIE_VARIABLE } from "../adapters/process/leftovers.ts";
import {
  type SupervisedAgents,
  createSupervisedAgents,
  supervisorProgram,
} from "../adapters/process/agent-processes.ts";
import type { SqliteJournal } from "../adapters/journal/sqlite-journal.ts";
import { ownRedactor } from "../adapters/process/own-secrets.ts";
import type { InPlace } from "../adapters/git/worktree/in-place.ts";
import { userStateFolder } from "../adapters/git/repository.ts";
import { assertCheckout } from "../adapters/git/worktree/start-commit.ts";
import { type PrCommentPoller, prCommentPoller } from "./delivery.ts";
import { notificationsOf } from "./notifications/local-notifications.ts";
import { engineWorld } from "./engine-world.ts";
import { isUnderWay, removeEndedWorktrees, localWorkspaces } from "./workspaces.ts";
import { createStoryNotes, registerStories } from "./note-stories.ts";
import { openJournal } from "./journal/open-journal.ts";
import { pushReceipts } from "../adapters/git/receipts.ts";
import { type OwnReceipts, createReceipts } from "./receipts/issue-receipts.ts";
import { notedRange } from "./receipts/kept-receipts.ts";
import { projectEvidence } from "./project-evidence.ts";
import { type Engine, assertAuthority, becomeEngine } from "./journal/author.ts";
import { type StateFolder, stateFolder } from "./state-folder.ts";
import { telemetryOf } from "./telemetry.ts";
import { appendAs, appendWithRetry } from "./journal/append-answer.ts";
import { sandboxesOf } from "./sandboxes.ts";

/** Becomes the one engine of a checkout, with everything that it works with. */
export async function openEngine(
  root: string,
  plan: RunPlan,
  env: Readonly<Record<string, string | undefined>>,
): Promise<EngineSession> {
  const folder = stateFolder(root);
  const claim = await takeOwnership(folder.journal);
  if ("heldBy" in claim) throw lockedError(claim.heldBy);
  let journal: SqliteJournal | null = null;
  const close = async (): Promise<void> => {
    await journal?.close();
    await claim.release();
  };
  try {
    const engine = await becomeEngine(root, env);
    journal = await openJournal(root, folder.journal, {
      newJournal: plan.newJournal,
      userState: userStateFolder(env),
      assertMayReplace: (event) => assertAuthority(engine.speaker, [event]),
      onNotice: (text) => plan.onNotice?.(text),
    });
    return await createSession(root, folder, plan, engine, journal, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function createSession(
  root: string,
  folder: StateFolder,
  plan: RunPlan,
  { env, speaker }: Engine,
  journal: SqliteJournal,
  close: () => Promise<void>,
): Promise<EngineSession> {
  const ring = createOutputRing({ folder: folder.output, now: Date.now });
  const notes = createStoryNotes(root, { ...plan, watcher: withRing(plan.watcher, ring) }, journal);
  const notifications = await notificationsOf(root, plan, env, { journal, watcher: notes.watcher });
  const telemetry = await telemetryOf({ root, worker: null, journal, onNotice: (text) => plan.onNotice?.(text) });
  const noted = { ...plan, watcher: telemetry.watcher(notifications.watcher) };
  const sandboxes = await sandboxesOf(root, plan.config, env, (text) => plan.onNotice?.(text), plan.hidden);
  const { inPlace, ...places } = localWorkspaces(root, folder, noted, env, sandboxes);
  const evidence = await projectEvidence(root, folder.evidence, plan.config, env);
  const observed = telemetry.journal(journal);
  const stored = { journal: observed, outbox: observed.outbox, evidence, agentRuns: agentRunsIn(folder.runs, env) };
  const receipts = receiptsOf(root, plan, env, journal);
  const parts = { ...places, ...stored, receipts, sandboxes, telemetry };
  const { world, policy, queue } = await engineWorld(root, noted, env, parts);
  await assertCheckout(root, inPlace === null ? "commit" : "checkout");
  const ledger = await openLedger(world);
  telemetry.resume(ledger.state());
  await places.start.open(isUnderWay(ledger.state()));
  await receipts.catchUp(ledger.state());
  const interrupted = await recover(ledger, world, "died");
  if (inPlace === null) await removeEndedWorktrees(folder.path, ledger.state(), world.workspace);
  await bringUpToDate(ledger, plan.stories, policy);
  const only = askedStories(plan, ledger.state());
  const comments = prCommentPoller(ledger, world, only, plan.config.people, (text) => plan.onNotice?.(text));
  notifications.resume(ledger.state());
  return {
    workspace: world.workspace,
    evidence,
    state: () => ledger.state(),
    interrupted,
    drive: async (signal) => {
      await comments.poll(signal);
      // A queue ends with its drive; watching drives again.
      const state = await drive(ledger, { ...world, queue: queue() }, signal, only);
      await receipts.catchUp(state);
      await notes.settle(state);
      // A person who interrupts a run sees that it ended and needs no notification.
      if (!signal.aborted) notifications.ended(state);
      return state;
    },
    append: (stream, events) => appendAs(speaker, ledger, stream, events),
    ...sessionInputs(ledger, journal, only, comments),
    undo: (story) => undone(inPlace, story),
    close: async () => {
      try {
        await places.start.leave(isUnderWay(ledger.state()));
      } finally {
        await Promise.all([notifications.close(), ring.close()]);
        await close().then(() => telemetry.close());
      }
    },
  };
}

/** Also writes printed output to the story's ring of files. */
function withRing(watcher: Watcher, ring: OutputRing): Watcher {
  return {
    onLines: (lines, state) => watcher.onLines(lines, state),
    onOutput: (command, line) => {
      if (command.story !== null) ring.add(command.story, stepOf(command), line);
      watcher.onOutput(command, line);
    },
  };
}

/** The label of a command's output: `attempt 2`, `checks`. */
function stepOf(command: Command): string {
  switch (command.type) {
    case "start-attempt":
    case "ask-again":
      return `attempt ${command.attempt}`;
    case "start-gate":
    case "find-blame":
    case "adjudicate":
      return command.type === "start-gate" ? command.gate : `${command.type} ${command.gate}`;
    case "resume-work":
      return command.work.type === "start-gate" ? command.work.gate : `attempt ${command.work.attempt}`;
    default:
      return command.type;
  }
}

/** Receipts follow the work: those of a pull request are pushed, those of a branch or a merge stay local. */
function receiptsOf(root: string, plan: RunPlan, env: Engine["env"], journal: SqliteJournal): OwnReceipts {
  const { forge } = plan.config;
  return createReceipts(
    {
      root,
      env,
      journal,
      onNotice: (text) => plan.onNotice?.(text),
      push: async (git, refs, { policy, deliver }) => {
        if (forge.use !== "none" && (deliver ?? policy?.deliver) === "pull-request")
          await pushReceipts(git, forge.remote, refs);
      },
    },
    notedRange(root, journal),
  );
}

/**
 * The agents that outlive the engine; `undefined` if Remand runs from its sources in a test runner, which has no program
 * to start as the supervisor.
 */
function agentRunsIn(folder: string, env: Engine["env"]): SupervisedAgents | undefined {
  const program = supervisorProgram();
  if (program === null) return undefined;
  return createSupervisedAgents({ folder, cookie: env[COOKIE_VARIABLE], program });
}

/** Accepts new stories and messages while the engine is running. */
function sessionInputs(
  ledger: Ledger,
  journal: EngineWorld["journal"],
  only: Set<StoryId> | null,
  comments: PrCommentPoller,
): Pick<EngineSession, "registerStories" | "onMessage"> {
  return {
    registerStories: async (stories) => {
      for (const { id } of stories) only?.add(id);
      return registerStories(ledger, stories);
    },
    onMessage: (onNew) => {
      const stopPolling = comments.keepPolling(onNew);
      const unwatch = journal.watch((whose) => {
        // A read error is reported by the next use of the journal.
        if (whose === "others") void ledger.catchUp().then(onNew, onNew);
      });
      return () => {
        stopPolling();
        unwatch();
      };
    },
  };
}

async function undone(inPlace: InPlace | null, story: StoryId): Promise<readonly string[]> {
  const hint = "Its branch holds its work; your checkout was not touched.";
  if (inPlace === null) throw new RemandError("usage", "a story in a worktree has nothing to undo", hint);
  return inPlace.undo(story);
}

/** The stories to work on; `null` if they are all unfinished ones, which is cheaper to decide about. */
function askedStories({ stories }: RunPlan, state: RunState): Set<StoryId> | null {
  const ids = new Set(stories.map((story) => story.id));
  for (const [id, { ending }] of entries(state.stories)) if (ending === null && !ids.has(id)) return ids;
  return null;
}

/** Appends the policy and the stories as the config and the files have them now. */
export async function bringUpToDate(ledger: Ledger, stories: readonly Story[], planned: Policy): Promise<void> {
  const { policy } = ownRedactor().fields({ policy: planned });
  if (canonicalJson(ledger.state().policy) !== canonicalJson(policy))
    await appendWithRetry(ledger, null, [{ type: "policy.set", policy, by: "config" }]);
  await registerStories(ledger, stories);
}

export function lockedError(
  by: { readonly pid: number; readonly since: number; readonly command: string } | null,
): RemandError {
  const who =
    by === null ? "another process" : `process ${by.pid} (${by.command}), since ${new Date(by.since).toISOString()}`;
  return new RemandError(
    "journal-locked",
    `Remand is already running here: ${who}`,
    "Let it end, or stop it with `remand stop`. To watch it: `remand status`.",
  );
}
