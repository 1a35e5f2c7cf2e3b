import { realpath } from "node:fs/promises";
import { RemandError } from "../../domain/error.ts";
import type { StoryId } from "../../domain/ids.ts";
import type { Integration } from "../../ports/integration.ts";
import type { Laboratory } from "../../ports/laboratory.ts";
import type { Kept, Workspace } from "../../ports/workspace.ts";
import { line, repositoryOpener, type Repository } from "./repository.ts";
import { pruneAttempts, showBranch } from "./shared-branch.ts";
import type { Clone } from "./shared-clone.ts";
import { attemptRef, fetchCommit, fetchObjects, type Fetching } from "./shared-commits.ts";
import { trackingRef } from "./shared-follow.ts";
import { bringTo, noteRun, runIn } from "./shared-place.ts";
import { remoteTarget } from "./shared-target.ts";
import { ensureStateFolder } from "./state-folder.ts";
import { worktreeState } from "./worktree-place.ts";
import { siteOf, standingOf, type Site } from "./worktree-site.ts";
import { createWorktrees, type Sharing, type WorktreeOptions } from "./worktrees.ts";

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
 *
 * A commit is pushed under a name of its own before it is told of, so that what the journal names is on the remote; the
 * story's branch there follows when the journal has named the commit. So a machine whose place was taken can push what
 * it likes: nobody looks at it.
 */
export function createSharedWorktrees(
  options: Omit<WorktreeOptions, "base" | "remote">,
  shared: SharedOptions,
): SharedWorktrees {
  const { clone } = shared;
  const { remote, branch } = clone;
  const target = remoteTarget(clone);
  const repositoryNow = repositoryOpener(options.root, options.env);
  const fetching = async (): Promise<Fetching> => ({ git: (await repositoryNow()).git, remote });
  const arrivals = arriving(shared, target);
  const inner = createWorktrees({ ...options, base: trackingRef(branch), remote: remote.name }, arrivals);
  /** What this process has seen the branches on the remote be. */
  const shown = new Map<StoryId, string>();

  async function siteNow(story: StoryId): Promise<Site> {
    await ensureStateFolder(options.state);
    return siteOf(await realpath(options.state), story);
  }

  async function isMade(story: StoryId): Promise<boolean> {
    return (await worktreeState((await siteNow(story)).path)).is === "ready";
  }

  /** Another machine may have made everything that there is of a story so far. */
  async function made(story: StoryId): Promise<void> {
    if (!(await isMade(story))) await inner.prepare(story);
  }

  async function pushed<K extends Kept>(story: StoryId, kept: K): Promise<K> {
    await remote.push([{ ref: attemptRef(story, kept.commit), commit: kept.commit }]);
    return kept;
  }

  /** Reads, and where something is not here, once more when it is. */
  async function reading<T>(story: StoryId, names: readonly string[], read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof RemandError) || !(await fetchObjects(await fetching(), story, names))) throw error;
      return read();
    }
  }

  async function show(story: StoryId, patience: "patient" | "once"): Promise<boolean> {
    const { commit } = shared.standingOf(story);
    if (commit === null || shown.get(story) === commit) return commit !== null;
    const isShown = await showBranch(await fetching(), story, commit, patience);
    if (isShown) shown.set(story, commit);
    return isShown;
  }

  return {
    async prepare(story) {
      const place = await inner.prepare(story);
      // People look at the branch, machines do not: that it cannot be shown just now keeps nobody from working.
      if (place.commit !== place.base) await show(story, "once").catch(unlessOurs);
      return place;
    },
    async keep(story, note) {
      const run = runOf(shared.standingOf(story));
      if (run === null || (await runIn(await siteNow(story))) !== run) throw notHere(story, note.attempt);
      return pushed(story, await inner.keep(story, note));
    },
    async look(story) {
      await made(story);
      return inner.look(story);
    },
    changed: (story, from, to) => reading(story, [from, to], () => inner.changed(story, from, to)),
    diff: (story, from, to) => reading(story, [from, to], () => inner.diff(story, from, to)),
    fileAt: (story, at, path) => reading(story, [at], () => inner.fileAt(story, at, path)),
    async restore(story, tree, note) {
      await made(story);
      return pushed(story, await reading(story, [tree], () => inner.restore(story, tree, note)));
    },
    async putBack(story, paths, from, note) {
      await made(story);
      return pushed(story, await reading(story, [from], () => inner.putBack(story, paths, from, note)));
    },
    async forget(story) {
      const site = await siteNow(story);
      if (!(await isMade(story))) return;
      // Then nothing that is there belongs to anything, and whoever comes next drops it.
      await noteRun(site, null);
      await inner.look(story);
    },
    async dispose(story) {
      // First what others see: a place that is still there is taken away again later, together with this.
      const { commit } = shared.standingOf(story);
      if (commit !== null) {
        await fetchCommit(await fetching(), story, commit);
        if (await show(story, "patient")) await pruneAttempts(await fetching(), story);
      }
      shown.delete(story);
      await inner.dispose(story);
    },
    target: () => inner.target(),
    standing: (story) => inner.standing(story),
    async update(story, note) {
      await made(story);
      return pushed(story, await inner.update(story, note));
    },
    merge: (story, note) => inner.merge(story, note),
    async publish(story) {
      const { commit } = shared.standingOf(story);
      if (commit !== null) await fetchCommit(await fetching(), story, commit);
      if (!(await show(story, "patient"))) throw notOurs(story, clone);
      return { remote: remote.name, branch: (await siteNow(story)).branch, base: branch };
    },
    laboratory: (given) => ({
      async open(control) {
        const bench = await given.open(control);
        return {
          ...bench,
          async set(tree, texts) {
            await fetchObjects(await fetching(), null, [tree]);
            return bench.set(tree, texts);
          },
        };
      },
    }),
  };
}

