import type { BlameMaterial } from "../../core/blame/change.ts";
import type { Failure } from "../../core/blame/failure.ts";
import { rankedCause, type Cause } from "./cause.ts";
import { ask, runsOf, type Experiments, type Notebook } from "./experiments.ts";
import { isBroken } from "./outcome.ts";
import type { RankedHunk } from "./rank-blame.ts";

/** Code of the iteration that its own failing tests run through: a slip may be in it. */
export interface NewCode {
  /** Hunks and parts of hunks, the likeliest first. */
  readonly candidates: readonly number[];
  /** Those that use no name that came with another change: they cannot fail because of another one. */
  readonly selfContained: ReadonlySet<number>;
  /** The failure's stack goes through changed lines, other new tests pass, or one change is by far the likeliest. */
  readonly hasSign: boolean;
}

/** From here on a change is about what the failing test asks for. */
const LIKELY = 0.35;
/** So many are taken back, one after the other. */
const MOST_TRIED = 6;

/**
 * Where new tests fail, is it a slip in the new code, or is the work not done? It is a slip if the failure's stack goes
 * through changed lines, if other new tests pass, or if the tests fail in another way without the new code. A name that
 * the test itself misses is work that is not done. `null`: there can be no slip.
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

/** Was it raised behind the test, in code that is there? */
function isRaisedInCode({ files }: BlameMaterial, { frames, file }: Failure): boolean {
  const [frame] = frames;
  return frame !== undefined && frame.file !== file && files.get(frame.file)?.isTest === false;
}

const holds = ({ hunk }: RankedHunk, frame: Failure["frames"][number]): boolean =>
  frame.file === hunk.file && hunk.added.length > 0 && frame.line >= hunk.start && frame.line <= hunk.end;

/** Tests that came with the iteration, in the files of those that fail, and are not among those that fail. */
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
        // A block of tests is no test.
        !tests.some((inner) => inner.start > start && inner.end <= end),
    );
  });
}

const NAME = /[A-Za-z_$][\w$]*/g;

/** Does a change use no name that another change brought? */
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

/** Takes back the likeliest parts of the new code, one by one: without the one that has the slip the tests pass. */
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
