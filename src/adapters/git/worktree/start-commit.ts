import { RemandError } from "../../../core/events/error.ts";
import type { StoryId } from "../../../core/events/ids.ts";
import type { Environment } from "../../process/environment.ts";
import type { Git } from "../git.ts";
import { isInHistory, mergeTrees } from "../history.ts";
import { TRAILERS, commitTree } from "../refs.ts";
import { commitOf, trimLine, repositoryOpener } from "../repository.ts";
import type { Workspace, Integration } from "../../../ports/workspace.ts";
import { type Site, siteOf, refsOf } from "./worktree-site.ts";

/**
 * Checks that there is a checkout, and for worktrees a commit. Otherwise the user gets an error before anything is
 * written to the journal, and not a story that could not begin.
 */
export async function assertCheckout(
  root: string,
  needs: "checkout" | "commit",
  environment?: Environment,
): Promise<void> {
  const { git } = await repositoryOpener(root, environment)();
  if (needs === "commit") await startCommit(git, "HEAD");
}

/** Returns the commit that a new story starts from. */
export async function startCommit(git: Git, name: string): Promise<string> {
  const commit = await commitOf(git, name);
  if (commit !== null) return commit;
  if (name !== "HEAD") {
    throw new RemandError(
      "workspace-broken",
      `there is no commit ${name} to start from`,
      "Name a branch or a commit that exists.",
    );
  }
  throw new RemandError(
    "no-commits",
    "the repository has no commits yet, so there is nothing to start from",
    'Make one first: git add --all && git commit -m "start"',
  );
}

export interface StartCommit {
  readonly commit: string;
  /** The stories whose work was merged into the start. */
  readonly with: readonly StoryId[];
}

/**
 * Returns the start with the accepted work of other stories merged in, if that is on their branches and not in the
 * start yet. Without it, a story would begin without the work it depends on.
 */
export async function withWorkOf(
  git: Git,
  site: Site,
  start: string,
  stories: readonly StoryId[],
): Promise<StartCommit> {
  let commit = start;
  const brought: StoryId[] = [];
  for (const story of stories) {
    const { branch } = await refsOf(git, siteOf(site.state, story));
    // Without a branch, the story changed nothing or its branch was merged and deleted.
    if (branch === undefined || (await isInHistory(git, branch.commit, commit))) continue;
    if (await isInHistory(git, commit, branch.commit)) {
      commit = branch.commit;
      brought.push(story);
      continue;
    }
    const { tree, conflicts } = await mergeTrees(git, commit, branch.commit);
    if (conflicts.length > 0) throw apart(site.story, story, conflicts);
    // The merge adds nothing: the work was squashed or cherry-picked into the start.
    if (tree === trimLine(await git.run(["rev-parse", `${commit}^{tree}`]))) continue;
    commit = await commitTree(git, {
      tree,
      parents: [commit, branch.commit],
      subject: `remand: ${site.story} builds on ${story}`,
      trailers: [[TRAILERS.story, site.story]],
    });
    brought.push(story);
  }
  return { commit, with: brought };
}

function apart(story: StoryId, dependency: StoryId, conflicts: readonly string[]): RemandError {
  const branch = `remand/${dependency}`;
  return new RemandError(
    "workspace-broken",
    `${story} builds on ${dependency}, whose branch ${branch} contradicts what ${story} starts from, in ${conflicts.slice(0, 5).join(", ")}`,
    `Merge ${branch} where the stories start; or delete it, if its work is there already in another form: git branch -D ${branch}`,
  );
}

/**
 * Protects the base that a story is compared with. It is kept as a ref, which an agent could move to its own work to be
 * compared with itself. If the ref moves without Remand, it is put back.
 */
export function withPinnedBases(
  inner: Workspace & Integration,
  putBack: (story: StoryId, base: string) => Promise<void>,
): Workspace & Integration {
  const bases = new Map<StoryId, string>();
  return {
    ...inner,
    async prepare(story, after, signal) {
      const place = await inner.prepare(story, after, signal);
      const base = bases.get(story) ?? place.base;
      bases.set(story, base);
      if (base !== place.base) await putBack(story, base);
      return { ...place, base };
    },
    dispose(story) {
      bases.delete(story);
      return inner.dispose(story);
    },
    update(story, verified, note) {
      bases.delete(story);
      return inner.update(story, verified, note);
    },
  };
}