/** What the files of a worktree are there for: the run that made them, and what it began with. */
const runOf = ({ run, commit }: JournalStanding): string | null => (run === null ? null : `${run} ${commit ?? "none"}`);

/**
 * While one and the same run goes on, a place is left as that run has it. Whoever comes to it for anything else finds
 * what the journal says, whatever an earlier run left there.
 */
function arriving({ clone, standingOf: standingBy }: SharedOptions, target: Sharing["target"]): Sharing {
  async function arrive(repository: Repository, site: Site): Promise<void> {
    const { git } = repository;
    const { commit } = standingBy(site.story);
    if (commit === null) {
      const start = (await target.read(repository)).commit;
      const { branch, kept } = await standingOf(git, site);
      if (branch !== undefined || kept !== undefined)
        await bringTo(repository, site, { commit: start, base: async () => start });
      return;
    }
    await fetchCommit({ git, remote: clone.remote }, site.story, commit);
    await bringTo(repository, site, {
      commit,
      base: async () => forkOf(repository, commit, (await target.read(repository)).commit, clone),
    });
  }

  return {
    target,
    async visit(repository, site, work) {
      const run = runOf(standingBy(site.story));
      if (run === null || (await runIn(site)) !== run) await arrive(repository, site);
      const result = await work();
      await noteRun(site, run);
      return result;
    },
  };
}

/** What a story's work is compared with: where it left the branch it is for, or was last brought together with it. */
async function forkOf({ git }: Repository, commit: string, target: string, clone: Clone): Promise<string> {
  const { exitCode, stdout } = await git.ask(["merge-base", commit, target]);
  if (exitCode === 0) return line(stdout);
  throw new RemandError(
    "workspace-broken",
    `the commit ${commit.slice(0, 12)} has nothing in common with ${clone.branch} of ${clone.remote.address}`,
    "The history of that branch was replaced: bring the old one back, or start the story again.",
  );
}

function unlessOurs(error: unknown): void {
  if (!(error instanceof RemandError)) throw error;
}

function notHere(story: StoryId, attempt: number): RemandError {
  return new RemandError(
    "workspace-broken",
    `what attempt ${attempt} of ${story} left is not on this machine`,
    "It was made by a worker that has lost its place, or is gone: the attempt is made again.",
  );
}

function notOurs(story: StoryId, { remote }: Clone): RemandError {
  return new RemandError(
    "git-failed",
    `the branch of ${story} at ${remote.address} has commits that the journal does not know`,
    "Somebody has pushed to it: move those commits to another branch, and run it again.",
  );
}
