import type { CiClass } from "../../core/gates/gate.ts";
import { CI_RULES, type CiRule, LINT_STEP } from "./ci-log-rules.ts";
import { ALL_PASSED, type Retries, findRetries } from "./ci-log-retries.ts";
import { plainText } from "../../stdx/plain-text.ts";

export interface CiReading {
  readonly class: CiClass;
  /** How sure the class is, from 0 to 1. */
  readonly confidence: number;
  /** The reason in words, for explanations. */
  readonly reason: string;
  /** The step that failed, if the log names it. */
  readonly step: string | null;
  /** The lines that show it, with some lines before them. */
  readonly excerpt: string;
}

/**
 * Classifies why an outside CI run failed, from its log. If nothing in the log explains the failure, it counts as
 * infrastructure: an agent is never charged for an unclassified failure.
 */
export function readCiLog(log: string): CiReading {
  const read = ciLinesOf(log);
  const { lines, step } = read;
  const scores = scoresOf(hitsIn(read), read, findRetries(lines));
  const [first, second] = scores;
  if (first === undefined || first.score < LEAST_SURE) return byStepAlone(read, first?.class);
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

/**
 * Classifies a failure by its step alone, if the output does not explain it. A step that only lints is lint; a step
 * that builds is build if its output points to a line of a file. The output of tests can be anything, so it is not
 * guessed.
 */
function byStepAlone({ lines, stepAt, endAt, step, command }: CiLines, guess: CiClass | undefined): CiReading {
  const named = command ?? step ?? "";
  const own = lines.slice(stepAt, endAt);
  const isLint = LINT_STEP.test(named);
  const isBuild =
    BUILD_STEP.test(named) && own.some((line) => POINTS.test(line)) && own.some((line) => WRONG.test(line));
  const isKnown = isLint || isBuild;
  return {
    class: isLint ? "lint" : isBuild ? "build" : (guess ?? "infrastructure"),
    confidence: isKnown ? 0.4 : 0.2,
    reason: isKnown ? "only the step that failed says what it is" : "nothing in the log says why it failed",
    step,
    excerpt: around(lines, lines.length - 1),
  };
}

const BUILD_STEP =
  /\b(?:build|compile|make|cmake|ninja|bundle|codegen|generate|assemble|tsc|javac|webpack|rollup|esbuild|protoc|dune|rebar3)\b/i;
const POINTS =
  /(?:^|[\s"'(─>])(?:\.{1,2}\/)?(?!node_modules)[\w@-][\w@.-]*(?:\/[\w@.-]+)*\.[a-z]{1,10}(?::\d+|\(\d+|", line \d+)/i;
const WRONG = /\berror\b|\bfailed\b|mismatch|invalid|undefined|unbound|unknown/i;

function hitsIn({ lines, endAt }: CiLines): CiHit[] {
  const passed = lines.map((line) => PASSED.test(line));
  return CI_RULES.flatMap((rule) => {
    if (rule.unless !== undefined && lines.some((line) => rule.unless!.test(line))) return [];
    // After the service has reported the failure, only rules about the machine still count.
    const at = lines.findLastIndex(
      (line, index) =>
        !passed[index] && (index <= endAt || isMachine(rule)) && rule.pattern.test(line) && isSaid(line, rule),
    );
    return at < 0 ? [] : [{ rule, at, line: lines[at]! }];
  });
}

const isMachine = ({ class: ciClass, weight }: CiRule): boolean => ciClass === "infrastructure" && weight >= 9;

/** Whether a line really reports trouble: text in quotes does not count, and a service that answers 404 works. */
function isSaid(line: string, { class: ciClass, pattern }: CiRule): boolean {
  if (ciClass !== "infrastructure") return true;
  if (/\b404\b/.test(line)) return false;
  return pattern.test(
    line.replaceAll(/"[^"]{0,200}"|'[^']{0,200}'/g, (quoted) => (/^.https?:/.test(quoted) ? quoted : "")),
  );
}

/** The name and output of a passed test can be anything. */
const PASSED =
  /^\s*(?:✔|✓|√|ok \d|PASS(?:ED)?\b|--- PASS|\[ {2,}OK|\S+ PASSED\b|.*\.{3} ?(?:ok|PASS(?:ED)?)$|.* PASSED *(?:\[ *\d+%\])?$)/;

function around(lines: readonly string[], at: number): string {
  return lines
    .slice(Math.max(0, at - 12), at + 8)
    .join("\n")
    .trim();
}

/** A matching rule, and the last line that it matches. */
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

/** Scores the classes: the best match counts, others add a little, and a class that only echoes another is lowered. */
function scoresOf(hits: readonly CiHit[], read: CiLines, tries: Retries | null): CiScore[] {
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
 * Adjusts a match by its position: lines near the end count more. Infrastructure trouble that was retried, or followed
 * by another step or many lines, was overcome; it explains the failure only if nothing else does. The same holds for a
 * wrong set-up after which the job went on to another step.
 */
function placeOf({ rule, at, line }: CiHit, { lines, stepAt }: CiLines): number {
  // A full disk or a lost machine is not overcome by continuing.
  const isOver = (at < stepAt && rule.weight < 10) || lines.length - at > LONG_OVER;
  if (rule.class === "infrastructure" && isOver) return -4;
  if (rule.class === "infrastructure" && AGAIN.test(line)) return -2;
  if (rule.class === "configuration" && at < stepAt) return -3;
  return lines.length - at <= NEAR_THE_END ? 1 : 0;
}

const AGAIN =
  /\bretr(?:y|ying|ies)\b(?!.{0,40}(?:exceeded|exhausted|failed|gave up))|try(?:ing)? again|tr(?:y|ies) remaining|attempt \d+(?:\/| of )\d+/i;

/** Tests that passed in another try failed the job, unless something of another kind failed after them. */
function flakyScore(scores: readonly CiScore[], tries: Retries): number {
  const isOvertaken = scores.some(({ class: ciClass, at, score }) => ciClass !== "test" && at > tries.at && score >= 7);
  return isOvertaken ? 4 : 12;
}

/** Lowers a class that is only the echo of another class in the same log. */
function settledScore(score: CiScore, hits: readonly CiHit[], cleanAt: number, tries: Retries | null): number {
  const isAsserted = hits.some(({ rule }) => rule.shows === ASSERTED);
  if (score.class === "test") {
    if (tries?.passed === true) return 2;
    // Tests that fail only because of their environment say nothing about the work, unless an assertion failed.
    if (!isAsserted && hits.some(({ rule }) => CAUSES_OF_FAILED_TESTS.has(rule.shows))) return 1;
    const failedAt = Math.max(-1, ...hits.filter(({ rule }) => rule.class === "test").map(({ at }) => at));
    // In the end everything passed: the failure before it was printed by a test that passed.
    if (tries === null && cleanAt > failedAt && !hits.some(({ rule }) => rule.shows === COUNTED)) return 2;
  }
  if (isAsserted && ONLY_WITHOUT_ASSERTION.has(score.shows)) return 1;
  if (score.class === "build") return settledBuild(score, hits);
  return score.score;
}

function settledBuild(score: CiScore, hits: readonly CiHit[]): number {
  // A tool that is too old for the code reports errors in it, and says so right after.
  const isTooOld = ({ rule, at }: CiHit): boolean => rule.shows === NO_TOOL_FITS && Math.abs(at - score.at) <= 5;
  if (hits.some(isTooOld)) return 3;
  // A package is "not found" if its server could not be reached.
  const isUnasked = (hit: CiHit): boolean => isNetwork(hit) && score.at - hit.at < LONG_OVER;
  if (score.shows === NO_FIT && hits.some(isUnasked)) return 3;
  // A linter that is part of the compiler ends with the compiler's messages.
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

/** What tests may print too: with a failed assertion, it is only output of a test. */
const ONLY_WITHOUT_ASSERTION: ReadonlySet<string> = new Set([SERVICE_AWAY, UNSET]);

const isNetwork = ({ rule, line }: CiHit): boolean =>
  rule.class === "infrastructure" && rule.weight <= 8 && !rule.shows.startsWith("the job") && !AGAIN.test(line);

/** A log's lines, and where the failed step begins and ends. */
export interface CiLines {
  readonly lines: readonly string[];
  /** The first line of the failed step; 0 if the log names none. */
  readonly stepAt: number;
  /** The line on which the service reports the failure; the rest is clean-up. */
  readonly endAt: number;
  /** The step as the log names it. */
  readonly step: string | null;
  /** The command that the service names at the end, with its exit code. */
  readonly command: string | null;
}

function ciLinesOf(log: string): CiLines {
  const lines = linesOf(log);
  const cleaningAt = lines.findIndex((line) => CLEANING.test(line));
  const saidAt = lines.findLastIndex((line) => SAID_FAILED.test(line));
  const endAt = Math.max(0, saidAt >= 0 ? saidAt : lines.length - 1);
  const before = cleaningAt > 0 && cleaningAt < endAt ? cleaningAt : endAt;
  const stepAt = lines.findLastIndex((line, at) => at <= before && !TRIVIAL.test(nameIn(line) ?? "exit"));
  const named = lines.findLastIndex((line) => nameIn(line) !== null);
  return {
    lines,
    stepAt: Math.max(0, stepAt),
    endAt,
    step: (nameIn(lines[stepAt] ?? "") ?? nameIn(lines[named] ?? ""))?.slice(0, LONGEST_STEP) ?? null,
    command: failedCommand(lines),
  };
}

const LONGEST_STEP = 120;

/** How services report that a step failed. */
const SAID_FAILED =
  /^(?:##\[error\]|Error: )?Process completed with exit code [1-9]|^ERROR: Job failed|^Exited with code exit status [1-9]|^(?:ERROR: )?script returned exit code [1-9]|^🚨 Error: The command exited|^##\[error\]Bash exited with code|^The command ".{1,200}" exited with [1-9]/;

/** What a service does after a step has failed; a step that is named later did not fail. */
const CLEANING =
  /^(?:Post job cleanup\.|Running after_script|Uploading artifacts for failed job|Cleaning up (?:project directory|orphan)|section_start:\d+:(?:after_script|upload_artifacts_on_failure|cleanup))/;

/** What a shell prints itself, and commands that only inspect something or pass on an exit code. */
const TRIVIAL = /^(?:exit|echo|ls|cat|du|set|true|export|cd|pwd|env|date|\w+=\S*$)\b|\|\| true$|^\w+=\S*$/;

/** GitHub's groups, and the marks with which other services name a step. */
const STEP =
  /^(?:\[[\w-]+\] )?(?:##\[group\]Run |Run (?=[a-z./])|\$ |Step \d+\/\d+ ?: |\+ |section_start:\d+:|> Task (?=:))(\S.*)$/;

function nameIn(line: string): string | null {
  return STEP.exec(line)?.[1]?.trim() ?? null;
}

function failedCommand(lines: readonly string[]): string | null {
  for (let at = lines.length - 1; at >= 0 && at > lines.length - 30; at--) {
    const [, named, script] = ENDED_BADLY.exec(lines[at]!) ?? [];
    if (named !== undefined || script !== undefined) return named ?? script ?? null;
  }
  return null;
}

const ENDED_BADLY =
  /(?:The command|[Ss]tep|Command|Task|Script) ["'`](.{1,200}?)["'`] (?:exited|failed|returned|ended)|(?:npm (?:ERR!|error)|error) .{0,20}[Ll]ifecycle script `(.{1,100})`/;

/**
 * Returns the log's lines without colors and without the prefixes of CI services. Of a long log, the beginning and the
 * end are read: the end shows what failed, the beginning the set-up.
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
  /^(?:[^\t]{1,60}\t[^\t]{1,80}\t(?=\uFEFF?\d{4}-)|\uFEFF|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z? ?(?:\d\d[OE]\+? )?|\[\d{4}-\d\d-\d\d[ T][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?\] ?|\[?\d\d:\d\d:\d\d\]? |#\d+ \d+\.\d+ |[\w.-]+ \| )+/;
