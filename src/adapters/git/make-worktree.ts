import { join } from "node:path";
import { RemandError } from "../../domain/error.ts";
import type { StoryId } from "../../domain/ids.ts";
import { installDependencies, type DependencyOptions } from "./dependencies.ts";
import { commitOf, line, type Repository } from "./repository.ts";
import { updateRefs } from "./refs.ts";
import { startCommit, withWorkOf } from "./start-commit.ts";
import { fillSubmodules } from "./submodules.ts";
import { addWorktree, markReady } from "./worktree-place.ts";
import { moving, standingOf, type Site, type Standing } from "./worktree-site.ts";

export interface MakeOptions {
  /** What a new story starts from. */
  readonly base: string;
  readonly dependencies: DependencyOptions;
  readonly onNotice: (text: string) => void;
  /** A folder, from the root, whose changes are nothing to the work; `null` where there is none. */
  readonly aside: string | null;
  /** Git's list of worktrees is changed by one at a time. */
  readonly alone: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Makes a story's worktree: branch, files, submodules, dependencies, and last the mark that says it is all there. */
export async function makeWorktree(
  repository: Repository,
  site: Site,
  options: MakeOptions,
  after: readonly StoryId[],
): Promise<void> {
  const { git, top } = repository;
  await ensureBranch(repository, site, options, after);
  const gitDir = await options.alone(() => addWorktree(git, site.path, site.branch));
  const missing = await fillSubmodules(git, top, site.path);
  if (missing.length > 0) {
    options.onNotice(
      `not initialised in ${top}, and so empty in the worktrees too: ${missing.join(", ")} (git submodule update --init)`,
    );
  }
  // Nobody has been here yet, so this index hides nothing.
  await site.index.drop();
  await site.index.seed(join(gitDir, "index"));
  await installDependencies(git, top, site.path, {
    ...options.dependencies,
    cookie: site.cookie,
    onNotice: options.onNotice,
  });
  await markReady(gitDir);
}

async function ensureBranch(
  repository: Repository,
  site: Site,
  options: MakeOptions,
  after: readonly StoryId[],
): Promise<void> {
  const { git } = repository;
  const standing = await standingOf(git, site);
  const { branch, base } = standing;
  const start = await startCommit(git, options.base);
  if (branch === undefined) {
    await noticeDirt(repository, start, options);
    const beginning = await withWorkOf(git, site, start, after);
    if (beginning.with.length > 0)
      options.onNotice(`${site.story} begins with the work of ${beginning.with.join(", ")}, which is not merged yet`);
    await createBranch(git, site, standing, { start, beginning: beginning.commit });
    return;
  }
  const startedFrom = base?.commit ?? line((await git.ask(["merge-base", branch.commit, start])).stdout);
  if (startedFrom === "") {
    throw new RemandError(
      "workspace-broken",
      `the branch ${site.branch} has nothing in common with ${options.base}`,
      `Rename or delete that branch, so that the story can start from ${options.base}.`,
    );
  }
  await updateRefs(git, [moving(site, standing, "base", startedFrom), moving(site, standing, "kept", branch.commit)]);
}

async function createBranch(
  git: Repository["git"],
  site: Site,
  standing: Standing,
  { start, beginning }: { readonly start: string; readonly beginning: string },
): Promise<void> {
  try {
    await updateRefs(git, [
      moving(site, standing, "branch", beginning),
      moving(site, standing, "base", beginning),
      moving(site, standing, "kept", beginning),
      moving(site, standing, "target", start),
    ]);
  } catch (error) {
    // A branch is a file, and a file cannot be a folder too.
    if ((await commitOf(git, "refs/heads/remand")) === null) throw error;
    throw new RemandError(
      "workspace-broken",
      "there is a branch called remand, so there can be none called remand/…",
      "Rename it: git branch -m remand remand-old",
      { cause: error },
    );
  }
}

async function noticeDirt(
  { top, git, prefix }: Repository,
  start: string,
  { aside, onNotice }: MakeOptions,
): Promise<void> {
  const but = aside === null ? [] : ["--", ".", `:(exclude)${join(prefix, aside)}`];
  if ((await git.run(["status", "--porcelain", "-z", ...but])) === "") return;
  onNotice(`${top} has changes that are not committed: stories start from ${start.slice(0, 12)}, without them`);
}
