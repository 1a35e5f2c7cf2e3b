import type { CiClass } from "../domain/gate.ts";
import { plainText } from "../stdx/plain-text.ts";
import { ALL_PASSED, CI_RULES, LINT_STEP, type CiRule } from "./ci-log-rules.ts";

export interface CiReading {
  readonly class: CiClass;
  /** How sure the log is about it, from 0 to 1. */
  readonly confidence: number;
  /** In words, for whoever asks why. */
  readonly reason: string;
  /** The step that failed, where the log names one. */
  readonly step: string | null;
  /** The lines that say so, and some before them. */
  readonly excerpt: string;
}

/**
 * Tells why an outside CI run failed, from its log, before anything is done about it. Where nothing in the log
 * explains the failure it counts as the surroundings': an agent is never charged for what nobody understands.
 */
export function readCiLog(log: string): CiReading {
  const lines = linesOf(log);
  const hits = hitsIn(lines);
  const scores = scoresOf(hits, lines);
  const [first, second] = scores;
  const step = stepIn(lines);
  if (first === undefined || first.score < LEAST_SURE) {
    const isLint = LINT_STEP.test(failedCommand(lines) ?? step ?? "");
    return {
      class: isLint ? "lint" : (first?.class ?? "infrastructure"),
      confidence: isLint ? 0.4 : 0.2,
      reason: isLint ? "only the step that failed says what it is" : "nothing in the log says why it failed",
      step,
      excerpt: around(lines, lines.length - 1),
    };
  }
  return {
    class: first.class,
    confidence: Math.min(0.99, 0.5 + (first.score - (second?.score ?? 0)) / 12 + first.score / 40),
    reason: `${first.shows}: ${lines[first.at]!.trim().slice(0, LONGEST_REASON)}`,
    step,
    excerpt: around(lines, first.at),
  };
}

const LONGEST_REASON = 200;
const LEAST_SURE = 5;

/** The command that a service names at the end, with the code that it ended with. */
function failedCommand(lines: readonly string[]): string | null {
  for (let at = lines.length - 1; at >= 0 && at > lines.length - 30; at--) {
    const [, command] = ENDED_BADLY.exec(lines[at]!) ?? [];
    if (command !== undefined) return command;
  }
  return null;
}

