import { realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { RemandError } from "../../domain/error.ts";
import { treeId, type TreeId } from "../../domain/ids.ts";
import type { JudgedState } from "../../domain/gate-report.ts";
import type { Environment } from "../process/environment.ts";
import { openCleanCheckout } from "./clean-checkout.ts";
import { onDisk } from "./disk-error.ts";
import type { Git } from "./git.ts";
import { attemptIn, baseFor } from "./judged-base.ts";
import { ownName } from "./own-name.ts";
import { createPrivateIndex, treeOfFiles } from "./private-index.ts";
import { commitOf, line, repositoryOpener, type Repository } from "./repository.ts";
import { ensureStateFolder } from "./state-folder.ts";
import { readCheckoutSettings } from "./private-repository.ts";

export interface JudgedOptions {
  /** A folder of the user's checkout. */
  readonly root: string;
  /** The folder in which Remand keeps its own things. */
  readonly state: string;
  /** The commit to judge; `null`: the files as they are. */
  readonly at: string | null;
  /** What to compare with; `null`: found by itself. */
  readonly base: string | null;
  /** The branch that the files come from, where a CI service says so: its checkouts may be on none. */
  readonly sourceBranch?: string;
  readonly setup: string | null;
  readonly share: readonly string[] | null;
  /** Ignored files that are copied from the user's checkout. */
  readonly carry?: readonly string[];
  /** Patterns of files, besides lockfiles and manifests, that decide what the set-up makes. */
  readonly inputs?: readonly string[];
  /** The folder for what belongs to the user and to no checkout. */
  readonly userState: string;
  readonly env?: Environment;
  readonly setupEnv?: Environment;
  readonly signal: AbortSignal;
  onNotice(text: string): void;
}

/** A state of the files, in a folder where it can be judged. */
export interface JudgedPlace extends JudgedState {
  readonly path: string;
  /** Where a person has these files, if `path` is a clean checkout of them. */
  readonly workedIn?: string;
  /** Takes away what was made for it. */
  close(): Promise<void>;
}

/**
 * The files as they are are judged where they are: nothing is written but objects that no name refers to. A commit is
 * judged in a clean checkout, which is removed afterwards.
 */
export async function openJudgedPlace(options: JudgedOptions): Promise<JudgedPlace> {
  const repository = await repositoryOpener(options.root, options.env)();
  repository.notices.forEach((text) => options.onNotice(text));
  return onDisk(async () => {
    await ensureStateFolder(options.state);
    const state = await realpath(options.state);
    return options.at === null ? filesAsTheyAre(repository, state, options) : commitAlone(repository, options);
  });
}

async function filesAsTheyAre(repository: Repository, state: string, options: JudgedOptions): Promise<JudgedPlace> {
  const { git, top, prefix, gitDir } = repository;
  const tree = await treeNow(git, top, gitDir, state);
  const commit = await commitOf(git, "HEAD");
  const base = await baseFor(git, { tree, commit }, options.base);
  const attempt = await attemptIn(git, { commit }, base.commit, options.sourceBranch);
  const judged = { at: null, tree, commit: commit ?? "", base: base.commit, baseName: base.name, folder: prefix };
  return { ...judged, ...attemptOf(attempt), path: join(top, prefix), close: async () => {} };
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

async function commitAlone(repository: Repository, options: JudgedOptions): Promise<JudgedPlace> {
  const { git, top, prefix } = repository;
  const at = options.at!;
  const commit = await commitOf(git, at);
  if (commit === null)
    throw new RemandError("usage", `there is no commit ${at}`, "Name a branch or a commit that exists.");
  const tree = treeId(line(await git.run(["rev-parse", "--verify", `${commit}^{tree}`])));
  const base = await baseFor(git, { tree, commit, branch: at }, options.base);
  const attempt = await attemptIn(git, { commit, branch: at }, base.commit, options.sourceBranch);
  const wanted = { commit, base: base.commit };
  const checkout = await openCleanCheckout(repository, wanted, await readCheckoutSettings(repository), options);
  return {
    at,
    tree,
    commit,
    base: base.commit,
    baseName: base.name,
    folder: prefix,
    ...attemptOf(attempt),
    path: resolve(checkout.path, prefix),
    workedIn: resolve(top, prefix),
    close: () => onDisk(() => checkout.close()),
  };
}

const attemptOf = (attempt: string | null): Pick<JudgedState, "attemptOf"> =>
  attempt === null ? {} : { attemptOf: attempt };
