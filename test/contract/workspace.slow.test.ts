import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInPlace } from "../../src/adapters/git/worktree/in-place.ts";
import { createRemote, loginOf } from "../../src/adapters/git/fleet/shared-remote.ts";
import { createSharedWorktrees } from "../../src/adapters/git/fleet/shared-worktrees.ts";
import { createWorktrees } from "../../src/adapters/git/worktree/worktrees.ts";
import type { Workspace } from "../../src/ports/workspace.ts";
import type { TestRepository } from "../kit/git-repository.ts";
import { type TestJournal, makeJournal } from "../kit/fleet/shared-machines.ts";
import { workspaceContract } from "./workspace.ts";

workspaceContract("a worktree for each story", ({ root, env }) =>
  createWorktrees({ root, state: join(root, ".remand"), env }),
);
workspaceContract("the user's own checkout", ({ root, env }) =>
  createInPlace({ root, state: join(root, ".remand"), env }),
);
workspaceContract("a worktree in one of many clones", sharedWorktrees);

const journals = new Map<string, TestJournal>();

/** The repository is one of a fleet's clones, and everything is one run until the story ends. */
function sharedWorktrees({ root, env, home, git }: TestRepository): Workspace {
  const bare = join(home, "shared.git");
  if (!existsSync(bare)) {
    git("clone", "--quiet", "--bare", ".", bare);
    git("remote", "add", "origin", bare);
    git("fetch", "--quiet", "origin");
    journals.set(home, makeJournal());
  }
  const journal = journals.get(home)!;
  const remote = createRemote({ root, env, login: loginOf(bare), cookie: "contract" });
  const clone = { root, branch: "main", remote, follow: async () => false, close: async () => {} };
  const work = createSharedWorktrees(
    { root, state: join(root, ".remand"), env },
    { clone, standingOf: (story) => ({ commit: journal.commits.get(story) ?? null, run: 1 }) },
  );
  return {
    ...work,
    async dispose(story) {
      const { commit } = await work.currentState(story);
      journal.commits.set(story, commit);
      await work.dispose(story);
    },
  };
}
