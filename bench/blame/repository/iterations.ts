import { looksLikeTest } from "../../../src/core/blame/change.ts";
import { readHunks } from "../../../src/parse/code/failure-material.ts";
import { readGitDiff } from "../../../src/parse/code/git-output.ts";
import type { Chance } from "../random.ts";
import { compose } from "./composed.ts";
import { isSource, languageOf } from "./language.ts";
import type { Workshop } from "./workshop.ts";

/** A change that passes, as an agent might deliver it; slips are added to it later. */
export interface Iteration {
  readonly origin: "history" | "composed";
  readonly label: string;
  readonly base: string;
  readonly tree: string;
}

/** The size of agents' changes: the median of those that were examined is 74 changed places. */
const HUNKS = { least: 20, usual: 90, most: 175 };
const LONGEST_STRETCH = 120;
const MOST_COMMITS = 400;
/** Changes of these files need packages that are not installed here. */
const INSTALLS =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|poetry\.lock|uv\.lock|Cargo\.lock|requirements[^/]*\.txt)$/;

/** Ranges of the history with the size of an agent's iteration, in random order; whether they pass is unknown. */
export async function* stretches(workshop: Workshop, chance: Chance): AsyncGenerator<Iteration> {
  const commits = workshop.git("rev-list", "--first-parent", `--max-count=${MOST_COMMITS}`, "HEAD").trim().split("\n");
  const used = new Set<number>();
  for (const end of chance.shuffled(commits.map((_, at) => at))) {
    if (used.has(end)) continue;
    const found = await stretchTo(workshop, commits, end, HUNKS.least + chance.below(HUNKS.usual));
    if (found === null) continue;
    for (let at = end; at < found.start; at++) used.add(at);
    yield {
      origin: "history",
      label: `${commits[found.start]!.slice(0, 8)}..${commits[end]!.slice(0, 8)}`,
      base: treeOf(workshop, commits[found.start]!),
      tree: treeOf(workshop, commits[end]!),
    };
  }
}

export const treeOf = (workshop: Workshop, name: string): string =>
  workshop.git("rev-parse", "--verify", `${name}^{tree}`).trim();

async function stretchTo(
  workshop: Workshop,
  commits: readonly string[],
  end: number,
  wanted: number,
): Promise<{ readonly start: number } | null> {
  let smaller: { readonly start: number } | null = null;
  for (let start = end + 1; start < Math.min(commits.length, end + LONGEST_STRETCH); start++) {
    const diff = readGitDiff(await workshop.diff(commits[start]!, commits[end]!));
    const hunks = readHunks(diff);
    if (hunks.length > HUNKS.most || diff.some(({ path }) => INSTALLS.test(path))) return smaller;
    if (hunks.length < HUNKS.least || diff.length < 2 || !diff.some(({ path }) => isSource(path))) continue;
    if (hunks.length >= wanted) return { start };
    smaller = { start };
  }
  return smaller;
}

/** Whether both ends pass: an iteration that is red anyway shows nothing about a slip. */
export async function isGreen(workshop: Workshop, { base, tree }: Iteration): Promise<boolean> {
  return (await workshop.suite(tree)).passed && (await workshop.suite(base)).passed;
}

const TRIES = 4;

/** Innocent edits of the current files, as many as pass. */
export async function composedIteration(workshop: Workshop, chance: Chance, serial: number): Promise<Iteration | null> {
  const base = treeOf(workshop, "HEAD");
  const all = workshop
    .paths(base)
    .filter((path) => isSource(path) || (looksLikeTest(path) && languageOf(path) !== null));
  const files = chance.shuffled(all.filter((path) => !["data", "braces"].includes(languageOf(path)!))).slice(0, 16);
  const texts = new Map(
    files.flatMap((path) => {
      const text = workshop.text(base, path);
      return text === null || text.length > 200_000 ? [] : [[path, text] as const];
    }),
  );
  const wanted = HUNKS.least + 4 + chance.below(20);
  let kept = texts;
  let edits = 0;
  for (let tries = 0; tries < TRIES && edits < wanted; tries++) {
    const steps = compose(kept, [...kept.keys()], wanted - edits, chance);
    const good = await passingPart(workshop, base, steps);
    if (good === 0) continue;
    kept = steps[good - 1]!;
    edits += good;
  }
  if (edits < HUNKS.least) return null;
  const readme = workshop.paths(base).find((path) => /^readme\.\w+$/i.test(path));
  const page = readme === undefined ? null : workshop.text(base, readme);
  const documents =
    readme === undefined || page === null ? [] : [[readme, `${page}\nPart ${serial}: what has changed.\n`] as const];
  const tree = await workshop.treeWith(base, new Map<string, string | null>([...kept, ...documents]));
  return (await workshop.suite(tree)).passed ? { origin: "composed", label: `composed ${serial}`, base, tree } : null;
}

/** How many of the edits pass, counted from the first; found by bisection. */
async function passingPart(
  workshop: Workshop,
  base: string,
  steps: readonly ReadonlyMap<string, string>[],
): Promise<number> {
  let [low, high] = [0, steps.length];
  while (low < high) {
    const middle = high === steps.length && low === 0 ? high : Math.ceil((low + high) / 2);
    const { passed } = await workshop.suite(await workshop.treeWith(base, steps[middle - 1]!));
    if (passed) low = middle;
    else high = middle - 1;
  }
  return low;
}
