import type { BlameMaterial, ChangedHunk, CodeFile, CodeSymbol } from "../../core/blame/change.ts";
import type { Failure } from "../../core/blame/failure.ts";
import { type WordIndex, literalIn, missesName, missingNames, wordIndex, wordsIn } from "./words.ts";
import { editKind, tokensOf } from "./edits.ts";
import { type NameIndex, type Reach, nameIndex, reachOf, testBody } from "./reach.ts";

/** Evidence for and against a hunk, each from 0 to 1. */
export const FEATURES = [
  "frameInHunk",
  "frameInSymbol",
  "frameInFile",
  "frameInTest",
  "reach",
  "nearest",
  "imports",
  "unreachable",
  "spectrum",
  "words",
  "testWords",
  "literals",
  "missingName",
  "coverage",
  "unrun",
  "small",
  "slipLike",
  "removal",
  "insertion",
  "isNew",
  "neutral",
  "restated",
  "fresh",
  "rename",
  "importOnly",
  "document",
  "data",
  "testFile",
  "ownTest",
] as const;
export type FeatureName = (typeof FEATURES)[number];
export type Features = Readonly<Record<FeatureName, number>>;

/** The features of one hunk, and the words that belong to them. */
export interface HunkFeatures {
  readonly hunk: ChangedHunk;
  readonly symbol: string | null;
  readonly values: Features;
  readonly sharedWord: string | null;
  readonly sharedLiteral: string | null;
}

interface FeatureInput {
  readonly material: BlameMaterial;
  readonly failing: readonly { failure: Failure; reach: Reach; body: CodeSymbol | null }[];
  readonly passing: readonly Reach[];
  readonly words: WordIndex;
  readonly failureWords: ReadonlySet<string>;
  readonly bodyWords: ReadonlySet<string>;
  readonly missing: readonly string[];
  /** For each hunk, the symbols around it. */
  readonly symbols: readonly (readonly CodeSymbol[])[];
}

const MOST_TESTS = 10;
const MOST_PASSING = 12;

export function featuresOf(material: BlameMaterial): HunkFeatures[] {
  const look = lookAt(material);
  const found = material.hunks.map((hunk, at) => hunkFeatures(look, hunk, at));
  const most = Math.max(...found.map(({ values }) => values.reach), 0);
  // The reach of a hunk counts relative to the others, because some tests are far from everything.
  return found.map((each) => ({
    ...each,
    values: { ...each.values, nearest: most === 0 ? 0 : (each.values.reach / most) ** 2 },
  }));
}

function lookAt(material: BlameMaterial): FeatureInput {
  const { failure, files, hunks } = material;
  const index = nameIndex(material);
  const failing = failure.failures.slice(0, MOST_TESTS).flatMap((each) => {
    const file = each.file ?? each.frames[0]?.file;
    if (file === undefined) return [];
    const body = each.test === null ? null : testBody(files.get(file), each);
    return [{ failure: each, body, reach: reachOf(index, file, body) }];
  });
  const failureWords = new Set<string>();
  for (const each of failure.failures.slice(0, MOST_TESTS)) {
    for (const text of [each.message, each.test ?? "", ...each.identifiers, ...each.literals]) {
      for (const word of wordsIn(text)) failureWords.add(word);
    }
  }
  const bodyWords = new Set<string>();
  for (const { failure: each, body } of failing) {
    const names = files.get(each.file ?? "")?.names.slice((body?.start ?? 1) - 1, body?.end ?? 0) ?? [];
    for (const name of names.flat()) for (const word of wordsIn(name)) bodyWords.add(word);
  }
  const symbols = hunks.map((hunk) => enclosing(files.get(hunk.file), hunk.start, hunk.end));
  return {
    material,
    failing,
    passing: passingReaches(material, index, failing),
    words: wordIndex(
      hunks,
      symbols.map((around) => around.map((symbol) => symbol.name)),
    ),
    missing: missingNames(failure.failures.slice(0, MOST_TESTS)),
    symbols,
    failureWords,
    bodyWords,
  };
}

