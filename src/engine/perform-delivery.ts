import type { StartGate, StoryCommand } from "../domain/command.ts";
import type { StoryState } from "../domain/story-state.ts";
import { RemandError } from "../domain/error.ts";
import type { Integration } from "../ports/integration.ts";
import { writePullRequest } from "../writers/pull-request.ts";
import { appendWhile, isStep } from "./append-while.ts";
import type { Ledger } from "./ledger.ts";
import type { Performing, PerformingOf } from "./performing.ts";
import type { EngineWorld } from "./world.ts";

/** Puts accepted work where it is wanted. A target that has moved meanwhile closes the merge gate again. */
export async function deliver({ command, ledger, world, signal }: PerformingOf<"deliver">): Promise<void> {
  const { story, how } = command;
  if (world.integration === null) throw cannotDeliver(how);
  if (how === "merge" && (await noteTarget(ledger, world.integration))) return;
  if (!(await ledger.append(story, [{ type: "step.started", step: "delivery" }]))) return;
  const state = ledger.story(story);
  const where =
    how === "merge"
      ? await merged(state, world, world.integration)
      : await proposed(state, world, world.integration, signal);
  if (where === null) {
    // Another story was quicker. Nothing was done, and the merge check looks at what is there now.
    await noteTarget(ledger, world.integration);
    const detail = "its target moved while it was being merged";
    await appendWhile(ledger, story, isStep("delivery"), [{ type: "work.interrupted", detail }]);
    return;
  }
  await appendWhile(ledger, story, isStep("delivery"), [{ type: "work.delivered", how, where }]);
}

async function merged(state: StoryState, world: EngineWorld, integration: Integration): Promise<string | null> {
  const merge = await integration.merge(state.story.id, await noteOf(state, world, `Merge ${state.story.title}`));
  return merge === null ? null : `${merge.branch} at ${merge.commit.slice(0, 12)}`;
}

/** Without a forge there is the branch, and a text that a person can use. */
async function proposed(
  state: StoryState,
  world: EngineWorld,
  integration: Integration,
  signal: AbortSignal,
): Promise<string> {
  const text = writePullRequest(state);
  if (world.forge === null) {
    const kept = await world.evidence.keep(`# ${text.title}\n\n${text.body}`);
    const { branch } = await world.workspace.prepare(state.story.id);
    return `${branch}; the text of its pull request is ${world.evidence.placeOf(kept)}`;
  }
  const { branch, base } = await integration.publish(state.story.id);
  const { url } = await world.forge.pullRequest({ branch, base, ...text }, signal);
  return url;
}

/**
 * Before a merge check: what the target has got since then is brought into the branch, if that goes by itself. Then the
 * gates see a new state of the files first. Says whether it did so.
 */
export async function broughtUpToDate(
  { command, ledger, world }: Performing<StoryCommand & StartGate & { readonly key: string }>,
  integration: Integration,
): Promise<boolean> {
  await noteTarget(ledger, integration);
  const { isCurrent, conflicts } = await integration.standing(command.story);
  if (isCurrent || conflicts.length > 0) return false;
  if (!(await ledger.append(command.story, [{ type: "step.started", step: "update" }]))) return true;
  await update(command.story, ledger, world, integration);
  return true;
}

/** The agent who is to resolve a conflict finds its marks in the files. */
export async function bringConflictsIn(
  story: StoryCommand["story"],
  ledger: Ledger,
  world: EngineWorld,
): Promise<void> {
  if (world.integration === null) return;
  const { isCurrent } = await world.integration.standing(story);
  if (isCurrent) return;
  if (!(await ledger.append(story, [{ type: "step.started", step: "update" }]))) return;
  await update(story, ledger, world, world.integration);
}

async function update(
  story: StoryCommand["story"],
  ledger: Ledger,
  world: EngineWorld,
  integration: Integration,
): Promise<void> {
  const before = ledger.story(story);
  const { branch } = await integration.target();
  const { tree, commit, conflicts } = await integration.update(
    story,
    await noteOf(before, world, `${before.story.title}: with what ${branch} has got meanwhile`),
  );
  const changed = before.tree === null ? [] : await world.workspace.changed(story, before.tree, tree);
  await appendWhile(ledger, story, isStep("update"), [{ type: "branch.updated", tree, commit, changed, conflicts }]);
}

/** A merge check speaks of one base. Says whether the base is another one than was known. */
async function noteTarget(ledger: Ledger, integration: Integration): Promise<boolean> {
  const { commit } = await integration.target();
  if (ledger.state().base === commit) return false;
  await ledger.append(null, [{ type: "base.moved", commit }]);
  return true;
}

/** Formatting is put right by command, once, before anybody is charged for it. */
export async function fixLint({ command, ledger, world, signal }: PerformingOf<"fix-lint">): Promise<void> {
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
  const changed = before.tree === null ? [] : await world.workspace.changed(story, before.tree, tree);
  await appendWhile(ledger, story, isStep("lint-fix"), [{ type: "lint.fixed", tree, commit, changed }]);
}

async function noteOf(state: StoryState, world: EngineWorld, subject: string) {
  const { hash } = await world.journal.head();
  return { attempt: state.attempts.length, subject, journalHead: hash };
}

function cannotDeliver(how: string): RemandError {
  return new RemandError(
    "config-invalid",
    `work in a checkout of your own cannot be delivered by ${how}`,
    "Set `deliver: branch`.",
  );
}
