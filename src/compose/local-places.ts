import { isAbsolute } from "node:path";
import { createInPlace, type InPlace } from "../adapters/git/in-place.ts";
import { createLaboratory } from "../adapters/git/laboratory.ts";
import { userStateFolder } from "../adapters/git/user-state.ts";
import { createWorkStarter, type WorkStarter } from "../adapters/git/work-start.ts";
import { createWorktrees } from "../adapters/git/worktrees.ts";
import type { RunPlan } from "../cli/host.ts";
import type { Integration } from "../ports/integration.ts";
import type { Laboratory } from "../ports/laboratory.ts";
import type { Workspace } from "../ports/workspace.ts";
import { checkoutMounts } from "./checkout-mounts.ts";
import { setupVariablesOf } from "./check-variables.ts";
import type { StateFolder } from "./state-folder.ts";

/** Where the stories' code is. */
export interface Places {
  readonly workspace: Workspace;
  /** `null` where the work is done in a person's own checkout. */
  readonly integration: Integration | null;
  readonly laboratory: Laboratory;
  /** How things were before an agent worked. */
  readonly start: WorkStarter;
}

/** In one checkout of one machine: a worktree for each story, or the checkout itself. */
export function localPlaces(
  root: string,
  folder: StateFolder,
  plan: RunPlan,
  env: Readonly<Record<string, string | undefined>>,
): Places & { readonly inPlace: InPlace | null } {
  const options = placeOptions(root, folder, plan, env);
  const userState = userStateFolder(env);
  const start = createWorkStarter(root, { ...options, userState, ...privateHomeOf(env) });
  const laboratory = createLaboratory({ ...options, userState, start: () => start.now() });
  if (plan.place === "in-place") {
    const inPlace = createInPlace({ root, state: folder.path });
    return { workspace: inPlace, integration: null, laboratory, start, inPlace };
  }
  const worktrees = createWorktrees({ ...options, remote: plan.config.forge.remote, ...aside(plan) });
  return { workspace: worktrees, integration: worktrees, laboratory, start, inPlace: null };
}

/** What all that works on code is told about the checkout. */
export function placeOptions(
  root: string,
  folder: StateFolder,
  { config, onNotice }: RunPlan,
  env: Readonly<Record<string, string | undefined>>,
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
    onNotice: notice,
    ...checkoutMounts(config),
  };
}

/** That preset notes in the stories' own files how far they are: those notes are no work that was forgotten. */
export function aside({ config }: RunPlan): { readonly aside?: string } {
  return config.preset === "story" ? { aside: config.stories } : {};
}

/** Checks get a HOME of their own where programs find their settings by that variable. */
export function privateHomeOf(env: Readonly<Record<string, string | undefined>>): { readonly home?: string } {
  const home = env["HOME"];
  return process.platform === "win32" || home === undefined || !isAbsolute(home) ? {} : { home };
}