/** Returns the reach of tests next to the failing ones that did not fail, and of files of tests that passed. */
function passingReaches(
  { failure, files, passedFiles }: BlameMaterial,
  index: NameIndex,
  failing: FeatureInput["failing"],
): Reach[] {
  if (failure.isTruncated || failing.every(({ body }) => body === null))
    return passedFiles.slice(0, MOST_PASSING).map((path) => reachOf(index, path, null));
  const failed = new Set(failing.map(({ body }) => body));
  const titles = new Set(failure.failures.flatMap((each) => (each.test === null ? [] : [each.test])));
  const beside = [...new Set(failing.map((each) => each.failure.file))].flatMap((path) => {
    const tests = files.get(path ?? "")?.symbols.filter((symbol) => symbol.kind === "test") ?? [];
    const isLeaf = (test: CodeSymbol): boolean =>
      !tests.some((other) => other !== test && other.start > test.start && other.end <= test.end);
    return tests
      .filter((test) => isLeaf(test) && !failed.has(test) && ![...titles].some((title) => title.endsWith(test.name)))
      .map((test) => ({ path: path!, test }));
  });
  return [
    ...beside.slice(0, MOST_PASSING).map(({ path, test }) => reachOf(index, path, test)),
    ...passedFiles.slice(0, MOST_PASSING).map((path) => reachOf(index, path, null)),
  ];
}

function hunkFeatures(look: FeatureInput, hunk: ChangedHunk, at: number): HunkFeatures {
  const { material, failing } = look;
  const file = material.files.get(hunk.file);
  const before = material.before.get(hunk.oldFile);
  const tokens = { removed: tokensOf(hunk.removed, hunk.file), added: tokensOf(hunk.added, hunk.file) };
  const kind = editKind(hunk, tokens, file, before);
  const symbols = look.symbols[at]!;
  const innermost =
    hunk.removed.length === 0
      ? symbolOfInsertion(file, hunk)
      : (symbols.at(-1) ?? enclosing(before, hunk.oldStart, Math.max(hunk.oldStart, hunk.oldEnd)).at(-1));
  const isTest = file?.isTest ?? before?.isTest ?? false;
  const isOwn =
    isTest && failing.some(({ failure, body }) => failure.file === hunk.file && body !== null && overlaps(hunk, body));
  // Every test reaches itself, which shows nothing.
  const reach = isOwn ? { failing: 0, spectrum: 0 } : reachTo(look, hunk, innermost);
  const distances = failing.map((each) => each.reach.importsTo(hunk.file));
  const near = distances.filter((distance) => distance !== null);
  const said = look.words.shared(at, look.failureWords);
  const failures = failing.map(({ failure }) => failure);
  const literal = literalIn(failures, tokens);
  const isSame = kind.isNeutral || kind.isRestated || kind.isRename;
  const yes = (fact: boolean): number => (fact ? 1 : 0);
  const values: Features = {
    ...frameFeatures(look, hunk, innermost),
    reach: reach.failing,
    nearest: 0,
    imports: mean(distances.map((distance) => (distance === null ? 0 : 0.6 ** Math.max(0, distance - 1)))),
    unreachable: yes(failing.length > 0 && near.length === 0 && !kind.isData),
    spectrum: reach.spectrum,
    words: said.share,
    testWords: look.words.shared(at, look.bodyWords).share,
    literals: literal.share,
    missingName: yes(missesName(look.missing, tokens)),
    ...coverageOf(material, hunk),
    small: isSame ? 0 : kind.small,
    slipLike: yes(kind.isSlipLike && !isSame),
    removal: yes(kind.isRemoval && !kind.isImport),
    insertion: yes(kind.isInsertion && !kind.isImport),
    isNew: yes(kind.isNew),
    neutral: yes(kind.isNeutral),
    restated: yes(kind.isRestated),
    fresh: yes(kind.isFresh),
    rename: yes(kind.isRename),
    importOnly: yes(kind.isImport),
    document: yes(kind.isDocument),
    data: yes(kind.isData),
    testFile: yes(isTest),
    ownTest: yes(isOwn),
  };
  return { hunk, symbol: innermost?.name ?? null, values, sharedWord: said.best, sharedLiteral: literal.best };
}

