import type { BlameMaterial, ChangedHunk } from "../../core/blame/change.ts";
import type { Failure } from "../../core/blame/failure.ts";
import { rankedCause, type Cause } from "./cause.ts";
import { ask, runsOf, type Experiments, type Notebook } from "./experiments.ts";
import { isBroken } from "./outcome.ts";
import { tokensOf } from "./edits.ts";
import type { RankedHunk } from "./rank-blame.ts";

/** New code of the iteration that its own failing tests execute, and that may contain a mistake. */
export interface NewCode {
  /** Hunks and parts of hunks, the likeliest first. */
  readonly candidates: readonly number[];
  /** Candidates that use no name from another change, so that no other change can make them fail. */
  readonly selfContained: ReadonlySet<number>;
  /** The failure's stack passes through changed lines, other new tests pass, or one change is by far the likeliest. */
  readonly hasSign: boolean;
}

/** From this share on, a change is about what the failing test asks for. */
const LIKELY = 0.35;
/** How many are reverted, one after the other. */
const MOST_TRIED = 6;

/**
 * Decides whether new tests may fail because of a mistake in the new code, or because the work is not done. It is a
 * mistake if the failure's stack passes through changed lines, if other new tests pass, or if the tests fail
 * differently without the new code. If the test itself misses a name, the work is not done. `null`: a mistake is
 * impossible.
 */
export function newCodeOf(material: BlameMaterial, ranked: readonly RankedHunk[]): NewCode | null {
  const { failures } = material.failure;
  const own = failures.filter(({ test }) => test !== null);
  const isMissing = (failure: Failure): boolean => isBroken(failure) && !isRaisedInCode(material, failure);
  if (own.length === 0 || own.some(isMissing)) return null;
  const reached = ranked.filter(({ isTest, isReached, isIdle }) => !isTest && isReached && !isIdle);
  if (reached.length === 0) return null;
  const isOnStack = own.some((failure) => failure.frames.some((frame) => reached.some((each) => holds(each, frame))));
  const likely = Math.max(...reached.map(({ confidence }) => confidence));
  return {
    hasSign: isOnStack || hasPassingNewTest(material, own) || likely >= LIKELY,
    candidates: reached.map(({ hunk }) => hunk.id),
    selfContained: new Set(reached.filter((each) => isSelfContained(each, ranked)).map(({ hunk }) => hunk.id)),
  };
}

/** Whether the failure was raised in existing code that the test calls. */
function isRaisedInCode({ files }: BlameMaterial, { frames, file }: Failure): boolean {
  const [frame] = frames;
  return frame !== undefined && frame.file !== file && files.get(frame.file)?.isTest === false;
}

const holds = ({ hunk }: RankedHunk, frame: Failure["frames"][number]): boolean =>
  frame.file === hunk.file && hunk.added.length > 0 && frame.line >= hunk.start && frame.line <= hunk.end;

/** Whether there are tests of the iteration, in the files of the failing ones, that do not fail. */
function hasPassingNewTest({ failure, files, before, hunks }: BlameMaterial, own: readonly Failure[]): boolean {
  if (failure.isTruncated) return false;
  const titles = own.map(({ test }) => test!);
  return [...new Set(own.map(({ file }) => file))].some((path) => {
    const tests = files.get(path ?? "")?.symbols.filter(({ kind }) => kind === "test") ?? [];
    const oldFile = hunks.find((hunk) => hunk.file === path)?.oldFile ?? "";
    const old = new Set(before.get(oldFile)?.symbols.map(({ name }) => name) ?? []);
    return tests.some(
      ({ name, start, end }) =>
        !old.has(name) &&
        !titles.some((title) => title.endsWith(name)) &&
        // A block of tests is not a test.
        !tests.some((inner) => inner.start > start && inner.end <= end),
    );
  });
}

const NAME = /[A-Za-z_$][\w$]*/g;

