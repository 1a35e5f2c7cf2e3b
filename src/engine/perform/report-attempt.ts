import type { AttemptFinished, Event } from "../../core/events/event.ts";
import type { EvidenceId, StoryId } from "../../core/events/ids.ts";
import type { Phase } from "../../core/stories/story.ts";
import type { Running, StoryState } from "../../core/stories/story-state.ts";
import { type Ledger, appendIfRunning } from "../ledger.ts";
import { noteRework, openFinishedPage, productOfAttempt } from "../phase-product.ts";
import type { EngineWorld } from "../world.ts";
import { readDisputes } from "../../parse/agent/agent-answer.ts";
import { worstFirst } from "../../write/briefs/parts.ts";
import { type Scope, breachOf } from "../../core/stories/scope.ts";
import type { CommitNote, KeptCommit } from "../../ports/workspace.ts";
import { headNote } from "./steps.ts";
import { isReviewed } from "../../core/gates/gate.ts";

/** Commits the agent's work and reports the outcome. The changed files come from git. Safe to repeat. */
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
  const sheet = await openFinishedPage(world, before);
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
  const { tree, commit, ...beyond } = await revertOutOfScope(world, before, kept, ended, {
    // The scope of the running attempt: new work has none, even if earlier work had one.
    scope: running.scope,
    note: { ...note, subject: `${note.subject}: revert files outside the scope` },
    except: sheet?.path ?? null,
    remember: (putBack) => world.outbox.put(attemptKey(id, attempt), JSON.stringify({ ...ended, putBack })),
  });
  const changed =
    before.tree === null || before.tree === tree ? [] : await world.workspace.changedPaths(id, before.tree, tree);
  const product =
    sheet === null
      ? { productChanged: changed.length > 0 }
      : await productOfAttempt(world, before, phase, sheet, { tree, changed, outcome: ended.outcome });
  const disputes = await disputedFindings(world, before, ended.message);
  await appendIfRunning(ledger, id, isAttempt(attempt), [
    { type: "attempt.finished", attempt, tree, commit, changed, ...product, ...ended, ...beyond },
    ...disputes,
  ]);
  await world.outbox.drop(attemptKey(id, attempt));
}

/** An agent's result, stored until the journal has it. */
export type EndedAttempt = Omit<
  AttemptFinished,
  "type" | "attempt" | "tree" | "commit" | "changed" | "productChanged" | "product"
>;

/** Returns the phase of the last attempt, which is the running one. */
export const runningPhase = ({ attempts, phase }: StoryState): Phase => attempts.at(-1)?.phase ?? phase;

export const isAttempt =
  (attempt: number) =>
  (running: Running): boolean =>
    running.type === "attempt" && running.attempt === attempt;

export function attemptKey(story: StoryId, attempt: number): string {
  return `${story}/attempt-${attempt}`;
}

/**
 * Returns the findings that the author disputes. Only a reviewer's findings that the brief asked to fix can be
 * disputed: the output of a command is not an opinion. A number refers to the brief's list.
 */
export async function disputedFindings(
  world: Pick<EngineWorld, "evidence">,
  { rework, gates, attempts, disputes }: StoryState,
  message: EvidenceId | undefined,
): Promise<readonly Event[]> {
  const gate = rework?.gate;
  if (message === undefined || gate === undefined || gate === "person" || !isReviewed(gate)) return [];
  const last = gates[gate]?.last;
  const text = await world.evidence.read(message);
  if (last === undefined || last === null || text === null) return [];
  const ruled = new Set([...disputes, ...(gates[gate]?.upheld ?? [])].map(({ finding }) => finding));
  const listed = worstFirst(last.findings.filter(({ id }) => last.blocking.includes(id)));
  const by = attempts.at(-1)?.role ?? rework?.route.role ?? "the author";
  const events = new Map<string, Event>();
  for (const { about, rationale } of readDisputes(text)) {
    const finding = listed.find(({ id }) => id === about) ?? listed[Number(about) - 1];
    if (finding === undefined || ruled.has(finding.id)) continue;
    events.set(finding.id, { type: "finding.disputed", gate, finding: finding.id, by, rationale });
  }
  return [...events.values()];
}

type ScopeResult = Pick<AttemptFinished, "exceptions" | "putBack">;

/**
 * If the config says so, reverts whole files outside the scope that have no accepted reason; the gates then run on the
 * rest. The agent's version stays in the history. `remember` gets the files before they are reverted, because after a
 * crash in between they would look untouched.
 */
export async function revertOutOfScope(
  { workspace }: EngineWorld,
  before: StoryState,
  kept: KeptCommit,
  ended: ScopeResult,
  how: {
    readonly scope: Scope | null;
    readonly note: CommitNote;
    /** The story's own file: the engine's entries in it stay. */
    readonly except: string | null;
    remember(paths: readonly string[]): Promise<void>;
  },
): Promise<KeptCommit & Pick<AttemptFinished, "putBack">> {
  const known = ended.putBack ?? [];
  const done = known.length === 0 ? {} : { putBack: known };
  const { policy, story, tree: from } = before;
  const { scope } = how;
  if (scope === null || from === null || policy?.scope.outside !== "revert") return { ...kept, ...done };
  const reasons = scope.exceptions === "with-rationale" ? (ended.exceptions ?? []) : [];
  // An agent that reverts what an earlier attempt was rejected for must not be reverted here.
  const restored = scope.restore ?? [];
  const excused = new Set([...reasons.map(({ path }) => path.replace(/^\.\//, "")), ...restored, how.except]);
  const changed = await workspace.changedPaths(story.id, from, kept.tree);
  const outside = changed.filter(
    (path) => !excused.has(path) && breachOf(path, scope, policy.scope.testPaths) !== null,
  );
  if (outside.length === 0) return { ...kept, ...done };
  const putBack = [...new Set([...known, ...outside])].sort();
  await how.remember(putBack);
  return { ...(await workspace.restorePaths(story.id, outside, from, how.note)), putBack };
}
