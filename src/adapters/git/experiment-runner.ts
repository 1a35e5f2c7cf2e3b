import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { availableParallelism, freemem, loadavg } from "node:os";
import { join, resolve } from "node:path";
import { type TreeId, treeId } from "../../core/events/ids.ts";
import type {
  ExperimentCheckout,
  CheckoutRequest,
  ExperimentRunner,
  PathsFromCommit,
} from "../../ports/experiment-runner.ts";
import type { Environment } from "../process/environment.ts";
import { ignoredIn, isInstalledFolder } from "./dependencies/dependency-source.ts";
import { openCleanCheckout } from "./checkout/clean-checkout.ts";
import { onDisk } from "./remove-folder.ts";
import { pathInside, removeEscapingLinks, treeChanges } from "./tree-changes.ts";
import type { Git } from "./git.ts";
import { type Repository, trimLine, processUniqueName, repositoryOpener, userStateFolder } from "./repository.ts";
import { readCheckoutSettings } from "./checkout/private-repository.ts";
import type { WorkStart } from "./dependencies/work-start.ts";
import type { Sandbox } from "../../ports/sandbox.ts";

export interface ExperimentRunnerOptions {
  /** A folder in the user's checkout. */
  readonly root: string;
  /** The state folder of the user; default: from `env`. */
  readonly userState?: string;
  readonly setup: string | null;
  readonly share: readonly string[] | null;
  /** `false`: do not install from lockfiles; only link what the user's checkout has. */
  readonly installs?: boolean;
  /** Ignored files of the user's checkout that checks need. */
  readonly carry?: readonly string[];
  /** Whether files may be mounted instead of written; default: whichever is quicker. */
  readonly mount?: boolean;
  readonly env?: Environment;
  readonly setupEnv?: Environment;
  /** The sandbox of the setup command; default: none. */
  readonly sandbox?: Sandbox;
  /** The path at which sandboxed programs see a checkout with its own packages; default or `null`: its real path. */
  readonly shownAt?: string | null;
  /** Patterns of files, besides lockfiles and manifests, that affect the result of the setup command. */
  readonly inputs?: readonly string[];
  /** Returns packages and settings as they were before an agent worked; default: their current state. */
  start?(): Promise<WorkStart>;
  onNotice?(text: string): void;
}

/**
 * Makes clean checkouts in the user's state folder. Those of a killed process are removed when the next one is opened.
 * Git's settings for files, and the installed packages, are from the start of the work, before any agent worked.
 */
export function createExperimentRunner(options: ExperimentRunnerOptions): ExperimentRunner {
  const repositoryNow = repositoryOpener(options.root, options.env);
  const userState = options.userState ?? userStateFolder(options.env ?? process.env);
  const { start } = options;
  const openRepository = openOnce(repositoryNow, start === undefined ? undefined : () => start());
  return {
    extraCheckouts: () => extraCheckoutsFor(availableParallelism(), loadavg()[0]!, freemem()),
    async ignoredPaths(path) {
      const { repository } = await openRepository();
      if (path !== resolve(repository.top, repository.prefix)) return [];
      const isCarried = (ignored: string): boolean =>
        (options.carry ?? []).some((each) => `${ignored}/`.startsWith(`${each.replace(/\/$/, "")}/`));
      const ignored = await ignoredIn(repository.git, repository.top);
      return ignored.filter((each) => !isRemands(each) && !isInstalledFolder(each) && !isCarried(each));
    },
    async open(request) {
      const { repository, ...start } = await openRepository();
      return onDisk(() => openExperimentCheckout(repository, start, { ...options, userState }, request));
    },
  } satisfies ExperimentRunner;
}

const isRemands = (path: string): boolean => path === ".remand" || path.startsWith(".remand/");

interface OpenedRepository extends Partial<Omit<WorkStart, "settings">> {
  readonly settings: WorkStart["settings"];
  readonly repository: Repository;
}

/**
 * Returns a function that opens the repository with its settings: those of the start, or else the current ones. A
 * failed read is tried again at the next call.
 */
function openOnce(
  repositoryNow: () => Promise<Repository>,
  start?: () => Promise<WorkStart>,
): () => Promise<OpenedRepository> {
  if (start !== undefined) return async () => ({ repository: await repositoryNow(), ...(await start()) });
  const read = async (): Promise<OpenedRepository> => {
    const repository = await repositoryNow();
    return { repository, settings: await readCheckoutSettings(repository) };
  };
  let known: Promise<OpenedRepository> | null = null;
  const openRepository = (): Promise<OpenedRepository> =>
    (known ??= read().catch((error: unknown) => {
      known = null;
      throw error;
    }));
  openRepository().catch(() => undefined);
  return openRepository;
}