function reachTo(
  look: FeatureInput,
  hunk: ChangedHunk,
  innermost: CodeSymbol | undefined,
): { failing: number; spectrum: number } {
  // Removed lines belonged to the code that is around them now.
  const line =
    innermost !== undefined && hunk.added.length === 0
      ? Math.min(Math.max(hunk.start, innermost.start), innermost.end)
      : hunk.start;
  const to = (reach: Reach): number => Math.max(reach.at(hunk.file, line), reach.at(hunk.file, hunk.end));
  const failing = look.failing.map((each) => to(each.reach));
  const passing = look.passing.map(to).filter((weight) => weight > 0.15).length;
  const hit = failing.filter((weight) => weight > 0.15).length;
  const spectrum = hit === 0 ? 0 : hit / Math.sqrt(failing.length * (hit + passing));
  return { failing: mean(failing), spectrum };
}

function frameFeatures(
  look: FeatureInput,
  hunk: ChangedHunk,
  symbol: CodeSymbol | undefined,
): Pick<Features, "frameInHunk" | "frameInSymbol" | "frameInFile" | "frameInTest"> {
  let [inHunk, inSymbol, inFile] = [0, 0, 0];
  for (const { failure } of look.failing) {
    for (const [at, frame] of failure.frames.entries()) {
      if (frame.file !== hunk.file) continue;
      const weight = 0.85 ** at;
      inFile = Math.max(inFile, weight);
      if (symbol !== undefined && frame.line >= symbol.start && frame.line <= symbol.end)
        inSymbol = Math.max(inSymbol, weight);
      if (frame.line >= hunk.start - (hunk.added.length === 0 ? 1 : 0) && frame.line <= hunk.end)
        inHunk = Math.max(inHunk, weight);
    }
  }
  // Every failure passes through its test, so only frames in other code distinguish hunks.
  if (look.material.files.get(hunk.file)?.isTest ?? false)
    return { frameInHunk: 0, frameInSymbol: 0, frameInFile: 0, frameInTest: inHunk };
  return { frameInHunk: inHunk, frameInSymbol: inSymbol, frameInFile: inFile, frameInTest: 0 };
}

/** Computes Ochiai over the lines of the hunk, if it is known which tests executed them. */
function coverageOf({ coverage }: BlameMaterial, hunk: ChangedHunk): Pick<Features, "coverage" | "unrun"> {
  const all = Math.max(0, ...coverage.map(({ failed }) => failed));
  // Removed lines were executed if the lines around them are.
  const from = hunk.added.length === 0 ? hunk.start - 1 : hunk.start;
  const own = coverage.filter(({ file, line }) => file === hunk.file && line >= from && line <= hunk.end);
  const shares = own.map(({ failed, passed }) => (failed === 0 ? 0 : failed / Math.sqrt(all * (failed + passed))));
  const most = Math.max(0, ...shares);
  // Lines around a removal may not be executed because of the removal.
  const isGap = hunk.added.length === 0;
  return { coverage: most, unrun: !isGap && all > 0 && own.length > 0 && most === 0 ? 1 : 0 };
}

/** Returns the symbol that contains all added lines, or the first that they define; never a neighbor. */
function symbolOfInsertion(file: CodeFile | undefined, { start, end }: ChangedHunk): CodeSymbol | undefined {
  return (
    enclosing(file, start, end)
      .filter((symbol) => symbol.end >= end)
      .at(-1) ?? file?.symbols.find((symbol) => symbol.start >= start && symbol.start <= end)
  );
}

/** Returns the symbols around some lines, the outermost first. */
function enclosing(file: CodeFile | undefined, start: number, end: number): CodeSymbol[] {
  return (file?.symbols ?? [])
    .filter((symbol) => symbol.start <= start && symbol.end >= Math.min(end, start))
    .sort((a, b) => b.end - b.start - (a.end - a.start));
}

const overlaps = (hunk: ChangedHunk, symbol: CodeSymbol): boolean =>
  hunk.start <= symbol.end && hunk.end >= symbol.start;

const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
