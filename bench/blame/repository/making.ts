import { looksLikeTest, type ChangedHunk } from "../../../src/core/blame/change.ts";
import { readHunks } from "../../../src/parse/code/failure-material.ts";
import { pathIndex, readImports } from "../../../src/parse/code/imports.ts";
import { readGitDiff } from "../../../src/parse/code/git-output.ts";
import type { Chance } from "../random.ts";
import { breakFile, breaksIn, type Break } from "./breaking.ts";
import {
  SLIP_PLACES,
  failsAlike,
  isGarbled,
  onBase,
  placeOfSlip,
  truthOf,
  type Category,
  type RepositoryCase,
} from "./cases.ts";
import type { Iteration } from "./iterations.ts";
import { bodiesIn, headEnd, isData, isSource, languageOf, pageOf, type Page } from "./language.ts";
import type { Workshop } from "./workshop.ts";

/** An iteration and the parts of it that can be broken. */
export interface Ground {
  readonly workshop: Workshop;
  readonly iteration: Iteration;
  readonly chance: Chance;
  /** Files that the tests reach; those that the iteration changed come first. */
  readonly files: readonly string[];
  readonly changed: readonly string[];
  /** The lines that the iteration added, by file, counted from 0. */
  readonly added: ReadonlyMap<string, ReadonlySet<number>>;
}

const MOST_FILES = 300;
const MOST_TESTS = 60;

export async function groundOf(workshop: Workshop, iteration: Iteration, chance: Chance): Promise<Ground> {
  const { base, tree } = iteration;
  const paths = workshop.paths(tree);
  const index = pathIndex(paths);
  const reached = new Set(chance.shuffled(await testsOf(workshop, tree, paths)).slice(0, MOST_TESTS));
  for (const path of reached) {
    if (reached.size > MOST_FILES) break;
    const text = languageOf(path) === null ? null : workshop.text(tree, path);
    if (text !== null) for (const next of readImports(text, path, index)) reached.add(next);
  }
  const diff = readGitDiff(await workshop.diff(base, tree));
  const changed = diff
    .map(({ path }) => path)
    .filter((path) => (isSource(path) || isData(path)) && paths.includes(path));
  const isFit = (path: string): boolean => isSource(path) || isData(path);
  const found = [...reached].filter(isFit);
  const files = found.length > 0 ? found : paths.filter(isSource);
  return { workshop, iteration, chance, files, changed, added: addedLines(readHunks(diff)) };
}

function addedLines(hunks: readonly ChangedHunk[]): Map<string, Set<number>> {
  const lines = new Map<string, Set<number>>();
  for (const { file, start, added } of hunks) {
    const own = lines.get(file) ?? new Set();
    lines.set(file, own);
    for (let at = 0; at < added.length; at++) own.add(start - 1 + at);
  }
  return lines;
}

/** The test files that the command runs, by its output or its text; otherwise all test files. */
async function testsOf(workshop: Workshop, tree: string, paths: readonly string[]): Promise<readonly string[]> {
  const tests = paths.filter((path) => looksLikeTest(path) && languageOf(path) !== null);
  const { output } = await workshop.suite(tree);
  const words = workshop.command.split(/\s+/).filter((word) => /^[\w./-]*\w[\w./-]*$/.test(word));
  const said = tests.filter((path) => output.includes(path));
  const meant = tests.filter((path) =>
    words.some((word) => path === word || path.startsWith(`${word.replace(/\/$/, "")}/`)),
  );
  return [said, meant].find((found) => found.length > 0) ?? tests;
}

function pageAt({ workshop, iteration }: Ground, path: string): Page | null {
  const text = workshop.text(iteration.tree, path);
  return text === null || text.length > 300_000 ? null : pageOf(path, text);
}

/** Draws the place and the kind of a slip before its line, so that kinds with many lines do not dominate. */
function draw(ground: Ground): Break | null {
  const { chance, files, changed, added } = ground;
  const place = chance.pick(SLIP_PLACES);
  const untouched = files.filter((path) => !changed.includes(path));
  const pool = place === "untouched" ? untouched : changed;
  if (pool.length === 0) return null;
  const page = pageAt(ground, chance.pick(pool));
  if (page === null) return null;
  const isThere = ({ file, at }: Break): boolean =>
    place === "untouched" || (added.get(file)?.has(at) ?? false) === (place === "inside");
  const all = breaksIn(page, chance).filter(isThere);
  if (all.length === 0) return null;
  const kind = chance.pick([...new Set(all.map((each) => each.kind))]);
  return chance.pick(all.filter((each) => each.kind === kind));
}