async function openExperimentCheckout(
  repository: Repository,
  { settings, dependencies, setupEnvironment, forget, isSandboxed }: Omit<OpenedRepository, "repository">,
  { shownAt = null, ...options }: ExperimentRunnerOptions & { readonly userState: string },
  { signal, commit = "HEAD", tree, base, name, isForAgent = false }: CheckoutRequest,
): Promise<ExperimentCheckout> {
  const onNotice = (text: string): void => options.onNotice?.(text);
  const wanted = { commit, ...(tree === undefined ? {} : { tree }), ...(base === undefined ? {} : { base }) };
  const { setupEnv } = options;
  const inHome =
    setupEnv === undefined || setupEnvironment === undefined
      ? {}
      : { setupEnv: (path: string) => setupEnvironment(path, setupEnv) };
  const checkout = await openCleanCheckout(repository, wanted, settings, {
    ...options,
    ...inHome,
    ...(name === undefined ? {} : { name }),
    ...(dependencies === undefined ? {} : { dependencies }),
    ...(shownAt !== null && !isForAgent && (await isSandboxed?.()) === true ? { shownAt } : {}),
    signal,
    onNotice,
  });
  const { path, git: own } = checkout;
  let hasOthersRun = isForAgent;
  let closed: Promise<void> | null = null;
  return {
    path: resolve(path, repository.prefix),
    async set(to, texts, taken) {
      const made = await onDisk(() => set(repository.git, own, path, to, texts, taken));
      hasOthersRun ||= made !== checkout.base;
      await removeEscapingLinks(path, await treeChanges(repository.git, checkout.base, made));
      return made;
    },
    paths: async () => (await own.run(["ls-files", "-z"])).split("\0").filter((each) => each !== ""),
    writtenPaths: checkout.written,
    text: (file) => textIn(path, file),
    close: () =>
      (closed ??= onDisk(async () => {
        await forget?.(path);
        await checkout.close(hasOthersRun);
      })),
  };
}

/**
 * Returns how many more checkouts can run at once. A run of tests usually takes two processors and at most a gigabyte.
 * If others already use the machine there is no room: tests that are starved of time fail for that reason.
 */
export function extraCheckoutsFor(processors: number, load: number, freeBytes: number): number {
  const extra = Math.min(Math.floor((processors - load) / 2), Math.floor(freeBytes / BYTES_PER_RUN) - 1);
  return Math.max(0, Math.min(MOST_EXTRA_CHECKOUTS, extra));
}

const BYTES_PER_RUN = 1_000_000_000;
const MOST_EXTRA_CHECKOUTS = 3;

/** Reads a file of a checkout; `null` for a path that leads out of it, by its name or a link. */
function textIn(path: string, file: string): string | null {
  try {
    const inside = pathInside(path, file);
    if (inside === null) return null;
    const bytes = readFileSync(join(path, inside));
    return bytes.length > MOST_BYTES || bytes.includes(0) ? null : bytes.toString("utf8");
  } catch {
    // A folder, a broken link or a missing file: no text.
    return null;
  }
}

const MOST_BYTES = 2_000_000;

/** Sets the files by making a tree first and checking it out, so that git touches only files that differ. */
async function set(
  git: Git,
  own: Git,
  path: string,
  tree: string,
  texts: ReadonlyMap<string, string | null>,
  taken: PathsFromCommit = { from: tree, paths: [] },
): Promise<TreeId> {
  const base = await treeOf(git, tree);
  const isSame = texts.size === 0 && taken.paths.length === 0;
  const whole = isSame ? base : await treeWith(git, path, base, texts, taken);
  await own.run(["read-tree", "--reset", "-u", whole], { timeoutMs: 600_000 });
  // Remove what a run left, so that it does not affect the next one; ignored files (dependencies) stay.
  await own.run(["clean", "-fdq"]);
  return treeId(whole);
}

async function treeOf(git: Git, name: string): Promise<string> {
  return trimLine(await git.run(["rev-parse", "--verify", `${name}^{tree}`]));
}

async function treeWith(
  git: Git,
  path: string,
  tree: string,
  texts: ReadonlyMap<string, string | null>,
  { from, paths }: PathsFromCommit,
): Promise<string> {
  // Write the objects to the main repository, so that others can use the tree by its id.
  const index = join(path, "..", `${processUniqueName()}.index`);
  const own = { index };
  try {
    await git.run(["read-tree", tree], own);
    const modes = await entriesOf(git, tree, [...texts.keys()]);
    const theirs = await entriesOf(git, from, paths);
    const entries = paths.map((file) => {
      const { mode, id } = theirs.get(file) ?? { mode: "0", id: "0".repeat(tree.length) };
      return `${mode} ${id}\t${file}\0`;
    });
    for (const [file, text] of texts) {
      if (text === null) {
        entries.push(`0 ${"0".repeat(tree.length)}\t${file}\0`);
        continue;
      }
      const blob = trimLine(await git.run(["hash-object", "-w", "--no-filters", "--stdin"], { ...own, stdin: text }));
      entries.push(`${modes.get(file)?.mode ?? "100644"} ${blob}\t${file}\0`);
    }
    await git.run(["update-index", "-z", "--index-info"], { ...own, stdin: entries.join("") });
    return trimLine(await git.run(["write-tree"], own));
  } finally {
    await rm(index, { force: true });
  }
}

interface TreeEntry {
  readonly mode: string;
  readonly id: string;
}

/** Returns the entries of files, to keep their modes: a script stays executable, and a link a link. */
async function entriesOf(git: Git, tree: string, files: readonly string[]): Promise<ReadonlyMap<string, TreeEntry>> {
  const entries = new Map<string, TreeEntry>();
  for (let at = 0; at < files.length; at += MOST_PATHS) {
    const some = files.slice(at, at + MOST_PATHS);
    const list = ["--literal-pathspecs", "ls-tree", "-z", "--full-tree", tree, "--", ...some];
    const text = await git.run(list);
    for (const entry of text.split("\0")) {
      const [, mode, id, name] = /^(\d+) (?:blob|commit) ([0-9a-f]+)\t([^]*)$/.exec(entry) ?? [];
      if (mode !== undefined && id !== undefined && name !== undefined) entries.set(name, { mode, id });
    }
  }
  return entries;
}

/** The length of a command line is limited. */
const MOST_PATHS = 500;
