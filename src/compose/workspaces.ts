import { isAbsolute, join } from "node:path";
import { readdir } from "node:fs/promises";
import type { Config } from "../config/config.ts";
import { type InPlace, createInPlace } from "../adapters/git/worktree/in-place.ts";
import { createExperimentRunner } from "../adapters/git/experiment-runner.ts";
import { userStateFolder } from "../adapters/git/repository.ts";
import { type WorkStarter, createWorkStarter } from "../adapters/git/dependencies/work-start.ts";
import { createWorktrees } from "../adapters/git/worktree/worktrees.ts";
import type { RunPlan } from "../app/host.ts";
import type { ExperimentRunner } from "../ports/experiment-runner.ts";
import type { Workspace, Integration } from "../ports/workspace.ts";
import type { RunState } from "../core/stories/run-state.ts";
import { byText, entries, lookup } from "../stdx/sorted-map.ts";
import { storyId } from "../core/events/ids.ts";
import { setupVariablesOf } from "./checks/check-variables.ts";
import type { StateFolder } from "./state-folder.ts";
import type { Sandboxes } from "../adapters/sandbox/open-sandboxes.ts";

/** A container or another machine cannot see a mount of this machine, so files are copied instead. */
const checkoutMounts = ({ environments, sandbox }: Config): { readonly mount?: false } =>
  sandbox.use === "container" || Object.values(environments).some(({ run }) => run !== undefined)
    ? { mount: false }
    : {};

/** Where the stories' code is. */
export interface WorkspaceLocations {
  readonly workspace: Workspace;
  /** `null` where work happens in a person's own checkout. */
  readonly integration: Integration | null;
  readonly experimentRunner: ExperimentRunner;
  /** The state before an agent worked. */
  readonly start: WorkStarter;
}

/** On one machine: a worktree for each story, or the checkout itself. */
export function localWorkspaces(
  root: string,
  folder: StateFolder,
  plan: RunPlan,
  env: Readonly<Record<string, string | undefined>>,
  sandboxes: Sandboxes,
): WorkspaceLocations & { readonly inPlace: InPlace | null } {
  const options = workspaceOptions(root, folder, plan, env, sandboxes);
  const userState = userStateFolder(env);
  const start = createWorkStarter(root, { ...options, userState, ...privateHomeOf(env) });
  const experimentRunner = createExperimentRunner({
    ...options,
    userState,
    shownAt: sandboxes.shownAt,
    start: () => start.now(),
  });
  if (plan.place === "in-place") {
    const inPlace = createInPlace({ root, state: folder.path });
    return { workspace: inPlace, integration: null, experimentRunner, start, inPlace };
  }
  const worktrees = createWorktrees({ ...options, remote: plan.config.forge.remote, ...storyFilesOption(plan) });
  return { workspace: worktrees, integration: worktrees, experimentRunner, start, inPlace: null };
}

/** Settings of the checkout that all workspaces share. */
export function workspaceOptions(
  root: string,
  folder: StateFolder,
  { config, onNotice }: Pick<RunPlan, "config" | "onNotice">,
  env: Readonly<Record<string, string | undefined>>,
  { agents: sandbox }: Sandboxes,
) {
  const { setup, share, carry, inputs = [] } = config.workspace;
  const setupEnv = setupVariablesOf(root, env, config);
  const notice = (text: string): void => onNotice?.(text);
  return {
    root,
    state: folder.path,
    setup,
    share,
    carry,
    inputs,
    setupEnv,
    sandbox,
    onNotice: notice,
    ...checkoutMounts(config),
  };
}

/** The preset `story` writes progress into story files: such changes are not uncommitted work of a person. */
export function storyFilesOption({ config }: RunPlan): { readonly aside?: string } {
  return config.preset === "story" ? { aside: config.stories } : {};
}

/** Checks get a private HOME on systems where programs find their settings by `HOME`. */
export function privateHomeOf(env: Readonly<Record<string, string | undefined>>): { readonly home?: string } {
  const home = env["HOME"];
  return process.platform === "win32" || home === undefined || !isAbsolute(home) ? {} : { home };
}

/** Whether an agent has started on a story that is not finished. */
export function isUnderWay(state: RunState): boolean {
  for (const [, { ending, startedAt }] of entries(state.stories))
    if (ending === null && startedAt !== null) return true;
  return false;
}

/** Removes worktrees of finished stories that a killed engine left. */
export async function removeEndedWorktrees(stateFolder: string, state: RunState, workspace: Workspace): Promise<void> {
  const names = await readdir(join(stateFolder, "worktrees")).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  for (const name of names) {
    const story = lookup(state.stories, storyId(name), byText);
    if (story !== undefined && story.ending !== null) await workspace.dispose(story.story.id);
  }
}