/** Whether a change uses no name that another change added. */
function isSelfContained({ hunk }: RankedHunk, ranked: readonly RankedHunk[]): boolean {
  const names = new Set(hunk.added.flatMap((line) => line.match(NAME) ?? []));
  return !ranked.some(
    (other) =>
      other.symbol !== null &&
      names.has(other.symbol) &&
      other.hunk.added.length > 0 &&
      !(other.hunk.file === hunk.file && other.hunk.start <= hunk.end && other.hunk.end >= hunk.start),
  );
}

/** Reverts the likeliest parts of the new code one by one: without the part with the mistake, the tests pass. */
export function* slipInNewCode(
  { candidates, selfContained }: NewCode,
  book: Notebook,
  groups: readonly number[],
): Experiments<Cause> {
  const isCured = function* (id: number, times: number): Experiments<boolean> {
    const outcomes = yield* ask(book, [id], times > 1 ? "confirm" : "search", times);
    return outcomes.length > 0 && groups.every((group) => outcomes[group] === "pass");
  };
  const cures: number[] = [];
  for (const id of candidates.slice(0, MOST_TRIED)) if (yield* isCured(id, 1)) cures.push(id);
  const [found] = cures;
  const because = "the failing tests are new, and run through code that is new with them";
  if (found === undefined) return rankedCause("slip", because, candidates.slice(0, 1));
  const isShown = cures.length === 1 && (yield* isCured(found, 3)) && runsOf(book, [found]).length >= 3;
  if (!isShown) return rankedCause("slip", `${because}; without it they pass`, [found]);
  const again = yield* ask(book, [], "untouched", 2);
  const isAgain = groups.every((group) => again[group] === "fail-same") && runsOf(book, []).length >= 2;
  const isGreen = runsOf(book, [found]).every(({ outcome }) => outcome.isGreen === true);
  return {
    kind: "slip",
    proven: isAgain && isGreen && selfContained.has(found),
    isShown: true,
    hunks: [found],
    because: "without it the new tests pass, 3 of 3 times; with it they fail",
  };
}

const IS_NAME = /^[A-Za-z_$]/;
const MARK = /^[().]$/;

/**
 * The changes that only turn to new code: nothing but the name of something that another change defines came to them. If
 * the tests pass without such a change, the mistake is rather in what it calls. By the change, those that define it.
 */
export function usesOf(material: BlameMaterial): ReadonlyMap<number, readonly number[]> {
  const definedBy = newDefinitions(material);
  const uses = new Map<number, readonly number[]>();
  if (definedBy.size === 0) return uses;
  for (const hunk of material.hunks) {
    if (hunk.removed.length === 0 || hunk.added.length === 0) continue;
    const [removed, added] = [tokensOf(hunk.removed, hunk.file), tokensOf(hunk.added, hunk.file)];
    const came = without(added, removed).filter((token) => !MARK.test(token));
    const isCalled = (token: string): boolean => definedBy.has(token) && definedBy.get(token) !== hunk.id;
    if (came.length === 0 || !came.every(isCalled)) continue;
    if (!without(removed, added).every((token) => IS_NAME.test(token) || MARK.test(token))) continue;
    uses.set(hunk.id, [...new Set(came.map((token) => definedBy.get(token)!))]);
  }
  return uses;
}

/** The names that came with the iteration, and the one change that defines each of them. */
function newDefinitions({ hunks, files, before }: BlameMaterial): Map<string, number> {
  const old = new Set([...before.values()].flatMap((file) => file.names.flat()));
  const definedBy = new Map<string, number>();
  const several = new Set<string>();
  const holds = ({ start, end, added }: ChangedHunk, line: number): boolean =>
    added.length > 0 && line >= start && line <= end;
  for (const hunk of hunks)
    for (const { name, kind, start } of files.get(hunk.file)?.symbols ?? []) {
      if (kind === "test" || old.has(name) || !holds(hunk, start)) continue;
      if (definedBy.has(name)) several.add(name);
      definedBy.set(name, hunk.id);
    }
  for (const name of several) definedBy.delete(name);
  return definedBy;
}

/** The tokens of the first list that the second does not have, each as often as it has them more. */
function without(tokens: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return tokens.filter((token) => {
    const at = left.indexOf(token);
    if (at < 0) return true;
    left.splice(at, 1);
    return false;
  });
}
