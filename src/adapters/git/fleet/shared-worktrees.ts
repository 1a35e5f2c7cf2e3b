import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { RemandError } from "../../../core/events/error.ts";
import { STORY_ID_PATTERN, type StoryId, storyId } from "../../../core/events/ids.ts";
import type { ExperimentRunner } from "../../../ports/experiment-runner.ts";
import type { KeptCommit, Workspace, Integration } from "../../../ports/workspace.ts";
import { ensureStateFolder, repositoryOpener } from "../repository.ts";
import { worktreeState } from "../worktree/worktree-folder.ts";
import { type Site, siteOf } from "../worktree/worktree-site.ts";
import { type WorktreeOptions, createWorktrees } from "../worktree/worktrees.ts";
import { type PositionOf, noteRun, runIn, runKey, createJournalSync } from "./journal-sync.ts";
import {
  type FetchContext,
  attemptRef,
  fetchCommit,
  fetchObjects,
  pruneAttempts,
  showBranch,
  trackingRef,
} from "./shared-commits.ts";
import type { Clone } from "./shared-clone.ts";

export interface SharedOptions {
  readonly clone: Clone;
  readonly standingOf: PositionOf;
}

/** Worktrees in one machine's clone, for stories that any machine may work on. */
export interface SharedWorktrees extends Workspace, Integration {
  /** Wraps an experiment runner so that it accepts trees made on another machine. */
  experimentRunner(inner: ExperimentRunner): ExperimentRunner;
}

/**
 * Fetches before work and pushes every attempt, so that any machine can continue from the commit that the journal
 * names. `options.root` is the clone's checkout, or the project's folder in it.
 *
 * A commit is pushed under a ref of its own before it is reported, so that every commit in the journal is on the
 * remote. The story's branch on the remote follows after the journal has named the commit. A late push of a replaced
 * machine therefore does no harm: no other machine reads that ref.
 */
export function createSharedWorktrees(
  options: Omit<WorktreeOptions, "base" | "remote">,
  shared: SharedOptions,
): SharedWorktrees {
  const ground = groundOf(options, shared);
  return {
    ...workspaceOn(ground),
    ...integrationOn(ground),
    experimentRunner: (inner) => ({
      ...inner,
      async open(request) {
        const named = [request.commit, request.tree, request.base].filter((each) => each !== undefined);
        if (named.length > 0) await fetchObjects(await ground.fetching(), null, named);
        const checkout = await inner.open(request);
        return {
          ...checkout,
          async set(tree, texts, taken) {
            await fetchObjects(await ground.fetching(), null, [tree, ...(taken === undefined ? [] : [taken.from])]);
            return checkout.set(tree, texts, taken);
          },
        };
      },
    }),
  };
}

/** What all functions here share. */
interface SharedContext extends SharedOptions {
  readonly inner: Workspace & Integration;
  fetching(): Promise<FetchContext>;
  site(story: StoryId): Promise<Site>;
  /** Fetches the story's objects, because another machine may have made all of them so far. */
  made(story: StoryId): Promise<void>;
  pushed<K extends KeptCommit>(story: StoryId, kept: K): Promise<K>;
  /** Reads; if an object is missing here, fetches it and reads again. */
  reading<T>(story: StoryId, names: readonly string[], read: () => Promise<T>): Promise<T>;
  /** Removes the worktrees of stories that ended on another machine. */
  leaveOver(): Promise<void>;
  /** Moves the branch on the remote to the journal's commit. Returns `false` if the branch is already further. */
  show(story: StoryId, patience: "patient" | "once"): Promise<boolean>;
}

function groundOf(options: Omit<WorktreeOptions, "base" | "remote">, shared: SharedOptions): SharedContext {
  const { clone, standingOf } = shared;
  const { remote, branch } = clone;
  const repositoryNow = repositoryOpener(options.root, options.env);
  const leaving = new Set<StoryId>();
  const largeFiles = createLargeFiles();
  const inner = createWorktrees(
    { ...options, base: trackingRef(branch), remote: remote.name },
    createJournalSync(clone, standingOf, leaving),
  );
  /** The last commit of each branch on the remote that this process saw. */
  const shown = new Map<StoryId, string>();
  const fetching = async (): Promise<FetchContext> => ({ git: (await repositoryNow()).git, remote, branch });
  const site = async (story: StoryId): Promise<Site> => {
    await ensureStateFolder(options.state);
    return siteOf(await realpath(options.state), story);
  };
  return {
    ...shared,
    inner,
    fetching,
    site,
    async made(story) {
      if (!(await isMade(await site(story)))) await inner.prepare(story);
    },
    async pushed(story, kept) {
      await largeFiles.send(await fetching(), kept.commit);
      await remote.push([{ ref: attemptRef(story, kept.commit), commit: kept.commit }]);
      return kept;
    },
    async reading(story, names, read) {
      try {
        return await read();
      } catch (error) {
        if (!(error instanceof RemandError) || !(await fetchObjects(await fetching(), story, names))) throw error;
        return read();
      }
    },
    async leaveOver() {
      for (const name of await readdir(join(options.state, "worktrees"))) {
        const story = STORY_ID_PATTERN.test(name) ? storyId(name) : null;
        if (story === null || standingOf(story).isOver !== true) continue;
        // The machine that ended the story has pushed its branch, so `dispose` must not fetch or push.
        leaving.add(story);
        await inner.dispose(story).catch(unlessOurs);
        leaving.delete(story);
      }
    },
    async show(story, patience) {
      const { commit } = standingOf(story);
      if (commit === null) return false;
      if (shown.get(story) === commit) return true;
      await fetchCommit(await fetching(), story, commit);
      const isShown = await showBranch(await fetching(), story, commit, patience);
      if (isShown) shown.set(story, commit);
      return isShown;
    },
  };
}

