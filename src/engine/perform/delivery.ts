import type { StartGate, StoryCommand } from "../../core/stories/command.ts";
import { RemandError } from "../../core/events/error.ts";
import type { StoryEvent } from "../../core/events/event.ts";
import type { StoryState } from "../../core/stories/story-state.ts";
import type { KeptCommit, Integration, UnverifiedCommit } from "../../ports/workspace.ts";
import { writePullRequest } from "../../write/reports/pull-request.ts";
import { type Ledger, appendIfRunning, isStep } from "../ledger.ts";
import { gateRequest } from "../gate-request.ts";
import type { EngineWorld } from "../world.ts";
import { headNote } from "./steps.ts";
import type { CommandContext, ContextOf } from "./command-context.ts";

/**
 * Delivers accepted work: exactly the commit that passed the gates, whatever the branch points to now. If the target has
 * moved, it is merged into the branch first, and the gates run again.
 */
export async function deliver(performing: ContextOf<"deliver">): Promise<void> {
  const { command, ledger, world } = performing;
  const { story, how } = command;
  const { integration } = world;
  if (integration === null) throw cannotDeliver(how);
  if (!(await ledger.append(story, [{ type: "step.started", step: "delivery" }]))) return;
  // A person wants accepted work delivered: its worktree was removed when it was accepted.
  if (ledger.story(story).deliver !== undefined) await world.workspace.prepare(story);
  const event = await outcomeOf(performing, integration, ledger.story(story));
  if (event !== null) await appendIfRunning(ledger, story, isStep("delivery"), [event]);
}

async function outcomeOf(
  performing: ContextOf<"deliver">,
  integration: Integration,
  state: StoryState,
): Promise<StoryEvent | null> {
  const { command, world, signal } = performing;
  const { how, claimedBy, approvedBy } = command;
  const { id } = state.story;
  const verified = verifiedIn(state);
  if (claimedBy !== undefined) return claimChecked(integration, state, claimedBy);
  const stray = await integration.align(id, verified, command.drop ?? null);
  if (stray !== null) return refusal(stray);
  if (how !== "merge")
    return { type: "work.delivered", how, where: await proposeWork(state, world, integration, verified, signal) };
  const merge = await integration.merge(id, verified, await noteOf(state, world, `Merge ${state.story.title}`));
  if (merge === null) return mergeMovedTarget(performing, integration, state);
  const where = `${merge.branch} at ${merge.commit.slice(0, 12)}`;
  return approvedBy === undefined
    ? { type: "work.delivered", how, where }
    : { type: "work.delivered", how, where: `${where}, approved by ${approvedBy}`, by: approvedBy };
}

/** Returns the commit that every gate passed, or that a person waived. */
const verifiedIn = ({ commit, tree }: StoryState): KeptCommit => ({ commit, tree: tree! });

/** Checks with git whether a merge that a person reports has happened. */
async function claimChecked(integration: Integration, state: StoryState, by: string): Promise<StoryEvent> {
  const { target, isHeld } = await integration.holds(state.story.id, verifiedIn(state));
  if (isHeld) {
    const where = `${target.branch} at ${target.commit.slice(0, 12)}, merged by ${by}`;
    return { type: "work.delivered", how: "merge", where, by };
  }
  const detail = `${target.branch} at ${target.commit.slice(0, 12)} does not hold ${state.commit.slice(0, 12)}, neither by its history nor by its content`;
  return { type: "delivery.refused", why: "not-merged", detail };
}

export function refusal({ commit, author, subject }: UnverifiedCommit): StoryEvent {
  const what = `${commit.slice(0, 12)} ("${subject}", by ${author}) is on the branch, and no gate has passed it`;
  return { type: "delivery.refused", why: "branch-moved", detail: what, commit };
}

/** Merges the moved target into the branch. A conflict is a failure of the merge gate. */
async function mergeMovedTarget(
  { command, ledger, world, signal }: ContextOf<"deliver">,
  integration: Integration,
  state: StoryState,
): Promise<StoryEvent | null> {
  await noteTarget(ledger, integration);
  const { isCurrent, conflicts, target } = await integration.mergeStatus(command.story, state.commit);
  const gate = world.gates.get("merge");
  if (conflicts.length > 0 && gate !== undefined) {
    const { path, ...place } = await world.workspace.prepare(command.story);
    const asked = { gate: "merge", tree: state.tree!, stages: [], since: null, answer: [], timeoutMs: 0 } as const;
    const request = gateRequest(state, { path, ...place }, { ...asked, key: command.key });
    const judgement = await gate.run(request, { signal, onOutput: () => undefined });
    if (signal.aborted) return null;
    if (judgement.result === "fail") return { type: "gate.judged", judgement };
  }
  // The target moved again in the meantime: repeat.
  if (isCurrent || conflicts.length > 0)
    return { type: "work.interrupted", detail: `${target.branch} moved during the merge`, cause: "target-moved" };
  return updateFromTarget(state, world, integration);
}

