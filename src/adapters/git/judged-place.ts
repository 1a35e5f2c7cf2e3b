import { randomBytes } from "node:crypto";
import { mkdir, readdir, realpath, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { RemandError } from "../../domain/error.ts";
import { treeId, type TreeId } from "../../domain/ids.ts";
import type { JudgedState } from "../../domain/gate-report.ts";
import { allowedEnvironment, type Environment } from "../process/environment.ts";
import { installDependencies } from "./dependencies.ts";
import { onDisk } from "./disk-error.ts";
import type { Git } from "./git.ts";
import { baseFor } from "./judged-base.ts";
import { createPrivateIndex, treeOfFiles } from "./private-index.ts";
import { commitOf, line, repositoryOpener, type Repository } from "./repository.ts";
import { ensureStateFolder } from "./state-folder.ts";
import { fillSubmodules } from "./submodules.ts";

export interface JudgedOptions {
  /** A folder of the user's checkout. */
  readonly root: string;
  /** The folder in which Remand keeps its own things. */
  readonly state: string;
  /** The commit to judge; `null`: the files as they are. */
  readonly at: string | null;
  /** What to compare with; `null`: found by itself. */
  readonly base: string | null;
  readonly setup: string | null;
  readonly share: readonly string[] | null;
  readonly env?: Environment;
  readonly signal: AbortSignal;
  onNotice(text: string): void;
}

/** A state of the files, in a folder where it can be judged. */
export interface JudgedPlace extends JudgedState {
  readonly path: string;
  /** The files as they are now: whoever judges should leave them as they were. */
  look(): Promise<TreeId>;
  /** Brings the files back, where they are nobody's; a person's own are left to the person. */
  forget(): Promise<void>;
  /** Takes away what was made for it. */
  close(): Promise<void>;
}

/**
 * The files as they are are judged where they are: nothing is written but objects that no name refers to. A commit is
 * judged in a worktree of its own, which is taken away afterwards.
 */
export async function openJudgedPlace(options: JudgedOptions): Promise<JudgedPlace> {
  const repository = await repositoryOpener(options.root, options.env)();
  repository.notices.forEach((text) => options.onNotice(text));
  return onDisk(async () => {
    await ensureStateFolder(options.state);
    const state = await realpath(options.state);
    await clearLeft(repository, join(state, "gates"));
    return options.at === null ? filesAsTheyAre(repository, state, options) : commitAlone(repository, state, options);
  });
}

async function filesAsTheyAre(repository: Repository, state: string, options: JudgedOptions): Promise<JudgedPlace> {
  const { git, top, prefix, gitDir } = repository;
  const look = (): Promise<TreeId> => treeNow(git, top, gitDir, state);
  const tree = await look();
  const commit = await commitOf(git, "HEAD");
  const base = await baseFor(git, { tree, commit }, options.base);
  const judged = { at: null, tree, commit: commit ?? "", base: base.commit, baseName: base.name, folder: prefix };
  return { ...judged, path: join(top, prefix), look, forget: async () => {}, close: async () => {} };
}

/** With an index that is ours for this one look, and begins from what is there. */
async function treeNow(git: Git, top: string, gitDir: string, state: string): Promise<TreeId> {
  // No story's id begins with a dot.
  const index = createPrivateIndex(join(state, "index", `.gate-${ownName()}`));
  try {
    await index.seed(join(gitDir, "index"));
    return await index.use((copy) => treeOfFiles(git, top, copy));
  } finally {
    await index.drop();
  }
}

async function commitAlone(repository: Repository, state: string, options: JudgedOptions): Promise<JudgedPlace> {
  const { git, top, prefix } = repository;
  const at = options.at!;
  const commit = await commitOf(git, at);
  if (commit === null)
    throw new RemandError("usage", `there is no commit ${at}`, "Name a branch or a commit that exists.");
  const tree = treeId(line(await git.run(["rev-parse", "--verify", `${commit}^{tree}`])));
  const base = await baseFor(git, { tree, commit }, options.base);
  const folder = join(state, "gates");
  const path = join(folder, ownName());
  const close = (): Promise<void> => onDisk(() => takeAway(repository, path));
  try {
    await mkdir(folder, { recursive: true });
    await git.run(["worktree", "add", "--quiet", "--detach", path, commit], { timeoutMs: 600_000 });
    const missing = await fillSubmodules(git, top, path);
    if (missing.length > 0) options.onNotice(`not initialised in ${top}, and so empty here too: ${missing.join(", ")}`);
    await installDependencies(git, top, path, {
      setup: options.setup,
      share: options.share,
      setupTimeoutMs: SETUP_TIMEOUT_MS,
      env: allowedEnvironment(options.env ?? process.env),
      signal: options.signal,
    });
  } catch (error) {
    await close();
    throw error;
  }
  const gitDir = resolve(path, line(await git.run(["rev-parse", "--git-dir"], { cwd: path })));
  return {
    at,
    tree,
    commit,
    base: base.commit,
    baseName: base.name,
    folder: prefix,
    path: resolve(path, prefix),
    look: () => onDisk(() => treeNow(git, path, gitDir, state)),
    forget: async () => {
      await git.run(["reset", "--quiet", "--hard"], { cwd: path });
      await git.run(["clean", "-fdq"], { cwd: path });
    },
    close,
  };
}

const SETUP_TIMEOUT_MS = 15 * 60 * 1000;

async function takeAway({ git }: Repository, path: string): Promise<void> {
  await git.ask(["worktree", "remove", "--force", "--force", path], { timeoutMs: 600_000 });
  await rm(path, { recursive: true, force: true, maxRetries: 5 });
}

/** By its name it can be seen whether somebody still works there. */
const ownName = (): string => `${process.pid}-${randomBytes(4).toString("hex")}`;

/** Places of those who were killed before they could take them away. */
async function clearLeft(repository: Repository, folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) if (!isAlive(Number(name.split("-")[0]))) await takeAway(repository, join(folder, name));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process is a process too.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
