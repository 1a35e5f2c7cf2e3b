import { setTimeout as sleep } from "node:timers/promises";
import { assert } from "../../stdx/assert.ts";
import { RemandError } from "../../core/events/error.ts";
import { treeId, type StoryId, type TreeId } from "../../core/events/ids.ts";
import type { CommitNote } from "../../ports/workspace.ts";
import { readTrailers } from "../../parse/code/git-output.ts";
import { gitFailure, type Git } from "./git.ts";
import { trimLine } from "./repository.ts";

/** The commit of a ref. */
export interface RefCommit {
  readonly commit: string;
  readonly tree: TreeId;
  readonly trailers: ReadonlyMap<string, string>;
}

/**
 * Returns a story's id as part of a ref name. Git forbids two dots, a dot at the end and `.lock`; ids contain no `%`.
 */
export function refName(story: StoryId): string {
  return story
    .replaceAll("..", ".%2e")
    .replace(/\.$/, "%2e")
    .replace(/\.lock$/i, "%2elock");
}

/** Reads the refs of these names and below them, with all needed fields, in one call. */
export async function readRefs(git: Git, names: readonly string[]): Promise<ReadonlyMap<string, RefCommit>> {
  const format = "%(refname)%00%(objectname)%00%(tree)%00%(contents)%00";
  const fields = (await git.run(["for-each-ref", `--format=${format}`, ...names])).split("\0");
  const refs = new Map<string, RefCommit>();
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const [name, commit, tree, message] = fields.slice(at, at + 4) as [string, string, string, string];
    refs.set(name.trim(), { commit, tree: treeId(tree), trailers: readTrailers(message) });
  }
  return refs;
}

/** An update of one ref. `to: null` deletes it; `was: null` creates it. */
export interface RefUpdate {
  readonly ref: string;
  readonly to: string | null;
  /** The commit the ref must still be at. If it was moved in the meantime, the update is refused. */
  readonly was: string | null;
}

/**
 * Applies all updates or none. Waits for another git's lock; if the lock stays, the error names it and says how to
 * remove it.
 */
export async function updateRefs(git: Git, updates: readonly RefUpdate[]): Promise<void> {
  const lines = updates.flatMap(({ ref, to, was }) => {
    if (to === was) return [];
    if (to === null) return [`delete ${ref}\0${was}\0`];
    return [was === null ? `create ${ref}\0${to}\0` : `update ${ref}\0${to}\0${was}\0`];
  });
  if (lines.length === 0) return;
  for (let tries = 0; ; tries++) {
    const { exitCode, stderr } = await git.ask(["update-ref", "--stdin", "-z"], { stdin: lines.join("") });
    if (exitCode === 0) return;
    const lock = /Unable to create '([^']+\.lock)': File exists/.exec(stderr)?.[1];
    if (lock === undefined) throw gitFailure(`git update-ref failed with ${exitCode}`, stderr);
    if (tries === LOCK_PAUSES_MS.length) throw refLocked(lock);
    await sleep(LOCK_PAUSES_MS[tries]);
  }
}

/** Git holds such a lock only for milliseconds. */
const LOCK_PAUSES_MS = [50, 100, 200, 400, 800];

function refLocked(lock: string): RemandError {
  return new RemandError(
    "ref-locked",
    `a ref cannot be moved: the lock file ${lock} exists, probably left by a git process that was killed`,
    `If no git command runs in this repository, remove it: rm '${lock}'`,
  );
}

export const isRefLocked = (error: unknown): boolean => error instanceof RemandError && error.code === "ref-locked";

/**
 * Refers to a commit by the first of these sets of updates that succeeds, so that a locked ref does not lose the work.
 * Falls back to a ref name that is unique to the commit.
 */
export async function keepUnderSome(
  git: Git,
  story: StoryId,
  commit: string,
  choices: readonly (readonly RefUpdate[])[],
): Promise<void> {
  const ownName = { ref: `refs/remand/saved/${refName(story)}/${commit}`, to: commit, was: null };
  for (const updates of [...choices, [ownName]]) {
    try {
      return await updateRefs(git, updates);
    } catch (error) {
      if (!isRefLocked(error) || updates[0] === ownName) throw error;
    }
  }
}

/** Remand's commit trailers, in their order in the message. */
export const TRAILERS = {
  story: "Remand-Story",
  attempt: "Remand-Attempt",
  phase: "Remand-Phase",
  role: "Remand-Role",
  journal: "Remand-Journal",
  restored: "Remand-Restored",
  setAside: "Remand-Set-Aside",
} as const;

export function trailersOf(story: StoryId, note: CommitNote): readonly (readonly [string, string])[] {
  return [
    [TRAILERS.story, story],
    [TRAILERS.attempt, String(note.attempt)],
    ...(note.phase === undefined ? [] : [[TRAILERS.phase, note.phase] as const]),
    ...(note.role === undefined ? [] : [[TRAILERS.role, note.role] as const]),
    [TRAILERS.journal, note.journalHead],
  ];
}

/** Makes a commit of a tree, without hooks, signature or index. */
export async function commitTree(
  git: Git,
  commit: {
    readonly tree: TreeId;
    readonly parents: readonly string[];
    readonly subject: string;
    readonly trailers: readonly (readonly [string, string])[];
    /** A paragraph between the subject and the trailers. */
    readonly body?: string;
  },
): Promise<string> {
  const body = commit.body === undefined ? [] : [commit.body, ""];
  const message = [subjectLine(commit.subject), "", ...body, ...commit.trailers.map(trailerLine), ""].join("\n");
  const parents = commit.parents.flatMap((parent) => ["-p", parent]);
  return trimLine(await git.run(["commit-tree", commit.tree, ...parents, "-F", "-"], { stdin: message }));
}

/** Returns a subject of one line: a second line of a story's title could be taken for a trailer. */
function subjectLine(subject: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what this removes
  const text = subject.replaceAll(/[\s\u0000-\u001f\u007f]+/g, " ").trim();
  return text === "" ? "remand" : text.length > 200 ? `${text.slice(0, 199)}…` : text;
}

function trailerLine([key, value]: readonly [string, string]): string {
  assert(!/[\0\r\n]/.test(value), `the trailer ${key} is one line`);
  return `${key}: ${value}`;
}

export function isSameNote({ trailers }: RefCommit, story: StoryId, note: CommitNote): boolean {
  return trailers.get(TRAILERS.story) === story && trailers.get(TRAILERS.attempt) === String(note.attempt);
}
