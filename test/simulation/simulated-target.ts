import { treeId, type StoryId } from "../../src/core/events/ids.ts";
import type { Integration } from "../../src/ports/workspace.ts";
import { chance } from "./chance.ts";
import { beginWork, type WorkCounts } from "./work-counts.ts";

/** The branch that all stories are for, and every tree that was ever put onto it. */
export interface TargetDisk {
  /** Its commits, oldest first; a rewrite replaces them all. */
  history: string[];
  readonly landed: { readonly story: StoryId; readonly tree: string }[];
  /** The commit of the target that each of the stories' commits holds. */
  readonly holds: Map<string, string>;
  /** The commit of each branch that was moved away from what was kept. */
  readonly strays: Map<StoryId, string>;
  moves: number;
}

export const newTarget = (): TargetDisk => ({
  history: ["main0"],
  landed: [],
  holds: new Map(),
  strays: new Map(),
  moves: 0,
});

/** How often another writer changes the target or a story's branch, each time it is read. */
export interface TargetFaults {
  readonly moves: number;
  readonly conflicts: number;
  readonly rewrites: number;
  readonly strays: number;
}

const QUIET: TargetFaults = { moves: 0, conflicts: 0, rewrites: 0, strays: 0 };

type Place = { tree: string; kept: string[] };
export type Guarded = <A extends readonly unknown[], T>(
  what: string,
  work: (...args: A) => T,
) => (...args: A) => Promise<Awaited<T>>;

interface Parts {
  readonly seed: number;
  /** Without them every branch is current, and stories do not depend on each other by time. */
  readonly faults: TargetFaults | undefined;
  readonly disk: { readonly target: TargetDisk; readonly deeds: WorkCounts };
  place(story: StoryId): Place;
  readonly guarded: Guarded;
}

/** A target that moves, conflicts and is rewritten, and branches with foreign commits. A commit is its tree here. */
export function simulatedIntegration({ seed, faults = QUIET, disk, place, guarded }: Parts): Integration {
  const { target, deeds } = disk;
  const happens = (what: string, probability: number): boolean => chance(seed, what, ++target.moves) < probability;
  const head = (): string => target.history.at(-1)!;
  const now = () => ({ branch: "main", commit: head() });
  const isCurrent = (commit: string): boolean => faults === QUIET || (target.holds.get(commit) ?? "main0") === head();
  const somebodyElse = (): void => {
    if (happens("move", faults.moves)) target.history.push(`main-${target.moves}`);
    if (happens("rewrite", faults.rewrites)) target.history = [`rewritten-${target.moves}`];
  };
  const standing = (commit: string) => ({
    target: now(),
    isCurrent: isCurrent(commit),
    conflicts: !isCurrent(commit) && chance(seed, "conflict", head(), commit) < faults.conflicts ? ["src/a.ts"] : [],
  });
  return {
    target: guarded("target", now),
    mergeStatus: guarded("standing", (_story, commit) => (somebodyElse(), standing(commit))),
    tip: guarded("tip", (story) => target.strays.get(story) ?? place(story).kept.at(-1)!),
    align: guarded("align", (story, { commit }, drop) => {
      if (happens("stray", faults.strays)) target.strays.set(story, `stray-${target.moves}`);
      const stray = target.strays.get(story);
      if (stray !== undefined && stray !== drop) return { commit: stray, subject: "by hand", author: "Ada" };
      target.strays.delete(story);
      Object.assign(place(story), { tree: commit, kept: [...place(story).kept, commit] });
      return null;
    }),
    update: guarded("update", (story, { commit }) => {
      const { conflicts } = standing(commit);
      const tree = `${commit}+${head()}${conflicts.length > 0 ? "<<<" : ""}`;
      target.holds.set(tree, head());
      Object.assign(place(story), { tree, kept: [...place(story).kept, tree] });
      return { tree: treeId(tree), commit: tree, conflicts };
    }),
    merge: guarded("merge", (story, { commit, tree }) => {
      if (target.landed.some((each) => each.story === story && each.tree === tree)) {
        beginWork(deeds, "merge", story);
        return now();
      }
      somebodyElse();
      if (!isCurrent(commit)) return null;
      beginWork(deeds, "merge", story);
      target.history.push(`merge-of-${commit}`);
      target.landed.push({ story, tree });
      return now();
    }),
    holds: guarded("holds", (_story, { tree }) => ({
      target: now(),
      isHeld: target.landed.some((each) => each.tree === tree),
    })),
    publish: guarded("publish", (story) => ({ remote: "origin", branch: `remand/${story}`, base: "main" })),
  };
}
