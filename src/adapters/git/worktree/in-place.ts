import { join, resolve } from "node:path";
import { RemandError } from "../../../core/events/error.ts";
import type { StoryId, TreeId } from "../../../core/events/ids.ts";
import type { CommitNote, KeptCommit, PreparedWorkspace, Workspace } from "../../../ports/workspace.ts";
import type { Environment } from "../../process/environment.ts";
import { sha256 } from "../../../stdx/sha256.ts";
import { onDisk } from "../remove-folder.ts";
import { changedPaths, diffText, fileText } from "../history.ts";
import { type PrivateIndex, createPrivateIndex, treeOfFiles } from "../private-index.ts";
import {
  type RefCommit,
  type RefUpdate,
  TRAILERS,
  commitTree,
  isSameNote,
  keepUnderSome,
  readRefs,
  refName,
  trailersOf,
  updateRefs,
} from "../refs.ts";
import { type Repository, commitOf, ensureStateFolder, trimLine, repositoryOpener } from "../repository.ts";
import { submodulesWithWork } from "../submodules.ts";
import { clearAfterCrash } from "./make-worktree.ts";
import { restoreTree, treeWithOlder } from "./restore-tree.ts";

export interface InPlaceOptions {
  /** A folder in the user's checkout. */
  readonly root: string;
  /** The folder for Remand's own state. */
  readonly state: string;
  readonly env?: Environment;
}

/** The user's own checkout, as the workspace of one story. */
export interface InPlace extends Workspace {
  /**
   * Restores the files from before the story. Returns the submodules that still have changes: those are not touched.
   */
  undo(story: StoryId): Promise<readonly string[]>;
}

/** The refs of a story. Each commit contains the earlier ones in its history, so one ref keeps everything. */
interface RefNames {
  readonly all: string;
  readonly start: string;
  readonly last: string;
  attempt(number: number): string;
}

interface LoopRefs {
  readonly start: RefCommit;
  readonly last: RefCommit;
  readonly refs: ReadonlyMap<string, RefCommit>;
}

interface InPlaceContext {
  readonly repository: Repository;
  readonly story: StoryId;
  readonly names: RefNames;
  readonly index: PrivateIndex;
}

/**
 * Works in the user's checkout without touching their branch, index or stash. Every state is kept as a commit under
 * `refs/remand/loop/`, made from a private index.
 */
export function createInPlace(options: InPlaceOptions): InPlace {
  const state = resolve(options.state);
  const turns = createKeyedQueue();
  const repositoryNow = repositoryOpener(options.root, options.env);
  const seen = new Set<StoryId>();
  const starts = new Map<StoryId, string>();

  async function at<T>(story: StoryId, work: (context: InPlaceContext) => Promise<T>): Promise<T> {
    const repository = await repositoryNow();
    const cookie = `git-${sha256(repository.top).slice(0, 24)}`;
    const names = namesFor(story);
    const index = createPrivateIndex(join(state, "index", story));
    // All stories share one checkout, so they share one queue.
    return turns.take("checkout", () =>
      onDisk(async () => {
        await ensureStateFolder(state);
        await index.seed(join(repository.gitDir, "index"));
        if (!seen.has(story)) await clearAfterCrash(repository.commonDir, cookie, [names.start, names.last], index);
        seen.add(story);
        return work({ repository: { ...repository, git: repository.gitFor(cookie) }, story, names, index });
      }),
    );
  }

  return {
    prepare: (story) => at(story, (context) => prepare(context, starts)),
    keep: (story, note) => at(story, (context) => keep(context, note)),
    // The files in the checkout are the work, whether an agent or the user changed them.
    adopt: (story, _known, note) => at(story, (context) => keep(context, note)),
    currentState: (story) =>
      at(story, async (context) => {
        const [{ last }, tree] = await Promise.all([standingOf(context), treeNow(context)]);
        return { tree, commit: last.commit };
      }),
    // Read-only: these need not wait for an engine at work.
    changedPaths: async (_, from, to) => changedPaths((await repositoryNow()).git, from, to),
    diff: async (_, from, to) => diffText((await repositoryNow()).git, from, to),
    fileAt: async (_, commit, path) => fileText((await repositoryNow()).git, commit, path),
    restore: (story, tree, note) => at(story, (context) => restore(context, tree, note)),
    restorePaths: (story, paths, from, note) =>
      at(story, async (context) => {
        const { git, top } = context.repository;
        const tree = await context.index.use(async (index) => {
          await treeOfFiles(git, top, index, "link");
          return treeWithOlder(git, { top, index, paths, from });
        });
        return restore(context, tree, note);
      }),
    undo: (story) =>
      at(story, async (context) => {
        const [{ start }, { git, top }] = [await standingOf(context), context.repository];
        await restore(context, start.tree, { attempt: 0, subject: "back to the start", journalHead: "none" });
        return submodulesWithWork(git, top, top);
      }),
    // Nothing is removed after an interrupted attempt: some of the changes may be the user's.
    forget: async () => {},
    // The kept commits stay, so that they can be inspected and undone.
    dispose: (story) => at(story, ({ index }) => index.drop()),
  };
}

function namesFor(story: StoryId): RefNames {
  const all = `refs/remand/loop/${refName(story)}`;
  return { all, start: `${all}/start`, last: `${all}/last`, attempt: (number) => `${all}/${number}` };
}

async function standingOf({ repository, story, names }: InPlaceContext): Promise<LoopRefs> {
  const refs = await readRefs(repository.git, [names.all]);
  const start = refs.get(names.start);
  const last = refs.get(names.last);
  if (start !== undefined && last !== undefined) return { start, last, refs };
  throw new RemandError(
    "workspace-broken",
    `there is no record of ${story} in this checkout`,
    "It has not started here, or it used a worktree (--worktree) and left your files as they were.",
  );
}

