import type { StoryId } from "../../domain/ids.ts";
import type { Integration } from "../../ports/integration.ts";
import type { Laboratory } from "../../ports/laboratory.ts";
import type { Workspace } from "../../ports/workspace.ts";
import type { Clone } from "./shared-clone.ts";
import type { WorktreeOptions } from "./worktrees.ts";

/** How a story stands by the journal: that decides, not what a branch happens to be at. */
export interface JournalStanding {
  /** The commit of its newest state; `null` before it has one. */
  readonly commit: string | null;
  /** The event with which that began which runs for it now (`running.seq`); `null` where nothing runs. */
  readonly run: number | null;
}

export interface SharedOptions {
  readonly clone: Clone;
  /** From the folded state, asked anew each time. */
  standingOf(story: StoryId): JournalStanding;
}

/** Worktrees in a clone of one machine, for stories that any machine may work on. */
export interface SharedWorktrees extends Workspace, Integration {
  /** The same laboratory, for trees that may have been made on another machine. */
  laboratory(inner: Laboratory): Laboratory;
}

/**
 * Fetches before work and pushes every attempt, so that any machine can go on from the commit that the journal names.
 * `options.root` is the clone's checkout, or the project's folder in it.
 */
export function createSharedWorktrees(
  options: Omit<WorktreeOptions, "base" | "remote">,
  shared: SharedOptions,
): SharedWorktrees {
  throw new Error(`not built yet: ${options.root} ${shared.clone.root}`);
}