const isMade = async ({ path }: Site): Promise<boolean> => (await worktreeState(path)).is === "ready";

function workspaceOn(ground: SharedContext): Workspace {
  const { inner, standingOf } = ground;
  const isHere = async (story: StoryId): Promise<boolean> => {
    const run = runKey(standingOf(story));
    return run !== null && (await runIn(await ground.site(story))) === run;
  };
  return {
    isHere,
    async prepare(story, _after, signal) {
      const isNew = !(await isMade(await ground.site(story)));
      const place = await inner.prepare(story, [], signal);
      if (isNew) await ground.leaveOver();
      // Only people read the branch on the remote, so a failed push of it does not stop the work.
      if (place.commit !== place.base) await ground.show(story, "once").catch(unlessOurs);
      return place;
    },
    async keep(story, note) {
      if (!(await isHere(story))) throw notHere(story, note.attempt);
      return ground.pushed(story, await inner.keep(story, note));
    },
    // Commits that people push to the story's branch on the remote are ignored: only commits that the journal names
    // count.
    adopt: async (story, known, note, branch) =>
      branch === undefined ? known : ground.pushed(story, await inner.adopt(story, known, note, branch)),
    async currentState(story) {
      await ground.made(story);
      return inner.currentState(story);
    },
    changedPaths: (story, from, to) => ground.reading(story, [from, to], () => inner.changedPaths(story, from, to)),
    diff: (story, from, to) => ground.reading(story, [from, to], () => inner.diff(story, from, to)),
    fileAt: (story, at, path) => ground.reading(story, [at], () => inner.fileAt(story, at, path)),
    async restore(story, tree, note) {
      await ground.made(story);
      return ground.pushed(story, await ground.reading(story, [tree], () => inner.restore(story, tree, note)));
    },
    async restorePaths(story, paths, from, note) {
      await ground.made(story);
      return ground.pushed(
        story,
        await ground.reading(story, [from], () => inner.restorePaths(story, paths, from, note)),
      );
    },
    async forget(story) {
      // Without the note of its run, the next run drops the worktree's content. Do not call the remote: this runs for a
      // worker that is gone, and must not wait for a network.
      await noteRun(await ground.site(story), null);
    },
    async dispose(story) {
      // Update the remote first. If the removal fails, the worktree is removed later, together with this.
      if (await ground.show(story, "patient")) await pruneAttempts(await ground.fetching(), story);
      await inner.dispose(story);
    },
  };
}

function integrationOn(ground: SharedContext): Integration {
  const { inner, clone, standingOf } = ground;
  return {
    target: () => inner.target(),
    mergeStatus: (story, commit) => inner.mergeStatus(story, commit),
    tip: (story) => inner.tip(story),
    align: (story, verified, drop) => inner.align(story, verified, drop),
    holds: (story, verified) => inner.holds(story, verified),
    async update(story, verified, note) {
      await ground.made(story);
      return ground.pushed(story, await inner.update(story, verified, note));
    },
    merge: (story, verified, note) => inner.merge(story, verified, note),
    async publish(story, commit) {
      // The branch on the remote follows the journal, so only the journal's own commit can be published.
      if (standingOf(story).commit !== commit || !(await ground.show(story, "patient"))) throw notOurs(story, clone);
      return { remote: clone.remote.name, branch: (await ground.site(story)).branch, base: clone.branch };
    },
  };
}

function unlessOurs(error: unknown): void {
  if (!(error instanceof RemandError)) throw error;
}

function notHere(story: StoryId, attempt: number): RemandError {
  return new RemandError(
    "workspace-broken",
    `the work of attempt ${attempt} of ${story} is not on this machine`,
    "The worker that did it was replaced or is gone; the attempt will rerun.",
  );
}

function notOurs(story: StoryId, { remote }: Clone): RemandError {
  return new RemandError(
    "git-failed",
    `the branch of ${story} at ${remote.address} has commits that the journal does not know`,
    "They were pushed by a person or another program: move them to another branch, and run it again.",
  );
}

/**
 * Sends the large files of a commit. Commits hold only pointers, and git-lfs normally sends the files from a hook,
 * which does not run here. Some servers refuse a pointer whose file is missing, and no other machine can use it, so the
 * files are sent first. Without git-lfs no commit of this machine can have added a large file.
 */
function createLargeFiles(): { send(fetching: FetchContext, commit: string): Promise<void> } {
  let isInstalled: Promise<boolean> | null = null;
  return {
    async send({ git, remote }, commit) {
      isInstalled ??= isLfsInstalled({ git });
      if (!(await isInstalled)) return;
      const asked = ["grep", "--quiet", "--fixed-strings", "filter=lfs", commit, "--", "*.gitattributes"];
      if ((await git.ask(asked)).exitCode === 0) await remote.sendLargeFiles(commit);
    },
  };
}

async function isLfsInstalled({ git }: Pick<FetchContext, "git">): Promise<boolean> {
  const isConfigured = (await git.ask(["config", "--get", "filter.lfs.clean"])).exitCode === 0;
  return isConfigured && (await git.ask(["lfs", "version"])).exitCode === 0;
}
