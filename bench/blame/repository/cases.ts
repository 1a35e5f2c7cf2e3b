import type { ChangedHunk } from "../../../src/core/blame/change.ts";
import type { Failure } from "../../../src/core/blame/failure.ts";
import { filesWithout } from "../../../src/decide/blame/files-without.ts";
import { readHunks } from "../../../src/parse/code/failure-material.ts";
import { readFailure } from "../../../src/parse/code/failure.ts";
import { readGitDiff } from "../../../src/parse/code/git-output.ts";
import { pathIndex } from "../../../src/parse/code/imports.ts";
import type { Iteration } from "./iterations.ts";
import type { SuiteRun, Texts, Trouble, Workshop } from "./workshop.ts";

export const CATEGORIES = [
  "single",
  "new code",
  "lookalike",
  "multi",
  "joint",
  "unmet",
  "pre-existing",
  "environment",
  "flaky",
] as const;
export type Category = (typeof CATEGORIES)[number];

/**
 * Where the slip of a case is: in lines that the iteration changed anyway, in a change of its own in a changed file, or
 * in a file that the iteration did not change otherwise.
 */
export const SLIP_PLACES = ["inside", "own", "untouched"] as const;
export type SlipPlace = (typeof SLIP_PLACES)[number];

/** An iteration on which the check fails, and its cause. */
export interface RepositoryCase {
  readonly place?: SlipPlace;
  readonly category: Category;
  readonly origin: Iteration["origin"];
  readonly label: string;
  /** The kinds of slips that were added. */
  readonly kinds: readonly string[];
  readonly base: string;
  readonly tree: string;
  readonly diff: string;
  readonly hunks: readonly ChangedHunk[];
  readonly run: SuiteRun;
  /** Ids of the hunks with the slips; empty if no change is the cause. */
  readonly truth: readonly number[];
  /** The folder in which it ran; the output names files by it. */
  readonly root: string;
  readonly trouble?: Trouble;
}

/** The hunks of a change, by their ids in its diff. */
export async function hunksBetween(workshop: Workshop, base: string, tree: string): Promise<ChangedHunk[]> {
  return readHunks(readGitDiff(await workshop.diff(base, tree)));
}

/** The hunks of the full change that contain the slips, one for each part; `null` if they cannot be told apart. */
export async function truthOf(
  workshop: Workshop,
  base: string,
  clean: string,
  tree: string,
): Promise<{ readonly truth: readonly number[]; readonly hunks: readonly ChangedHunk[] } | null> {
  const put = await hunksBetween(workshop, clean, tree);
  const hunks = await hunksBetween(workshop, base, tree);
  const truth = put.map((slip) => hunks.filter((hunk) => hunk.file === slip.file && meets(hunk, slip)));
  if (truth.some((found) => found.length !== 1)) return null;
  const ids = truth.map(([hunk]) => hunk!.id);
  return new Set(ids).size === ids.length ? { truth: ids, hunks } : null;
}

/** Where the only culprit of a case is, relative to the iteration's other changes. */
export async function placeOfSlip(
  workshop: Workshop,
  { base, clean }: { readonly base: string; readonly clean: string },
  { truth, hunks }: Pick<RepositoryCase, "truth" | "hunks">,
): Promise<SlipPlace> {
  const culprit = hunks.find(({ id }) => id === truth[0])!;
  const others = (await hunksBetween(workshop, base, clean)).filter(({ file }) => file === culprit.file);
  if (others.length === 0) return "untouched";
  // The old version is the same with and without the slip, so its lines show which changes merged.
  const isInside = others.some(
    (other) =>
      other.oldStart <= Math.max(culprit.oldEnd, culprit.oldStart) &&
      Math.max(other.oldEnd, other.oldStart) >= culprit.oldStart,
  );
  return isInside ? "inside" : "own";
}

/** Whether two hunks overlap in the same new version. */
function meets(hunk: ChangedHunk, slip: ChangedHunk): boolean {
  if (slip.added.length > 0)
    return (
      hunk.added.length > 0 &&
      hunk.start <= slip.start + slip.added.length - 1 &&
      hunk.start + hunk.added.length - 1 >= slip.start
    );
  if (hunk.added.length === 0) return hunk.start === slip.start;
  return hunk.start <= slip.start && hunk.start + hunk.added.length >= slip.start;
}

/** The base with only these hunks applied. */
export async function onBase(
  workshop: Workshop,
  { base, tree, hunks }: Pick<RepositoryCase, "base" | "tree" | "hunks">,
  kept: readonly number[],
): Promise<string> {
  const without = new Set(hunks.map(({ id }) => id).filter((id) => !kept.includes(id)));
  const texts: Texts = filesWithout(
    hunks,
    without,
    (path) => workshop.text(tree, path),
    (path) => workshop.text(base, path),
  );
  return workshop.treeWith(tree, texts);
}

/** Whether two runs fail in a test of the same name, or in exactly the same way. */
export function failsAlike(
  workshop: Workshop,
  a: SuiteRun,
  b: SuiteRun,
  by: (failure: Failure) => string = ({ test, message }) => test ?? message,
): boolean {
  if (!a.failed || !b.failed) return false;
  const index = pathIndex([]);
  const said = ({ output }: SuiteRun): Set<string> =>
    new Set(readFailure(output, { root: workshop.bench.path, paths: index }).failures.map((failure) => by(failure)));
  const known = said(a);
  return known.size === 0 || [...said(b)].some((each) => known.has(each));
}

/** Whether the code does not even parse: then it is no slip, because it would not have been handed in. */
export const isGarbled = ({ output }: SuiteRun): boolean =>
  /SyntaxError|IndentationError|TabError|Transform failed|PARSE_ERROR|Parse failure|Unexpected token|error TS1\d{3}\b/.test(
    output,
  );
