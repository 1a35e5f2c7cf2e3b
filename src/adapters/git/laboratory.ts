import { readFileSync, realpathSync } from "node:fs";
import { realpath, rm } from "node:fs/promises";
import { availableParallelism, freemem, loadavg } from "node:os";
import { join, resolve } from "node:path";
import { treeId, type TreeId } from "../../domain/ids.ts";
import type { Laboratory } from "../../ports/laboratory.ts";
import type { Environment } from "../process/environment.ts";
import { onDisk } from "./disk-error.ts";
import type { Git } from "./git.ts";
import { line, repositoryOpener } from "./repository.ts";
import { ensureStateFolder } from "./state-folder.ts";
import { clearLeft, makeThrowaway, ownName, takeAway } from "./throwaway.ts";

export interface LaboratoryOptions {
  /** A folder of the user's checkout. */
  readonly root: string;
  /** The folder in which Remand keeps its own things. */
  readonly state: string;
  readonly setup: string | null;
  readonly share: readonly string[] | null;
  readonly env?: Environment;
  readonly setupEnv?: Environment;
  onNotice?(text: string): void;
}

/** Worktrees on no branch. Those of somebody who was killed are swept away when the next one is opened. */
export function createLaboratory(options: LaboratoryOptions): Laboratory {
  const repositoryNow = repositoryOpener(options.root, options.env);
  return {
    room: () => roomFor(availableParallelism(), loadavg()[0]!, freemem()),
    async open({ signal }) {
      const repository = await repositoryNow();
      return onDisk(async () => {
        await ensureStateFolder(options.state);
        const folder = join(await realpath(options.state), "laboratory");
        await clearLeft(repository, folder);
        const path = join(folder, ownName());
        const close = (): Promise<void> => onDisk(() => takeAway(repository, path));
        try {
          await makeThrowaway(repository, path, "HEAD", {
            setup: options.setup,
            share: options.share,
            signal,
            onNotice: (text) => options.onNotice?.(text),
            ...(options.env === undefined ? {} : { env: options.env }),
            ...(options.setupEnv === undefined ? {} : { setupEnv: options.setupEnv }),
          });
        } catch (error) {
          await close();
          throw error;
        }
        const { git, prefix } = repository;
        return {
          path: resolve(path, prefix),
          set: (tree, texts) => set(git, path, tree, texts),
          paths: async () =>
            (await git.run(["ls-files", "-z"], { cwd: path })).split("\0").filter((each) => each !== ""),
          text: (file) => textIn(path, file),
          close,
        };
      });
    },
  } satisfies Laboratory;
}

/**
 * A run of tests keeps two processors busy as a rule, and takes a gigabyte at the most. Where others are at work
 * already there is no room: tests that are starved of time fail for that alone.
 */
export function roomFor(processors: number, load: number, freeBytes: number): number {
  const hands = Math.min(Math.floor((processors - load) / 2), Math.floor(freeBytes / BYTES_PER_RUN) - 1);
  return Math.max(0, Math.min(MOST_ROOM, hands));
}

const BYTES_PER_RUN = 1_000_000_000;
const MOST_ROOM = 3;

/** What leads out of the place, by its name or by a link, is not there. */
function textIn(path: string, file: string): string | null {
  try {
    const real = realpathSync(join(path, file));
    if (!real.startsWith(`${path}/`)) return null;
    const bytes = readFileSync(real);
    return bytes.length > MOST_BYTES || bytes.includes(0) ? null : bytes.toString("utf8");
  } catch {
    // A folder, a broken link, a file that is gone: nothing to read.
    return null;
  }
}

const MOST_BYTES = 2_000_000;

/** Made as a tree first, and then checked out: git touches only what differs from what was there. */
async function set(git: Git, path: string, tree: string, texts: ReadonlyMap<string, string | null>): Promise<TreeId> {
  return onDisk(async () => {
    const base = await treeOf(git, tree);
    const whole = texts.size === 0 ? base : await treeWith(git, path, base, texts);
    await git.run(["read-tree", "--reset", "-u", whole], { cwd: path, timeoutMs: 600_000 });
    // What a run left behind is no part of the state that is tried next; what is ignored (dependencies) stays.
    await git.run(["clean", "-fdq"], { cwd: path });
    return treeId(whole);
  });
}

async function treeOf(git: Git, name: string): Promise<string> {
  return line(await git.run(["rev-parse", "--verify", `${name}^{tree}`]));
}

async function treeWith(
  git: Git,
  path: string,
  tree: string,
  texts: ReadonlyMap<string, string | null>,
): Promise<string> {
  const index = join(path, "..", `.index-${ownName()}`);
  const own = { cwd: path, index };
  try {
    await git.run(["read-tree", tree], own);
    const modes = await modesOf(git, path, tree, [...texts.keys()]);
    const entries: string[] = [];
    for (const [file, text] of texts) {
      if (text === null) {
        entries.push(`0 ${"0".repeat(tree.length)}\t${file}\0`);
        continue;
      }
      const blob = line(await git.run(["hash-object", "-w", "--no-filters", "--stdin"], { ...own, stdin: text }));
      entries.push(`${modes.get(file) ?? "100644"} ${blob}\t${file}\0`);
    }
    await git.run(["update-index", "-z", "--index-info"], { ...own, stdin: entries.join("") });
    return line(await git.run(["write-tree"], own));
  } finally {
    await rm(index, { force: true });
  }
}

/** A script stays a script. */
async function modesOf(
  git: Git,
  path: string,
  tree: string,
  files: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const text = await git.run(["ls-tree", "-z", "--full-tree", tree, "--", ...files], { cwd: path });
  const modes = new Map<string, string>();
  for (const entry of text.split("\0")) {
    const [, mode, name] = /^(\d+) blob [0-9a-f]+\t([^]*)$/.exec(entry) ?? [];
    if (mode !== undefined && name !== undefined) modes.set(name, mode);
  }
  return modes;
}
