import { existsSync } from "node:fs";
import { mkdir, readFile, readdir, realpath, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { RemandError } from "../../../core/events/error.ts";
import { sha256 } from "../../../stdx/sha256.ts";
import type { Environment } from "../../process/environment.ts";
import { killLeftovers } from "../../process/leftovers.ts";
import { onDisk, MAKING, clearClone, clearUnfinished } from "../remove-folder.ts";
import { createGit } from "../git.ts";
import { trimLine, ownEnvironment, processUniqueName } from "../repository.ts";
import { type ProcessEntry, isAlive, processTable } from "../../process/process-table.ts";
import { followBranch, noBranch, tidyClone } from "./shared-commits.ts";
import {
  type Login,
  REMOTE_NAME,
  type Remote,
  createPatientGit,
  createRemote,
  loginOf,
  remoteError,
} from "./shared-remote.ts";

export interface CloneOptions {
  /** Any address that git accepts: a path, git://, ssh, https. A login in it is not written to the clone. */
  readonly remote: string;
  /** The folder of this worker's clone, which may not exist yet. Only one worker uses it at a time. */
  readonly folder: string;
  /** The target branch; default: the remote's default branch. */
  readonly branch?: string;
  readonly env?: Environment;
  /** Stops opening the clone. Later operations ignore it, because work that must be kept has to be pushed. */
  readonly signal?: AbortSignal;
  /** Delays before each retry when the remote cannot be reached. */
  readonly waitsMs?: readonly number[];
  onNotice?(text: string): void;
}

/** A worker's own clone. Everything in it can be recreated from the remote. */
export interface Clone {
  /** The checkout, at the newest commit of the branch. */
  readonly root: string;
  /** The target branch. */
  readonly branch: string;
  readonly remote: Remote;
  /** Moves the checkout to the branch's newest commit. Returns whether it moved. */
  follow(): Promise<boolean>;
  /** Releases the folder for another worker. */
  close(): Promise<void>;
}

/** Opens a worker's clone, or makes it, and fetches the newest commits of its branch. Safe after any crash. */
export async function openClone(options: CloneOptions): Promise<Clone> {
  const folder = resolve(options.folder);
  const making: CloneContext = {
    ...options,
    folder,
    env: options.env ?? ownEnvironment(),
    login: loginOf(addressOf(options.remote)),
    cookie: `clone-${sha256(folder).slice(0, 24)}`,
  };
  return onDisk(async () => {
    await mkdir(dirname(folder), { recursive: true });
    await clearUnfinished(folder);
    const note = (await cloneIn(making)) ?? (await makeClone(making));
    const root = await realpath(folder);
    const close = await ownClone(join(root, ".git"), folder);
    try {
      await killLeftovers(making.cookie);
      await clearClone(join(root, ".git"));
      const { signal: _opening, ...lasting } = making;
      const remote = createRemote({ ...making, root });
      const branch = options.branch ?? note.branch;
      const following = { root, folder, branch, remote, env: making.env, onNotice: noticing(options) };
      await followBranch(following);
      await tidyClone(following);
      await writeNote(root, { address: remote.address, branch });
      const patient = createRemote({ ...lasting, root });
      const follow = (): Promise<boolean> => followBranch({ ...following, remote: patient, isOpen: true });
      return { root, branch, remote: patient, follow, close };
    } catch (error) {
      await close();
      throw error;
    }
  });
}

interface CloneContext extends CloneOptions {
  readonly env: Environment;
  readonly login: Login;
  readonly cookie: string;
}

/** Marks a clone as made by Remand and complete. */
interface CloneNote {
  readonly address: string;
  readonly branch: string;
}

const NOTE = "remand-clone";

const noticing =
  ({ onNotice }: CloneOptions): ((text: string) => void) =>
  (text) =>
    onNotice?.(text);

/** Resolves a relative path from the current folder, not from the clone's. */
function addressOf(remote: string): string {
  const isAddress = /^[a-z][a-z0-9+.-]*:\/\//i.test(remote) || /^[^/]+:/.test(remote);
  return isAddress && !existsSync(remote) ? remote : resolve(remote);
}

/**
 * Returns the existing clone, or `null`. A clone that git cannot use is moved aside, so that a person can look into it.
 */
async function cloneIn(making: CloneContext): Promise<CloneNote | null> {
  const { folder, env } = making;
  const names = await readdir(folder).catch(() => []);
  if (names.length === 0) return null;
  const note = await readNote(folder);
  if (note === null) {
    throw new RemandError(
      "workspace-broken",
      `${folder} is not a clone that Remand made`,
      "Give the worker an empty or new folder.",
    );
  }
  const head = await createGit(folder, env).ask(["rev-parse", "--verify", "--quiet", "HEAD^{tree}"]);
  if (head.exitCode === 0) return note;
  let number = 1;
  while (existsSync(`${folder}.lost-${number}`)) number++;
  await rename(folder, `${folder}.lost-${number}`);
  noticing(making)(`the clone in ${folder} was damaged; it is now ${folder}.lost-${number}, and a new clone is made`);
  return null;
}

/** Clones into a temporary folder and renames it last, so that an existing clone is always complete. */
async function makeClone(making: CloneContext): Promise<CloneNote> {
  const { folder, login, env, branch } = making;
  const unfinished = `${folder}${MAKING}${processUniqueName()}`;
  try {
    const call = createPatientGit({ ...making, root: dirname(folder) });
    const which = branch === undefined ? [] : ["--branch", branch];
    const args = ["clone", "--quiet", "--no-checkout", "--single-branch", "--origin", REMOTE_NAME, ...which];
    const answer = await call("cannot clone", [...args, "--", login.address, unfinished]);
    if (answer.exitCode !== 0) throw cannotClone(answer.stderr, login.address, branch);
    const git = createGit(unfinished, env);
    const head = await git.ask(["symbolic-ref", "--quiet", "--short", "HEAD"]);
    const isBorn = (await git.ask(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])).exitCode === 0;
    if (!isBorn || head.exitCode !== 0) throw nothingThere(login.address);
    const note = { address: login.address, branch: branch ?? trimLine(head.stdout) };
    await writeNote(unfinished, note);
    await rename(unfinished, folder).catch((error: NodeJS.ErrnoException) => {
      // Another process made the clone first; `ownClone` decides who may use it.
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    });
    return note;
  } finally {
    await rm(unfinished, { recursive: true, force: true, maxRetries: 5 });
  }
}

