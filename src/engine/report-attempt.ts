import type { AttemptFinished } from "../domain/event.ts";
import type { StoryId } from "../domain/ids.ts";
import type { Phase } from "../domain/phase.ts";
import type { Running, StoryState } from "../domain/story-state.ts";
import { headNote } from "./head-note.ts";
import { appendWhile } from "./append-while.ts";
import { disputedFindings } from "./disputes.ts";
import type { Ledger } from "./ledger.ts";
import { noteRework, openSheet, productOfAttempt } from "./phase-product.ts";
import { putBackOutside } from "./put-back.ts";
import type { EngineWorld } from "./world.ts";

/** Keeps what the agent left, as a commit, and says how it ended. What changed is asked of git. Safe to repeat. */
export async function reportAttempt(
  ledger: Ledger,
  world: EngineWorld,
  before: StoryState,
  attempt: number,
  ended: EndedAttempt,
): Promise<void> {
  const { id, title } = before.story;
  const running = ledger.story(id);
  const phase = runningPhase(running);
  const sheet = await openSheet(world, before);
  if (sheet !== null && ended.outcome.type === "ready") await noteRework(world, before, phase, sheet);
  const role = running.attempts.at(-1)?.role;
  const whose = role === undefined ? { phase } : { phase, role };
  const note = {
    attempt,
    subject: `${title} (attempt ${attempt})`,
    journalHead: await headNote(world.journal),
    ...whose,
  };
  const kept = await world.workspace.keep(id, note);
  const { tree, commit, ...beyond } = await putBackOutside(world, before, kept, ended, {
    // New work has none, even where the work before it had one.
    scope: running.scope,
    note: { ...note, subject: `${note.subject}: what was beyond its scope put back` },
    except: sheet?.path ?? null,
    remember: (putBack) => world.outbox.put(attemptKey(id, attempt), JSON.stringify({ ...ended, putBack })),
  });
  const changed =
    before.tree === null || before.tree === tree ? [] : await world.workspace.changed(id, before.tree, tree);
  const product =
    sheet === null
      ? { productChanged: changed.length > 0 }
      : await productOfAttempt(world, before, phase, sheet, { tree, changed, outcome: ended.outcome });
  const disputes = await disputedFindings(world, before, ended.message);
  await appendWhile(ledger, id, isAttempt(attempt), [
    { type: "attempt.finished", attempt, tree, commit, changed, ...product, ...ended, ...beyond },
    ...disputes,
  ]);
  await world.outbox.drop(attemptKey(id, attempt));
}

/** How an agent ended, as it is kept until the journal has it. */
export type EndedAttempt = Omit<
  AttemptFinished,
  "type" | "attempt" | "tree" | "commit" | "changed" | "productChanged" | "product"
>;

/** The attempt that runs is the last of the list. */
export const runningPhase = ({ attempts, phase }: StoryState): Phase => attempts.at(-1)?.phase ?? phase;

export const isAttempt =
  (attempt: number) =>
  (running: Running): boolean =>
    running.type === "attempt" && running.attempt === attempt;

export function attemptKey(story: StoryId, attempt: number): string {
  return `${story}/attempt-${attempt}`;
}