/** The iteration with these slips, if the check fails on it. */
export async function caseWith(
  ground: Ground,
  category: Category,
  kinds: readonly string[],
  texts: ReadonlyMap<string, string>,
  from: { readonly base: string; readonly clean: string } = {
    base: ground.iteration.base,
    clean: ground.iteration.tree,
  },
): Promise<RepositoryCase | null> {
  const { workshop, iteration } = ground;
  const tree = await workshop.treeWith(from.clean, texts);
  const run = await workshop.suite(tree);
  if (!run.failed || isGarbled(run)) return null;
  const found = await truthOf(workshop, from.base, from.clean, tree);
  if (found === null) return null;
  const { origin, label } = iteration;
  const diff = await workshop.diff(from.base, tree);
  const place = found.truth.length === 1 ? { place: await placeOfSlip(workshop, from, found) } : {};
  const root = workshop.bench.path;
  return { category, origin, label, kinds, base: from.base, tree, diff, run, root, ...found, ...place };
}

export interface Slip {
  readonly each: RepositoryCase;
  readonly slip: Break;
  /** The base with only the slip, if that fails in the same way as the iteration. */
  readonly alone: string | null;
}

/** `known`: lines that already have a slip are not used again. */
export async function single(ground: Ground, known: readonly Slip[] = []): Promise<Slip | null> {
  const { workshop, iteration } = ground;
  const slip = draw(ground);
  if (slip === null || known.some((other) => other.slip.file === slip.file && other.slip.at === slip.at)) return null;
  const text = breakFile(workshop.text(iteration.tree, slip.file)!, [slip]);
  const made = await caseWith(ground, "single", [slip.kind], new Map([[slip.file, text]]));
  if (made === null || made.truth.length !== 1) return null;
  const alone = await onBase(workshop, made, made.truth);
  const isRegression = failsAlike(workshop, made.run, await workshop.suite(alone));
  return { each: isRegression ? made : { ...made, category: "new code" }, slip, alone: isRegression ? alone : null };
}

/** Two slips that each turn the check red alone. */
export async function several(ground: Ground, slips: readonly Slip[]): Promise<RepositoryCase | null> {
  const [a, b] = ground.chance.shuffled(slips.filter(({ alone }) => alone !== null));
  if (a === undefined || b === undefined) return null;
  const { workshop, iteration } = ground;
  const texts = new Map<string, string>();
  for (const file of new Set([a.slip.file, b.slip.file]))
    texts.set(
      file,
      breakFile(
        workshop.text(iteration.tree, file)!,
        [a.slip, b.slip].filter((slip) => slip.file === file),
      ),
    );
  const made = await caseWith(ground, "multi", [a.slip.kind, b.slip.kind], texts);
  return made === null || made.truth.length !== 2 ? null : made;
}

/** The body of a function, and where it starts. */
export interface Body {
  readonly page: Page;
  readonly after: number;
  readonly indent: string;
}

export function bodyIn(ground: Ground): Body | null {
  const { chance, files, changed } = ground;
  for (let tries = 0; tries < 20; tries++) {
    const pool = changed.length > 0 && chance.share() < 0.5 ? changed : files;
    if (pool.length === 0) return null;
    const page = pageAt(ground, chance.pick(pool));
    const bodies = page === null ? [] : bodiesIn(page);
    if (page !== null && bodies.length > 0) return { page, ...chance.pick(bodies) };
  }
  return null;
}

/** Adds lines after the imports, and others at the start of a function's body. */
export function withLines(page: Page, head: readonly string[], after: number, body: readonly string[]): string | null {
  const end = headEnd(page);
  // Closer lines would form a single change.
  if (head.length > 0 && after - end < 2) return null;
  const lines = [
    ...page.lines.slice(0, end + 1),
    ...head,
    ...page.lines.slice(end + 1, after + 1),
    ...body,
    ...page.lines.slice(after + 1),
  ];
  return lines.join("\n");
}