function cannotClone(words: string, address: string, branch: string | undefined): RemandError {
  if (!/remote branch .* not found/i.test(words)) return remoteError("cannot clone", address, words);
  return noBranch(address, branch ?? "");
}

function nothingThere(address: string): RemandError {
  return new RemandError(
    "no-commits",
    `${address} has no commits on its own branch, so there is nothing to start from`,
    "Push a first commit to it, or name the branch that work is for.",
  );
}

async function readNote(folder: string): Promise<CloneNote | null> {
  const text = await readFile(join(folder, ".git", NOTE), "utf8").catch(() => null);
  return text === null ? null : (JSON.parse(text) as CloneNote);
}

async function writeNote(folder: string, note: CloneNote): Promise<void> {
  const file = join(folder, ".git", NOTE);
  await writeFile(`${file}.new`, JSON.stringify(note));
  await rename(`${file}.new`, file);
}

/**
 * The name of a file with the process that uses the clone. A killed process leaves it behind, and the entry shows that
 * the process is dead.
 */
const OWNER = "remand-owner";

/** Takes a clone for this process. Returns a function that releases it. */
async function ownClone(gitDir: string, folder: string): Promise<() => Promise<void>> {
  const file = join(gitDir, OWNER);
  const self = await ownEntry();
  const text = JSON.stringify(self);
  for (;;) {
    try {
      await writeFile(file, text, { flag: "wx" });
      return () => rm(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const owner = await readOwner(file);
    if (owner !== null && !isSame(owner, self) && isRunning(owner)) {
      throw new RemandError(
        "workspace-broken",
        `another worker is using ${folder} (pid ${owner.pid})`,
        "Give each worker its own folder.",
      );
    }
    // Rename before removing: of two processes that find the owner dead, only one succeeds.
    await rename(file, `${file}.${process.pid}`).catch(() => {});
    await rm(`${file}.${process.pid}`, { force: true });
  }
}

type CloneOwner = Pick<ProcessEntry, "pid" | "startTicks">;

async function ownEntry(): Promise<CloneOwner> {
  const entry = (await processTable())?.find(({ pid }) => pid === process.pid);
  return { pid: process.pid, startTicks: entry?.startTicks ?? "" };
}

async function readOwner(file: string): Promise<CloneOwner | null> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as CloneOwner;
  } catch {
    // The file was removed in the meantime, or cut short by a kill: no live process owns the clone.
    return null;
  }
}

const isSame = (one: CloneOwner, other: CloneOwner): boolean =>
  one.pid === other.pid && one.startTicks === other.startTicks;

function isRunning(owner: CloneOwner): boolean {
  if (owner.startTicks !== "") return isAlive(owner);
  try {
    return process.kill(owner.pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