/** Delivers without a forge: the branch, pushed if there is a remote, and the text for a pull request. */
async function proposeWork(
  state: StoryState,
  world: EngineWorld,
  integration: Integration,
  { commit }: KeptCommit,
  signal: AbortSignal,
): Promise<string> {
  const text = writePullRequest(state);
  if (world.forge === null) {
    const kept = await world.evidence.keep(text.body);
    const { branch } = await world.workspace.prepare(state.story.id);
    const draft = world.pullRequestDraft ?? null;
    // Stored as evidence first, which removes secrets before the text reaches the file.
    const file =
      draft === null
        ? world.evidence.placeOf(kept)
        : await draft.write(state.story.id, (await world.evidence.read(kept)) ?? text.body);
    const standing = `${branch}; the text of its pull request is ${file}`;
    if (draft === null || !(await draft.hasRemote())) return standing;
    try {
      const { remote, base } = await integration.publish(state.story.id, commit);
      const title = `'${text.title.replaceAll("'", "'\\''")}'`;
      return `${branch}, pushed to ${remote}; gh pr create --head ${branch} --base ${base} --title ${title} --body-file ${file}`;
    } catch (error) {
      if (!(error instanceof RemandError)) throw error;
      return `${standing}; not pushed: ${error.message}`;
    }
  }
  const { branch, base } = await integration.publish(state.story.id, commit);
  const { url } = await world.forge.pullRequest({ branch, base, ...text }, signal);
  return url;
}

/**
 * Merges the target's new commits into the branch before a merge check, if there is no conflict. The other gates then
 * run on the new files first. Returns whether the check must wait for them.
 */
export async function mergeTargetFirst(
  { command, ledger, world }: CommandContext<StoryCommand & StartGate & { readonly key: string }>,
  integration: Integration,
): Promise<boolean> {
  const { story } = command;
  await noteTarget(ledger, integration);
  const state = ledger.story(story);
  const { isCurrent, conflicts } = await integration.mergeStatus(story, state.commit);
  if (isCurrent || conflicts.length > 0) return false;
  await updateAs("update", story, ledger, world, integration);
  return true;
}

/**
 * Writes conflict markers into the files for the agent that resolves them. The attempt calls it, so it uses a
 * developer's slot, not a check's.
 */
export async function bringConflictsIn(
  story: StoryCommand["story"],
  ledger: Ledger,
  world: EngineWorld,
): Promise<boolean> {
  const { integration } = world;
  if (integration === null) return true;
  const { isCurrent } = await integration.mergeStatus(story, ledger.story(story).commit);
  return isCurrent || updateAs("dispatch", story, ledger, world, integration);
}

/**
 * Updates the branch, and returns whether it did. A branch with a commit that a person must decide about is left alone.
 */
async function updateAs(
  step: "update" | "dispatch",
  story: StoryCommand["story"],
  ledger: Ledger,
  world: EngineWorld,
  integration: Integration,
): Promise<boolean> {
  if (!(await ledger.append(story, [{ type: "step.started", step }]))) return false;
  const state = ledger.story(story);
  const stray = await integration.align(story, verifiedIn(state), null);
  const event = stray === null ? await updateFromTarget(state, world, integration) : refusal(stray);
  return (await appendIfRunning(ledger, story, isStep(step), [event])) && stray === null;
}

async function updateFromTarget(before: StoryState, world: EngineWorld, integration: Integration): Promise<StoryEvent> {
  const { branch } = await integration.target();
  const note = await noteOf(before, world, `${before.story.title}: with the newest ${branch}`);
  const { id } = before.story;
  const { tree, commit, conflicts } = await integration.update(id, verifiedIn(before), note);
  const changed = await world.workspace.changedPaths(id, before.tree!, tree);
  return { type: "branch.updated", tree, commit, changed, conflicts };
}

/** Records a moved target, because a merge check is valid for one base only. */
async function noteTarget(ledger: Ledger, integration: Integration): Promise<void> {
  const { commit } = await integration.target();
  if (ledger.state().base !== commit) await ledger.append(null, [{ type: "base.moved", commit }]);
}

/** Adopts work that a person fixed, or began elsewhere: the gates run on its commit from now on. */
export async function adoptWork({ command, ledger, world }: ContextOf<"adopt-work">): Promise<void> {
  const { story, by, branch } = command;
  if (!(await ledger.append(story, [{ type: "step.started", step: "adopt" }]))) return;
  const before = ledger.story(story);
  await world.workspace.prepare(story);
  const from = branch === undefined ? `as ${by} left it` : `with the work on ${branch}`;
  const note = await noteOf(before, world, `${before.story.title}: ${from}`);
  const { tree, commit } = await world.workspace.adopt(story, verifiedIn(before), note, branch);
  const changed = before.tree === tree ? [] : await world.workspace.changedPaths(story, before.tree!, tree);
  await appendIfRunning(ledger, story, isStep("adopt"), [
    { type: "work.adopted", tree, commit, changed, by, ...(branch === undefined ? {} : { branch }) },
  ]);
}

/** Fixes formatting by a command, once, before a failure is charged. */
export async function fixLint({ command, ledger, world, signal }: ContextOf<"fix-lint">): Promise<void> {
  const { story } = command;
  if (!(await ledger.append(story, [{ type: "step.started", step: "lint-fix" }]))) return;
  const before = ledger.story(story);
  const { path } = await world.workspace.prepare(story);
  await world.fixLint?.(path, { signal, onOutput: (line) => world.watcher.onOutput(command, line) });
  if (signal.aborted) return;
  const { tree, commit } = await world.workspace.keep(
    story,
    await noteOf(before, world, `${before.story.title}: lint`),
  );
  const changed = before.tree === null ? [] : await world.workspace.changedPaths(story, before.tree, tree);
  await appendIfRunning(ledger, story, isStep("lint-fix"), [{ type: "lint.fixed", tree, commit, changed }]);
}

async function noteOf(state: StoryState, world: EngineWorld, subject: string) {
  return { attempt: state.attempts.length, subject, journalHead: await headNote(world.journal) };
}

function cannotDeliver(how: string): RemandError {
  return new RemandError(
    "config-invalid",
    `work in a checkout of your own cannot be delivered by ${how}`,
    "Set `deliver: branch`.",
  );
}
