import { setTimeout as sleep } from "node:timers/promises";
import type { BranchUpdate } from "../../app/host.ts";
import type { Policy } from "../../core/events/policy.ts";
import type { Story } from "../../core/stories/story.ts";
import { RemandError } from "../../core/events/error.ts";
import { dispatch, handBack } from "../../engine/dispatch.ts";
import { recoverStory } from "../../engine/recover.ts";
import type { FleetQueue } from "../../ports/queue.ts";
import { canonicalJson } from "../../stdx/canonical-json.ts";
import { prCommentPoller } from "../delivery.ts";
import { createFleetNotifications } from "../notifications/local-notifications.ts";
import { bringUpToDate } from "../open-engine.ts";
import type { ServerNotifications } from "../../app/notifications/server-notifications.ts";
import { type WorkerParts, policyFor, settingsNeedingRestart } from "./worker-parts.ts";

export interface Leadership {
  /** Starts or stops to enqueue jobs. */
  turn(leads: boolean): void;
  close(): Promise<void>;
}

/** What one worker does for all: decides and enqueues jobs, polls the forge, and deletes old rows. */
export function createLeadership(parts: WorkerParts, queue: FleetQueue, launched: Promise<void>): Leadership {
  let stop: AbortController | null = null;
  let life = Promise.resolve();
  const { plan, policy } = parts;
  const newest: NewestBranch = { stories: plan.run.stories, policy, needsRestart: "", isTold: false };
  return {
    turn: (leads) => {
      if (!leads) {
        stop?.abort();
        stop = null;
        return;
      }
      if (stop !== null) return;
      const mine = (stop = new AbortController());
      life = life.then(() => lead(parts, queue, newest, launched, mine.signal));
    },
    close: async () => {
      stop?.abort();
      await life;
    },
  };
}

/** The branch as this worker last read it. */
interface NewestBranch {
  stories: readonly Story[];
  policy: Policy;
  /** Settings that take effect only when the workers restart, as text. */
  needsRestart: string;
  /** Whether the journal has it. */
  isTold: boolean;
}

async function lead(
  parts: WorkerParts,
  queue: FleetQueue,
  newest: NewestBranch,
  launched: Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  await Promise.race([launched, whenAborted(signal)]);
  if (signal.aborted) return;
  const { ledger, world, plan } = parts;
  const say = (text: string): void => plan.run.onNotice?.(text);
  const poller = prCommentPoller(ledger, world, null, plan.run.config.people, say);
  const stopPolling = poller.keepPolling(() => undefined);
  const notifications = await notificationsOf(parts, say);
  // The earlier leader may have read newer stories, which this worker's own stories must not replace.
  newest.isTold = false;
  const tidying = Promise.all([tidy(parts, queue, signal), followBranch(parts, newest, signal)]);
  while (!signal.aborted) {
    try {
      await ledger.catchUp();
      const recover = async (story: Parameters<typeof recoverStory>[0]): Promise<void> => {
        say(`${story}: its worker is gone and left no job behind`);
        await recoverStory(story, ledger, world, "died");
      };
      await dispatch({ ledger, queue, clock: world.clock, recover }, signal);
    } catch (error) {
      // The database is probably unreachable: the work continues when it is back.
      say(error instanceof Error ? error.message : String(error));
      await sleep(AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
  }
  stopPolling();
  await notifications?.close();
  await tidying;
}

/** Jobs are enqueued even if notifications cannot be sent, for example because of an invalid address. */
async function notificationsOf(
  parts: WorkerParts,
  onNotice: (text: string) => void,
): Promise<ServerNotifications | null> {
  const { plan, world } = parts;
  try {
    return await createFleetNotifications({ ...parts, config: plan.run.config, journal: world.journal, onNotice });
  } catch (error) {
    onNotice(`notify: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  }
}

function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Reads new stories, changed stories and new rules from the branch. */
async function followBranch(parts: WorkerParts, newest: NewestBranch, signal: AbortSignal): Promise<void> {
  const { followMs, run } = parts.plan;
  let trouble = "";
  while (!signal.aborted) {
    try {
      await readBranch(parts, newest);
      trouble = "";
    } catch (error) {
      // The remote is probably unreachable. Reported once: meanwhile the stories of the journal are worked on.
      const text = error instanceof Error ? error.message : String(error);
      if (text !== trouble) run.onNotice?.(text);
      trouble = text;
    }
    await sleep(newest.isTold ? followMs : Math.min(followMs, AGAIN_MS), undefined, { signal }).catch(() => undefined);
  }
}

async function readBranch(parts: WorkerParts, newest: NewestBranch): Promise<void> {
  const { ledger, plan } = parts;
  await ledger.catchUp();
  // A journal without rules gets those that the worker started with, even if the branch has changed since.
  if (ledger.state().policy === null) await bringUpToDate(ledger, newest.stories, newest.policy);
  const news = await plan.reread();
  if (news === "same" && newest.isTold) return;
  if (news !== "broken") {
    if (news !== "same") await take(news, newest, parts);
    await bringUpToDate(ledger, newest.stories, newest.policy);
  }
  newest.isTold = true;
}

/** New rules apply to stories that start from now on; started ones keep theirs. */
async function take(news: BranchUpdate, newest: NewestBranch, parts: WorkerParts): Promise<void> {
  const say = (text: string): void => parts.plan.run.onNotice?.(text);
  const known = parts.ledger.state().policy ?? newest.policy;
  newest.stories = news.stories;
  newest.policy = known;
  const later = settingsNeedingRestart(parts.plan.run.config, news.config).join(", ");
  if (later !== newest.needsRestart && later !== "")
    say(`remand.yaml has changed on the branch; restart the workers to apply: ${later}`);
  newest.needsRestart = later;
  if (canonicalJson(news.policy) === canonicalJson(known)) return;
  try {
    newest.policy = await policyFor(news, parts);
    say("the rules of remand.yaml have changed on the branch: they apply to stories that start from now on");
  } catch (error) {
    if (!(error instanceof RemandError)) throw error;
    say(`the rules of remand.yaml on the branch are invalid and were not applied: ${error.message}`);
  }
}

/** Deletes ended jobs: the library would keep them forever. */
async function tidy(parts: WorkerParts, queue: FleetQueue, signal: AbortSignal): Promise<void> {
  let strays: readonly string[] = [];
  while (!signal.aborted) {
    await sleep(TIDY_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    try {
      await queue.forget({ endedBefore: Date.now() - KEPT_MS });
      strays = await giveStraysBack(parts, queue, strays);
    } catch (error) {
      parts.plan.run.onNotice?.(error instanceof Error ? error.message : String(error));
    }
  }
}

/** Requeues jobs of unknown workers, which left before the jobs ended. Only jobs that are seen twice. */
async function giveStraysBack(
  { pool, ledger, world }: WorkerParts,
  queue: FleetQueue,
  before: readonly string[],
): Promise<readonly string[]> {
  const held = await queue.claimedJobs();
  const rows =
    held.length === 0 ? [] : await pool.query<{ id: string }>({ text: `SELECT id FROM ${pool.schema}.worker` });
  const known = new Set(rows.map(({ id }) => id));
  const strays = held.filter(({ holder }) => !known.has(holder));
  const again = strays.filter(({ id }) => before.includes(id));
  for (const { id } of again) await handBack(id, ledger, world, "stopped");
  if (again.length > 0) await queue.release(again);
  return strays.map(({ id }) => id);
}

const AGAIN_MS = 1000;
const TIDY_MS = 5000;
const KEPT_MS = 60_000;
