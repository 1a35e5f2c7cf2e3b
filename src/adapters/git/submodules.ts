import { existsSync } from "node:fs";
import { join } from "node:path";
import { RemandError } from "../../core/events/error.ts";
import type { Git } from "./git.ts";
import { trimLine } from "./repository.ts";

/**
 * Fills a worktree's submodules from those of the main checkout, without a network and without a second copy of their
 * history. Returns the submodules that are missing in the main checkout; they stay empty.
 */
export async function fillSubmodules(git: Git, main: string, worktree: string): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const path of await submodulePaths(git, worktree)) {
    const source = join(main, path);
    const target = join(worktree, path);
    if (!existsSync(join(source, ".git"))) {
      missing.push(path);
      continue;
    }
    // Read the commit from the index, because the files may be of a tree that has no commit.
    const entry = (await git.run(["ls-files", "--stage", "-z", "--", path], { cwd: worktree })).split("\0")[0]!;
    const commit = /^160000 ([0-9a-f]+) 0\t/.exec(entry)?.[1];
    // Named in .gitmodules but not in the tree: nothing to fill.
    if (commit === undefined) continue;
    if (!existsSync(join(target, ".git"))) {
      const args = ["clone", "--quiet", "--shared", "--no-checkout", "--", source, target];
      await git.run(args, { cwd: worktree, timeoutMs: 600_000 });
    }
    const { exitCode } = await git.ask(["checkout", "--quiet", "--detach", commit], {
      cwd: target,
      timeoutMs: 600_000,
    });
    if (exitCode !== 0) throw lacksCommit(path, source, commit);
    const inside = await fillSubmodules(git, source, target);
    missing.push(...inside.map((each) => `${path}/${each}`));
  }
  return missing;
}

/** Returns the submodules with work that no other clone has, which would be lost with the worktree. */
export async function submodulesWithWork(git: Git, main: string, worktree: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of await submodulePaths(git, worktree)) {
    const target = join(worktree, path);
    if (!existsSync(join(target, ".git"))) continue;
    const dirty = (await git.run(["status", "--porcelain", "-z"], { cwd: target })) !== "";
    const head = trimLine(await git.run(["rev-parse", "HEAD"], { cwd: target }));
    const known = await git.ask(["cat-file", "-e", `${head}^{commit}`], { cwd: join(main, path) });
    if (dirty || known.exitCode !== 0) found.push(path);
    const inside = await submodulesWithWork(git, join(main, path), target);
    found.push(...inside.map((each) => `${path}/${each}`));
  }
  return found;
}

export async function submodulePaths(git: Git, checkout: string): Promise<readonly string[]> {
  if (!existsSync(join(checkout, ".gitmodules"))) return [];
  const args = ["config", "-f", ".gitmodules", "-z", "--get-regexp", "^submodule\\..*\\.path$"];
  const { stdout } = await git.ask(args, { cwd: checkout });
  const paths = stdout.split("\0").filter((entry) => entry.includes("\n"));
  // Agents can write .gitmodules, so paths that lead out of the checkout are dropped.
  return paths
    .map((entry) => entry.slice(entry.indexOf("\n") + 1))
    .filter((path) => !/^\/|(^|\/)\.\.(\/|$)/.test(path));
}

function lacksCommit(path: string, source: string, commit: string): RemandError {
  return new RemandError(
    "workspace-broken",
    `the submodule ${path} has no commit ${commit.slice(0, 12)}, which this story starts from`,
    `Run git submodule update --init ${path} (or git fetch in ${source}), and run the same command again.`,
  );
}
