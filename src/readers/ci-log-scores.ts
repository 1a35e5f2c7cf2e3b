import type { CiClass } from "../domain/gate.ts";
import type { CiLines } from "./ci-log-lines.ts";
import type { CiRule } from "./ci-log-rule.ts";
import { ALL_PASSED, type Tries } from "./ci-log-tries.ts";

/** A rule that fits, and the last line that it fits. */
export interface CiHit {
  readonly rule: CiRule;
  readonly at: number;
  readonly line: string;
}

export interface CiScore {
  readonly class: CiClass;
  readonly score: number;
  readonly shows: string;
  readonly at: number;
}

/** The best sign of each class counts, the others add a little; then what is only another's echo is taken back. */
export function scoresOf(hits: readonly CiHit[], read: CiLines, tries: Tries | null): CiScore[] {
  const classes = new Map<CiClass, CiHit[]>();
  for (const hit of hits) classes.set(hit.rule.class, [...(classes.get(hit.rule.class) ?? []), hit]);
  const scores = [...classes.entries()].map(([ciClass, own]): CiScore => {
    const weighed = own
      .map((hit) => ({ ...hit, score: hit.rule.weight + placeOf(hit, read) }))
      .toSorted((a, b) => b.score - a.score || b.at - a.at);
    const best = weighed[0]!;
    const more = Math.min(1, (weighed.length - 1) * 0.5);
    return { class: ciClass, score: best.score + more, shows: best.rule.shows, at: best.at };
  });
  const cleanAt = read.lines.findLastIndex((line) => ALL_PASSED.test(line));
  const settled = scores.map((score) => ({ ...score, score: settledScore(score, hits, cleanAt, tries) }));
  if (tries?.passed === true)
    settled.push({ class: "flaky", score: flakyScore(settled, tries), shows: tries.shows, at: tries.at });
  return settled.toSorted((a, b) => b.score - a.score || b.at - a.at);
}

const NEAR_THE_END = 60;
const LONG_OVER = 30;

/**
 * What stands near the end counts for more. Trouble with the surroundings that was tried again, or was followed by
 * another step or by much else, was got over; it explains the failure only where nothing else does. So was a wrong
 * set-up after which the job went on to another step.
 */
function placeOf({ rule, at, line }: CiHit, { lines, stepAt }: CiLines): number {
  // A full disk and a lost machine are not got over by going on.
  const isOver = (at < stepAt && rule.weight < 10) || lines.length - at > LONG_OVER;
  if (rule.class === "infrastructure" && isOver) return -4;
  if (rule.class === "infrastructure" && AGAIN.test(line)) return -2;
  if (rule.class === "configuration" && at < stepAt) return -3;
  return lines.length - at <= NEAR_THE_END ? 1 : 0;
}

const AGAIN =
  /\bretr(?:y|ying|ies)\b(?!.{0,40}(?:exceeded|exhausted|failed|gave up))|try(?:ing)? again|tr(?:y|ies) remaining|attempt \d+(?:\/| of )\d+/i;

/** Tests that passed at another try failed the job, unless something of another kind went wrong after them. */
function flakyScore(scores: readonly CiScore[], tries: Tries): number {
  const isOvertaken = scores.some(({ class: ciClass, at, score }) => ciClass !== "test" && at > tries.at && score >= 7);
  return isOvertaken ? 4 : 12;
}

/** Where two classes are seen in one log, one is often only the other's echo. */
function settledScore(score: CiScore, hits: readonly CiHit[], cleanAt: number, tries: Tries | null): number {
  const isAsserted = hits.some(({ rule }) => rule.shows === ASSERTED);
  if (score.class === "test") {
    if (tries?.passed === true) return 2;
    // Tests that fail only because of what they are run with or against say nothing of the work; an assertion does.
    if (!isAsserted && hits.some(({ rule }) => CAUSES_OF_FAILED_TESTS.has(rule.shows))) return 1;
    const failedAt = Math.max(-1, ...hits.filter(({ rule }) => rule.class === "test").map(({ at }) => at));
    // The last word is that everything passed: what failed before was printed by a test that passed.
    if (tries === null && cleanAt > failedAt && !hits.some(({ rule }) => rule.shows === COUNTED)) return 2;
  }
  if (isAsserted && ONLY_WITHOUT_ASSERTION.has(score.shows)) return 1;
  if (score.class === "build") return settledBuild(score, hits);
  return score.score;
}

function settledBuild(score: CiScore, hits: readonly CiHit[]): number {
  // A tool that is too old for the code does not understand it; it says so right after.
  const isTooOld = ({ rule, at }: CiHit): boolean => rule.shows === NO_TOOL_FITS && Math.abs(at - score.at) <= 5;
  if (hits.some(isTooOld)) return 3;
  // A package that was "not found" after its server could not be asked is there.
  const isUnasked = (hit: CiHit): boolean => isNetwork(hit) && score.at - hit.at < LONG_OVER;
  if (score.shows === NO_FIT && hits.some(isUnasked)) return 3;
  // A linter that is part of the compiler ends with the compiler's words.
  const isLint = hits.some(({ rule, line }) => rule.class === "lint" && COMPILER_LINT.test(line));
  return isLint && !hits.some(({ line }) => COMPILER_ERROR.test(line)) ? 2 : score.score;
}

const COMPILER_LINT = /clippy|`-D |#\[deny\(/;
const COMPILER_ERROR = /error\[E\d{4}\]/;
const COUNTED = "a test runner counted failures";
const ASSERTED = "an assertion did not hold";
const NO_FIT = "the dependencies in the repository do not fit together";
const NO_TOOL_FITS = "the versions of the tools do not fit";
const SERVICE_AWAY = "a service that the tests need was not there";
const UNSET = "a variable is not set";

const CAUSES_OF_FAILED_TESTS: ReadonlySet<string> = new Set([
  SERVICE_AWAY,
  UNSET,
  "what the tests are run with is not installed",
  "the runner went away",
  "the disk is full",
  "memory ran out",
]);

/** What tests print of themselves as well; with an assertion beside it that is what it is. */
const ONLY_WITHOUT_ASSERTION: ReadonlySet<string> = new Set([SERVICE_AWAY, UNSET]);

const isNetwork = ({ rule, line }: CiHit): boolean =>
  rule.class === "infrastructure" && rule.weight <= 8 && !rule.shows.startsWith("the job") && !AGAIN.test(line);