const ENDED_BADLY =
  /(?:The command|[Ss]tep|Command|Task|Script) ["'`](.{1,200}?)["'`] (?:exited|failed|returned|ended)|(?:npm (?:ERR!|error)|error) .{0,20}[Ll]ifecycle script `(.{1,100})`/;

interface Hit {
  readonly rule: CiRule;
  /** The last line that it fits. */
  readonly at: number;
  readonly line: string;
}

const COMPILER_LINT = /clippy|`-D |#\[deny\(/;
const COMPILER_ERROR = /error\[E\d{4}\]/;

function hitsIn(lines: readonly string[]): Hit[] {
  return CI_RULES.flatMap((rule) => {
    if (rule.unless !== undefined && lines.some((line) => rule.unless!.test(line))) return [];
    const isLate = (index: number): boolean => lines.length - index <= AT_THE_END;
    const at = lines.flatMap((line, index) =>
      isSaid(line, rule, isLate(index)) && rule.pattern.test(line) ? [index] : [],
    );
    return at.length === 0 ? [] : [{ rule, at: at.at(-1)!, line: lines[at.at(-1)!]! }];
  });
}

const AT_THE_END = 15;

/**
 * A test that passed may be called anything and print anything; what is tried again has not failed yet, unless it is
 * the last thing that was tried; and what stands in quotes is quoted.
 */
function isSaid(line: string, { class: ciClass, pattern }: CiRule, isLate: boolean): boolean {
  if (ciClass === "flaky") return true;
  // Nothing is wrong with a service that says that it has no such thing.
  if (PASSED.test(line) || (ciClass === "infrastructure" && /\b404\b/.test(line))) return false;
  if (ciClass !== "infrastructure") return true;
  return (
    (isLate || !AGAIN.test(line)) &&
    pattern.test(line.replaceAll(/"[^"]{0,200}"|'[^']{0,200}'/g, (quoted) => (/^.https?:/.test(quoted) ? quoted : "")))
  );
}

const PASSED =
  /^\s*(?:✔|✓|√|ok \d|PASS(?:ED)?\b|--- PASS|\[ {2,}OK|\S+ PASSED\b|.*\.{3,} ?(?:ok|PASS(?:ED)?)$|.* PASSED *(?:\[ *\d+%\])?$)/;
const AGAIN =
  /\bretr(?:y|ying|ies)\b(?!.{0,40}(?:exceeded|exhausted|failed|gave up))|try(?:ing)? again|attempt \d+(?:\/| of )\d+/i;

interface Score {
  readonly class: CiClass;
  readonly score: number;
  readonly shows: string;
  readonly at: number;
}

/** The best sign of each class counts, the others add a little, and what stands near the end counts for more. */
function scoresOf(hits: readonly Hit[], lines: readonly string[]): Score[] {
  const { length } = lines;
  const cleanAt = lines.findLastIndex((line) => ALL_PASSED.test(line));
  const classes = new Map<CiClass, Hit[]>();
  for (const hit of hits) classes.set(hit.rule.class, [...(classes.get(hit.rule.class) ?? []), hit]);
  const scores = [...classes.entries()].map(([ciClass, own]): Score => {
    const weighed = own
      .map((hit) => ({ ...hit, score: hit.rule.weight + nearness(hit, length) }))
      .toSorted((a, b) => b.score - a.score || b.at - a.at);
    const best = weighed[0]!;
    const more = Math.min(1, (weighed.length - 1) * 0.5);
    return { class: ciClass, score: best.score + more, shows: best.rule.shows, at: best.at };
  });
  const counted = hits.find(({ rule }) => rule.shows === COUNTED);
  // What is said last is that something is flaky, and no failure is counted beside it.
  const flakyAt = lines.findLastIndex((line) => SAYS_FLAKY.test(line));
  const isLastWord = flakyAt >= 0 && length - flakyAt <= LAST_WORDS;
  if (isLastWord && (counted === undefined || flakyAt - counted.at > LAST_WORDS))
    scores.push({ class: "flaky", score: 11, shows: "it is called flaky", at: flakyAt });
  // A runner counted failures, and its last word is that everything passed: the same tests were run again.
  if (counted !== undefined && cleanAt > counted.at && !classes.has("flaky"))
    scores.push({ class: "flaky", score: 7, shows: "what failed passed when it was run again", at: cleanAt });
  return settled(scores, hits, cleanAt).toSorted((a, b) => b.score - a.score || b.at - a.at);
}

const NEAR_THE_END = 60;
const LONG_OVER = 30;

/** What stands near the end counts for more. Trouble with the surroundings that was followed by much else was got over. */
function nearness({ rule, at }: Hit, length: number): number {
  if (rule.class === "infrastructure" && length - at > LONG_OVER) return -4;
  return length - at <= NEAR_THE_END ? 1 : 0;
}

/** Where two classes are seen in one log, one is often only the other's echo. */
function settled(scores: readonly Score[], hits: readonly Hit[], cleanAt: number): Score[] {
  const failedAt = Math.max(-1, ...hits.filter(({ rule }) => rule.class === "test").map(({ at }) => at));
  const has = (ciClass: CiClass, shows?: string): boolean =>
    hits.some(({ rule }) => rule.class === ciClass && (shows === undefined || rule.shows === shows));
  const isAsserted = hits.some(({ rule }) => rule.shows === "a test failed");
  return scores.map((score) => {
    // Tests that fail only because their database is away say nothing of the work; an assertion that failed does.
    if (score.class === "test" && !isAsserted && has("infrastructure", "a service that the tests need was not there"))
      return { ...score, score: 1 };
    if (score.class === "infrastructure" && score.shows === "a service that the tests need was not there" && isAsserted)
      return { ...score, score: 1 };
    // The last word is that everything passed: what failed before was tried again, or was printed by a test that passed.
    if (score.class === "test" && cleanAt > failedAt) return { ...score, score: 2 };
    if (score.class === "flaky" && cleanAt > failedAt) return { ...score, score: 11 };
    // A package that was "not found" after its server could not be asked is there.
    if (
      score.class === "build" &&
      score.shows === NO_FIT &&
      hits.some(({ rule, at }) => isNetwork(rule) && score.at - at < LONG_OVER)
    )
      return { ...score, score: 3 };
    // What a gate against flaky tests reports are failures that went away; counted ones are those of the first try.
    if (score.class === "test" && has("flaky", "the job does not take tests that pass only at the second try"))
      return { ...score, score: Math.min(score.score, 8) };
    // A linter that is part of the compiler ends with the compiler's words.
    if (score.class === "build" && hits.some(({ rule, line }) => rule.class === "lint" && COMPILER_LINT.test(line)))
      return hits.some(({ line }) => COMPILER_ERROR.test(line)) ? score : { ...score, score: 2 };
    // A run that only reports what passed at the second try has no failure of its own.
    if (score.class === "flaky" && !has("test", COUNTED)) return { ...score, score: 11 };
    return score;
  });
}

const SAYS_FLAKY = /^(?!.*\b(?:no|0|without) flaky).*\bflak(?:y|e|es|iness)\b/i;
const LAST_WORDS = 20;
const COUNTED = "a test runner counted failures";
const NO_FIT = "the dependencies in the repository do not fit together";
const isNetwork = ({ class: ciClass, weight, shows }: CiRule): boolean =>
  ciClass === "infrastructure" && weight <= 8 && !shows.startsWith("the job");

/**
 * The log's lines as a person reads them: without colours, and without what CI services put in front of each. Of a
 * long log the beginning and the end are read: what failed is said last, what was set up first.
 */
function linesOf(log: string): string[] {
  const text = log.length <= MOST_READ ? log : `${log.slice(0, MOST_READ / 4)}\n${log.slice(-(MOST_READ / 4) * 3)}`;
  return plainText(text)
    .split("\n")
    .map((line) => line.slice(0, LONGEST_LINE).replace(STAMP, "").trimEnd());
}

const MOST_READ = 600_000;
const LONGEST_LINE = 600;

/** Times, stream marks and the numbers of build steps. */
const STAMP =
  /^(?:[^\t]{1,60}\t[^\t]{1,80}\t|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z? ?(?:\d\d[OE]\+? )?|\[\d{4}-\d\d-\d\d[ T][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?\] ?|\[?\d\d:\d\d:\d\d\]? |#\d+ \d+\.\d+ |[\w.-]+ \| )+/;

/** GitHub's groups, and the marks by which others name the step they are in. The last one before the end failed. */
function stepIn(lines: readonly string[]): string | null {
  for (let at = lines.length - 1; at >= 0; at--) {
    const [, name] = STEP.exec(lines[at]!) ?? [];
    if (name !== undefined) return name.trim().slice(0, LONGEST_STEP);
  }
  return null;
}

const STEP = /^(?:##\[group\]Run |\$ |Step \d+\/\d+ ?: |\+ |section_start:\d+:|> Task (?=:))(\S.*)$/;
const LONGEST_STEP = 120;

function around(lines: readonly string[], at: number): string {
  return lines
    .slice(Math.max(0, at - 12), at + 8)
    .join("\n")
    .trim();
}
