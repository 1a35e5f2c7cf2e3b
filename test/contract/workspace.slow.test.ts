import { join } from "node:path";
import { createInPlace } from "../../src/adapters/git/in-place.ts";
import { createWorktrees } from "../../src/adapters/git/worktrees.ts";
import { workspaceContract } from "./workspace.ts";

workspaceContract("a worktree for each story", ({ root, env }) =>
  createWorktrees({ root, state: join(root, ".remand"), env }),
);
workspaceContract("the user's own checkout", ({ root, env }) =>
  createInPlace({ root, state: join(root, ".remand"), env }),
);
