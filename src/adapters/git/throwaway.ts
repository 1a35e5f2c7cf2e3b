import { randomBytes } from "node:crypto";
import { mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { allowedEnvironment, type Environment } from "../process/environment.ts";
import { installDependencies } from "./dependencies.ts";
import type { Repository } from "./repository.ts";
import { fillSubmodules } from "./submodules.ts";

export interface ThrowawayOptions {
  readonly setup: string | null;
  readonly share: readonly string[] | null;
  readonly env?: Environment;
  /** What the set-up sees of the environment. */
  readonly setupEnv?: Environment;
  readonly signal: AbortSignal;
  onNotice(text: string): void;
}

/** A worktree on no branch, with its dependencies, that is taken away when it has served. */
export async function makeThrowaway(
  { git, top }: Repository,
  path: string,
  commit: string,
  options: ThrowawayOptions,
): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await git.run(["worktree", "add", "--quiet", "--detach", path, commit], { timeoutMs: 600_000 });
  const missing = await fillSubmodules(git, top, path);
  if (missing.length > 0) options.onNotice(`not initialised in ${top}, and so empty here too: ${missing.join(", ")}`);
  await installDependencies(git, top, path, {
    setup: options.setup,
    share: options.share,
    borrow: true,
    setupTimeoutMs: SETUP_TIMEOUT_MS,
    env: options.setupEnv ?? allowedEnvironment(options.env ?? process.env),
    signal: options.signal,
    onNotice: options.onNotice,
  });
}

const SETUP_TIMEOUT_MS = 15 * 60 * 1000;

export async function takeAway({ git }: Repository, path: string): Promise<void> {
  await git.ask(["worktree", "remove", "--force", "--force", path], { timeoutMs: 600_000 });
  await rm(path, { recursive: true, force: true, maxRetries: 5 });
}

/** By its name it can be seen whether somebody still works there. */
export const ownName = (): string => `${process.pid}-${randomBytes(4).toString("hex")}`;

/** Places of those who were killed before they could take them away. */
export async function clearLeft(repository: Repository, folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) if (!isAlivePid(Number(name.split("-")[0]))) await takeAway(repository, join(folder, name));
}

export function isAlivePid(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process is a process too.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
