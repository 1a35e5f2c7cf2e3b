import { randomBytes } from "node:crypto";
import type { Owned, RunPlan } from "../cli/host.ts";
import { RemandError } from "../domain/error.ts";
import type { StoryId } from "../domain/ids.ts";
import type { RunState } from "../domain/run-state.ts";
import type { Story } from "../domain/story.ts";
import { drive } from "../engine/drive.ts";
import { openLedger, type Ledger } from "../engine/ledger.ts";
import { recover } from "../engine/recover.ts";
import type { EngineWorld } from "../engine/world.ts";
import { sha256 } from "../stdx/sha256.ts";
import { canonicalJson } from "../stdx/canonical-json.ts";
import { byText, entries, lookup } from "../stdx/sorted-map.ts";
import { COOKIE_VARIABLE, cookieValue, killLeftovers } from "../adapters/process/leftovers.ts";
import { takeOwnership } from "../adapters/journal/ownership.ts";
import { createSqliteJournal, type SqliteJournal } from "../adapters/journal/sqlite-journal.ts";
import { createSystemClock } from "../adapters/clock/system-clock.ts";
import { createLocalQueue } from "../adapters/queue/local-queue.ts";
import { createInPlace } from "../adapters/git/in-place.ts";
import { createWorktrees } from "../adapters/git/worktrees.ts";
import { ablePolicy } from "./able-policy.ts";
import { leavePlaces } from "./leave-places.ts";
import { gatesOf } from "./gates.ts";
import { noteStories } from "./note-stories.ts";
import { projectEvidence } from "./project-evidence.ts";
import { rosterOf } from "./roster.ts";
import { stateFolder, type StateFolder } from "./state-folder.ts";
import { insist } from "./tell.ts";

/** Becomes the one engine of a checkout, with everything that it works with. */
export async function own(
  root: string,
  plan: RunPlan,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Owned> {
  const folder = stateFolder(root);
  const claim = await takeOwnership(folder.journal);
  if ("heldBy" in claim) throw held(claim.heldBy);
  // Nobody else drives this checkout, so whatever still carries its cookie was left by an engine that is gone.
  const cookie = `remand-${sha256(root).slice(0, 24)}`;
  await killLeftovers(cookie);
  const journal = await createSqliteJournal(folder.journal);
  try {
    return await owned(
      root,
      folder,
      plan,
      { ...env, [COOKIE_VARIABLE]: cookieValue(env[COOKIE_VARIABLE], cookie) },
      journal,
      async () => {
        await journal.close();
        await claim.release();
      },
    );
  } catch (error) {
    await journal.close();
    await claim.release();
    throw error;
  }
}

async function owned(
  root: string,
  folder: StateFolder,
  plan: RunPlan,
  env: Readonly<Record<string, string | undefined>>,
  journal: SqliteJournal,
  close: () => Promise<void>,
): Promise<Owned> {
  const clock = createSystemClock();
  const evidence = await projectEvidence(root, folder.evidence);
  const inPlace = plan.place === "in-place" ? createInPlace({ root, state: folder.path }) : null;
  const { setup, share } = plan.config.workspace;
  const onNotice = (text: string): void => plan.onNotice?.(text);
  const workspace = inPlace ?? createWorktrees({ root, state: folder.path, setup, share, onNotice });
  const gates = gatesOf(plan, { evidence, clock, workspace, env });
  const policy = ablePolicy(plan.policy, new Set(gates.keys()));
  const world: EngineWorld = {
    root,
    journal,
    clock,
    outbox: journal.outbox,
    queue: createLocalQueue({ limits: { ...policy.concurrency, engine: 100 }, clock }),
    workspace,
    evidence,
    gates,
    roster: await rosterOf(root, plan, { clock, env }),
    watcher: plan.watcher,
    nonce: () => randomBytes(12).toString("hex"),
  };
  const ledger = await openLedger(world);
  const interrupted = await recover(ledger, world);
  if (inPlace === null) await leavePlaces(folder.path, ledger.state(), workspace);
  if (canonicalJson(ledger.state().policy) !== canonicalJson(policy))
    await insist(ledger, null, [{ type: "policy.set", policy, by: "config" }]);
  // Together, because each would wait for the disk.
  await Promise.all(plan.stories.map((story) => shelve(ledger, story)));
  const only = asked(plan, ledger.state());
  return {
    workspace,
    evidence,
    state: () => ledger.state(),
    interrupted,
    drive: async (signal) => {
      const state = await drive(ledger, world, signal, only);
      await noteStories(root, plan, state, journal.read(0));
      return state;
    },
    tell: (stream, events) => insist(ledger, stream, events),
    undo: async (story) => {
      if (inPlace === null)
        throw new RemandError(
          "usage",
          "a story in a worktree has nothing to undo",
          "Its branch holds its work; your checkout was not touched.",
        );
      await inPlace.undo(story);
    },
    close,
  };
}

/** The stories to work on; `null` where that is all there are to work on, which is cheaper to decide about. */
function asked({ stories }: RunPlan, state: RunState): ReadonlySet<StoryId> | null {
  const ids = new Set(stories.map((story) => story.id));
  for (const [id, { ending }] of entries(state.stories)) if (ending === null && !ids.has(id)) return ids;
  return null;
}

/** Puts a story into the journal, or notes that its file says something else than before. */
async function shelve(ledger: Ledger, story: Story): Promise<void> {
  const known = lookup(ledger.state().stories, story.id, byText);
  if (known === undefined) return insist(ledger, story.id, [{ type: "story.added", story }]);
  const what = (Object.keys({ ...known.story, ...story }) as (keyof Story)[]).filter(
    (key) => canonicalJson(known.story[key] ?? null) !== canonicalJson(story[key] ?? null),
  );
  if (what.length > 0 && known.ending === null)
    await insist(ledger, story.id, [{ type: "story.changed", story, what }]);
}

function held(by: { readonly pid: number; readonly since: number; readonly command: string } | null): RemandError {
  const who =
    by === null ? "another process" : `process ${by.pid} (${by.command}), since ${new Date(by.since).toISOString()}`;
  return new RemandError(
    "journal-locked",
    `Remand already works here: ${who}`,
    "Let it end, or stop it with `remand stop`. To look on: `remand status`.",
  );
}
