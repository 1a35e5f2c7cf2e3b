import { realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { RemandError } from "../../../core/events/error.ts";
import type { StoryId, TreeId } from "../../../core/events/ids.ts";
import type { CommitNote, KeptCommit, PreparedWorkspace, Workspace, Integration } from "../../../ports/workspace.ts";
import { type Environment, allowedEnvironment } from "../../process/environment.ts";
import { onDisk, removeInBackground } from "../remove-folder.ts";
import { changedPaths, diffText, fileText } from "../history.ts";
import { TRAILERS, isRefLocked, isSameNote, trailersOf, updateRefs } from "../refs.ts";
import { type Repository, ensureStateFolder, repositoryOpener } from "../repository.ts";
import { submodulesWithWork } from "../submodules.ts";
import { clearPlace, worktreeState } from "./worktree-folder.ts";
import { type MakeOptions, adoptWork, clearAfterCrash, makeWorktree } from "./make-worktree.ts";
import { restoreTree, treeWithOlder } from "./restore-tree.ts";
import { type TargetBranch, localTarget, integrationOf } from "./integration.ts";
import { withPinnedBases } from "./start-commit.ts";
import { createKeyedQueue } from "./in-place.ts";
import {
  type Site,
  type WorktreeRefs,
  gitDirOf,
  refUpdate,
  newestCommit,
  commitOnBranch,
  saveDropped,
  setAside,
  resetGitState,
  siteOf,
  refsOf,
  withTree,
} from "./worktree-site.ts";
import type { Sandbox } from "../../../ports/sandbox.ts";
import { NO_SANDBOX } from "../../process/launch.ts";

export interface WorktreeOptions {
  /** A folder in the user's checkout. */
  readonly root: string;
  /** The folder for Remand's own state. */
  readonly state: string;
  /** The command that installs what the checks need; `null`: detected from the lockfile. */
  readonly setup?: string | null;
  /** Ignored folders that are linked from the checkout; `null`: the usual ones; an empty list: none. */
  readonly share?: readonly string[] | null;
  /** The start of new stories; default: what is checked out. */
  readonly base?: string;
  /** The remote that branches are pushed to. */
  readonly remote?: string;
  /**
   * A folder, relative to the root, whose changes are not part of the work, because Remand writes notes for people
   * there.
   */
  readonly aside?: string;
  readonly setupTimeoutMs?: number;
  /** The environment of git and the setup command. */
  readonly env?: Environment;
  readonly setupEnv?: Environment;
  /** The sandbox of the setup command; default: none. */
  readonly sandbox?: Sandbox;
  readonly signal?: AbortSignal;
  /** Reports something that a person should know and that blocks nothing. */
  onNotice?(text: string): void;
}

const SETUP_TIMEOUT_MS = 15 * 60 * 1000;

/** How a repository is shared between machines that work on the same stories. */
export interface SharedRemote {
  readonly target: TargetBranch;
  /** Runs work in a story's worktree, after fetching what another machine did in the meantime. */
  visit<T>(repository: Repository, site: Site, work: () => Promise<T>): Promise<T>;
}

/** Creates worktrees, one per story, each on its own branch. The user's checkout is not touched. */
export function createWorktrees(options: WorktreeOptions, sharing?: SharedRemote): Workspace & Integration {
  const repositoryNow = repositoryOpener(options.root, options.env);
  const turns = createKeyedQueue();
  const onNotice = noticingOnce(options);
  // No story has the id `/`.
  const making = makingOf(options, onNotice, (work) => turns.take("/", work));
  const target = sharing?.target ?? localTarget(making.base);
  const remote = options.remote ?? "origin";
  const seen = new Set<StoryId>();

  /**
   * Runs one operation at a time in a story's worktree. The first one ends processes that work there for a dead engine.
   */
  async function at<T>(story: StoryId, work: (repository: Repository, site: Site) => Promise<T>): Promise<T> {
    const repository = await repositoryNow();
    await onDisk(() => ensureStateFolder(options.state));
    // Git names worktrees by their real paths.
    const site = siteOf(await realpath(options.state), story);
    return turns.take(story, () =>
      onDisk(async () => {
        if (!seen.has(story))
          await clearAfterCrash(repository.commonDir, site.cookie, Object.values(site.refs), site.index);
        seen.add(story);
        const own = { ...repository, git: repository.gitFor(site.cookie) };
        return sharing === undefined ? work(own, site) : sharing.visit(own, site, () => work(own, site));
      }),
    );
  }

  const workspace: Workspace & Integration = {
    prepare: (story, after = [], signal) =>
      at(story, async (repository, site) => {
        repository.notices.forEach(onNotice);
        const dependencies = { ...making.dependencies, ...(signal === undefined ? {} : { signal }) };
        return prepare(repository, site, { ...making, dependencies }, after);
      }),
    keep: (story, note) => at(story, (repository, site) => keep(repository, site, note)),
    adopt: (story, known, note, branch) =>
      at(story, (...place) => adoptWork(...place, known, note, named(branch, remote))),
    currentState: (story) => at(story, look),
    // Read-only: these need not wait for an engine at work.
    changedPaths: async (_, from, to) => changedPaths((await repositoryNow()).git, from, to),
    diff: async (_, from, to) => diffText((await repositoryNow()).git, from, to),
    fileAt: async (_, commit, path) => fileText((await repositoryNow()).git, commit, path),
    restore: (story, tree, note) => at(story, (repository, site) => restore(repository, site, tree, note)),
    restorePaths: (story, paths, from, note) =>
      at(story, (repository, site) => putBack(repository, site, paths, from, note)),
    forget: (story) => at(story, forget),
    dispose: (story) => at(story, (repository, site) => dispose(repository, site, making)),
    ...integrationOf({ target, remote, repository: repositoryNow, at, alone: (work) => turns.take("/merge", work) }),
  };
  // In a fleet, another machine may move a story's base.
  if (sharing !== undefined) return workspace;
  return withPinnedBases(workspace, (story, to) =>
    at(story, async ({ git }, site) => updateRefs(git, [refUpdate(site, await refsOf(git, site), "base", to)])),
  );
}

const named = (branch: string | undefined, remote: string) => (branch === undefined ? null : { branch, remote });

function makingOf(
  options: WorktreeOptions,
  onNotice: MakeOptions["onNotice"],
  alone: MakeOptions["alone"],
): MakeOptions {
  const dependencies = dependenciesOf(options);
  return { base: options.base ?? "HEAD", dependencies, onNotice, aside: options.aside ?? null, alone };
}

function dependenciesOf(options: WorktreeOptions): MakeOptions["dependencies"] {
  return {
    setup: options.setup ?? null,
    share: options.share ?? null,
    setupTimeoutMs: options.setupTimeoutMs ?? SETUP_TIMEOUT_MS,
    sandbox: options.sandbox ?? NO_SANDBOX,
    env: options.setupEnv ?? allowedEnvironment(options.env ?? process.env),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  };
}

async function prepare(
  repository: Repository,
  site: Site,
  making: MakeOptions,
  after: readonly StoryId[],
): Promise<PreparedWorkspace> {
  const { state, movedTo } = await clearPlace(repository.git, site.path);
  if (movedTo !== null)
    making.onNotice(`${site.path} was not a worktree of this repository any more; it is now ${movedTo}`);
  if (state.is !== "ready") await makeWorktree(repository, site, making, after);
  const { tree, standing } = await see(repository, site);
  const { commit } = newestCommit(site, standing);
  return {
    path: join(site.path, repository.prefix),
    branch: site.branch,
    tree,
    commit,
    base: standing.base?.commit ?? commit,
  };
}

async function look(repository: Repository, site: Site): Promise<KeptCommit> {
  const { tree, standing } = await see(repository, site);
  return { tree, commit: newestCommit(site, standing).commit };
}

/** Returns the tree of the current files and the story's refs, both read at the same time. */
async function see({ git }: Repository, site: Site): Promise<{ gitDir: string; tree: TreeId; standing: WorktreeRefs }> {
  const gitDir = await gitDirOf(site);
  const [standing, tree] = await Promise.all([refsOf(git, site), withTree(git, site, gitDir, async (now) => now)]);
  return { gitDir, tree, standing };
}

async function keep(repository: Repository, site: Site, note: CommitNote): Promise<KeptCommit> {
  const { git } = repository;
  const { gitDir, tree, standing } = await see(repository, site);
  // If the branch was locked, the kept commit is ahead of it.
  const tip = [standing.kept, standing.branch].find(
    (each) => each?.tree === tree && isSameNote(each, site.story, note) && !each.trailers.has(TRAILERS.restored),
  );
  const kept =
    tip !== undefined
      ? { tree, commit: tip.commit }
      : await commitOnBranch(git, site, standing, {
          tree,
          subject: note.subject,
          trailers: trailersOf(site.story, note),
        });
  await resetGitState(git, site, gitDir);
  return kept;
}

async function restore({ git }: Repository, site: Site, tree: TreeId, note: CommitNote): Promise<KeptCommit> {
  const gitDir = await gitDirOf(site);
  const standing = await withTree(git, site, gitDir, async (now, index) => {
    const before =
      now === tree ? await refsOf(git, site) : await setAside(git, site, now, "set aside before going back");
    await restoreTree(git, { top: site.path, index, from: now, to: tree, overwrite: true });
    return before;
  });
  const tip = standing.branch;
  const isThere =
    tip !== undefined &&
    tip.tree === tree &&
    isSameNote(tip, site.story, note) &&
    tip.trailers.get(TRAILERS.restored) === tree;
  const trailers = [...trailersOf(site.story, note), [TRAILERS.restored, tree] as const];
  const kept = isThere
    ? { tree, commit: tip.commit }
    : await commitOnBranch(git, site, standing, { tree, subject: note.subject, trailers });
  await resetGitState(git, site, gitDir);
  return kept;
}

async function putBack(
  repository: Repository,
  site: Site,
  paths: readonly string[],
  from: string,
  note: CommitNote,
): Promise<KeptCommit> {
  const { git } = repository;
  const tree = await withTree(git, site, await gitDirOf(site), (_, index) =>
    treeWithOlder(git, { top: site.path, index, paths, from }),
  );
  return restore(repository, site, tree, note);
}

/** Drops the work of an interrupted attempt. It stays available under a ref until the next drop. */
async function forget({ git }: Repository, site: Site): Promise<void> {
  if ((await worktreeState(site.path)).is !== "ready") return;
  const gitDir = await gitDirOf(site);
  const standing = await refsOf(git, site);
  const tip = newestCommit(site, standing);
  const kept = standing.kept ?? tip;
  await withTree(git, site, gitDir, async (now, index) => {
    if (now === kept.tree && tip.commit === kept.commit) return;
    await saveDropped(git, site, standing, now, "left by an interrupted attempt");
    await restoreTree(git, { top: site.path, index, from: now, to: kept.tree, overwrite: true });
    await updateRefs(git, [refUpdate(site, standing, "branch", kept.commit)]).catch((error: unknown) => {
      // A locked branch is moved later, before anything is delivered; the files are already restored.
      if (!isRefLocked(error)) throw error;
    });
  });
  await resetGitState(git, site, gitDir);
}

async function dispose({ git, top }: Repository, site: Site, making: MakeOptions): Promise<void> {
  const state = await worktreeState(site.path);
  if (state.is === "broken") {
    const hint = `Look at what is in it, and remove it: rm -r ${site.path}`;
    throw new RemandError("workspace-broken", `${site.path} holds files, and git does not know them`, hint);
  }
  if (state.is === "ready") {
    const work = await submodulesWithWork(git, top, site.path);
    if (work.length > 0) {
      const hint = "Push that work, or undo it, and run the same command again.";
      throw new RemandError(
        "workspace-broken",
        `the worktree ${site.path} has work in its submodules: ${work.join(", ")}`,
        hint,
      );
    }
    await withTree(git, site, state.gitDir, async (now) => {
      const standing = await refsOf(git, site);
      // The branch is what was delivered; save other files separately.
      if (newestCommit(site, standing).tree !== now)
        await saveDropped(git, site, standing, now, "left in the worktree when it was removed");
    });
  }
  await removeInBackground(site.path, join(dirname(dirname(site.path)), "gone"));
  await making.alone(() => git.ask(["worktree", "remove", "--force", "--force", site.path], { timeoutMs: 600_000 }));
  await site.index.drop();
  const standing = await refsOf(git, site);
  const { branch, kept } = standing;
  // The branch contains the kept commit. If a person or an agent moved the branch, the ref of the kept commit stays.
  if (branch?.commit === kept?.commit) await updateRefs(git, [refUpdate(site, standing, "kept", null)]);
}

function noticingOnce({ onNotice }: WorktreeOptions): (text: string) => void {
  const said = new Set<string>();
  return (text) => {
    if (said.has(text)) return;
    said.add(text);
    onNotice?.(text);
  };
}