/**
 * Returns the tree of the current files. A nested repository that an agent left becomes a link, which the gates see.
 */
const treeNow = ({ repository, index }: InPlaceContext, nested: "refuse" | "link" = "link"): Promise<TreeId> =>
  index.use((copy) => treeOfFiles(repository.git, repository.top, copy, nested));

/**
 * Prepares the checkout. The start commit never moves: an agent that moved its ref would be compared with its own work.
 */
async function prepare(context: InPlaceContext, starts: Map<StoryId, string>): Promise<PreparedWorkspace> {
  const { repository, names, story } = context;
  const { git, top, prefix } = repository;
  const [refs, head] = await Promise.all([
    readRefs(git, [names.all]),
    git.ask(["symbolic-ref", "--short", "--quiet", "HEAD"]),
  ]);
  const began = starts.get(story);
  const named = refs.get(names.start)?.commit;
  // Before the story begins, a nested repository is the user's own, and the user must decide about it.
  const tree = await treeNow(context, (began ?? named) === undefined ? "refuse" : "link");
  if (began !== undefined && named !== began)
    await updateRefs(git, [{ ref: names.start, to: began, was: named ?? null }]);
  const start = began ?? named ?? (await begin(context, tree, refs.get(names.last)?.commit ?? null));
  starts.set(story, start);
  return {
    path: join(top, prefix),
    branch: head.exitCode === 0 ? trimLine(head.stdout) : "HEAD",
    tree,
    commit: refs.get(names.last)?.commit ?? start,
    base: start,
  };
}

/** Returns the start commit: the user's last commit or, with uncommitted changes, a new commit with them. */
async function begin(
  { repository: { git }, story, names }: InPlaceContext,
  tree: TreeId,
  last: string | null,
): Promise<string> {
  const head = await commitOf(git, "HEAD");
  const isClean = head !== null && trimLine(await git.run(["rev-parse", `${head}^{tree}`])) === tree;
  const trailers = [[TRAILERS.story, story] as const];
  const parents = head === null ? [] : [head];
  const start = isClean
    ? head
    : await commitTree(git, { tree, parents, subject: "remand: where it started", trailers });
  await updateRefs(git, [
    { ref: names.start, to: start, was: null },
    { ref: names.last, to: start, was: last },
  ]);
  return start;
}

async function keep(context: InPlaceContext, note: CommitNote): Promise<KeptCommit> {
  const { story, names } = context;
  const [{ last, refs }, tree] = await Promise.all([standingOf(context), treeNow(context)]);
  const before = refs.get(names.attempt(note.attempt));
  if (
    before !== undefined &&
    before.commit === last.commit &&
    before.tree === tree &&
    isSameNote(before, story, note)
  ) {
    return { tree, commit: before.commit };
  }
  const commit = { tree, subject: note.subject, trailers: trailersOf(story, note) };
  return record(context, { last, refs }, commit, note.attempt);
}

async function restore(context: InPlaceContext, tree: TreeId, note: CommitNote): Promise<KeptCommit> {
  const { repository, story, index } = context;
  const { git, top } = repository;
  let { last, refs } = await standingOf(context);
  await index.use(async (copy) => {
    const now = await treeOfFiles(git, top, copy, "link");
    if (now !== tree && now !== last.tree) {
      const trailers = [[TRAILERS.story, story] as const, [TRAILERS.setAside, now] as const];
      await record(context, { last, refs }, { tree: now, subject: "remand: set aside before going back", trailers });
      ({ last, refs } = await standingOf(context));
    }
    await restoreTree(git, { top, index: copy, from: now, to: tree, overwrite: false });
  });
  if (last.tree === tree && isSameNote(last, story, note) && last.trailers.get(TRAILERS.restored) === tree) {
    return { tree, commit: last.commit };
  }
  const trailers = [...trailersOf(story, note), [TRAILERS.restored, tree] as const];
  return record(context, { last, refs }, { tree, subject: note.subject, trailers });
}

interface NewCommit {
  readonly tree: TreeId;
  readonly subject: string;
  readonly trailers: readonly (readonly [string, string])[];
}

async function record(
  { repository: { git }, story, names }: InPlaceContext,
  { last, refs }: Pick<LoopRefs, "last" | "refs">,
  commit: NewCommit,
  attempt?: number,
): Promise<KeptCommit> {
  const made = await commitTree(git, { ...commit, parents: [last.commit] });
  const newest: RefUpdate = { ref: names.last, to: made, was: last.commit };
  const name = attempt === undefined ? null : names.attempt(attempt);
  const own: readonly RefUpdate[] = name === null ? [] : [{ ref: name, to: made, was: refs.get(name)?.commit ?? null }];
  await keepUnderSome(git, story, made, [[newest, ...own], ...(own.length === 0 ? [] : [own])]);
  return { tree: commit.tree, commit: made };
}

/** Runs one piece of work at a time per name. Later work waits, and runs even if earlier work failed. */
export interface KeyedQueue {
  take<T>(name: string, work: () => Promise<T>): Promise<T>;
}

export function createKeyedQueue(): KeyedQueue {
  const last = new Map<string, Promise<unknown>>();
  return {
    async take(name, work) {
      const before = last.get(name);
      const turn = before === undefined ? work() : before.then(work, work);
      last.set(name, turn);
      try {
        return await turn;
      } finally {
        if (last.get(name) === turn) last.delete(name);
      }
    },
  };
}
