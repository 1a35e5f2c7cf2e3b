import type { CiClass } from "../domain/gate.ts";
import { plainText } from "../stdx/plain-text.ts";
import { CI_RULES, type CiRule } from "./ci-log-rules.ts";

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
  const scores = scoresOf(hits, lines.length);
  const [first, second] = scores;
  const step = stepIn(lines);
  if (first === undefined)
    return {
      class: "infrastructure",
      confidence: 0.2,
      reason: "nothing in the log says why it failed",
      step,
      excerpt: around(lines, lines.length - 1),
    };
  return {
    class: first.class,
    confidence: Math.min(0.99, 0.5 + (first.score - (second?.score ?? 0)) / 12 + first.score / 40),
    reason: `${first.shows}: ${lines[first.at]!.trim().slice(0, LONGEST_REASON)}`,
    step,
    excerpt: around(lines, first.at),
  };
}

const LONGEST_REASON = 200;

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
    const at = lines.flatMap((line, index) => (isSaid(line, rule) && rule.pattern.test(line) ? [index] : []));
    return at.length === 0 ? [] : [{ rule, at: at.at(-1)!, line: lines[at.at(-1)!]! }];
  });
}

/** A test that passed may be called anything and print anything; what is tried again has not failed yet. */
function isSaid(line: string, { class: ciClass }: CiRule): boolean {
  if (ciClass === "flaky") return true;
  return !PASSED.test(line) && !(ciClass === "infrastructure" && AGAIN.test(line));
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
function scoresOf(hits: readonly Hit[], length: number): Score[] {
  const classes = new Map<CiClass, Hit[]>();
  for (const hit of hits) classes.set(hit.rule.class, [...(classes.get(hit.rule.class) ?? []), hit]);
  const scores = [...classes.entries()].map(([ciClass, own]): Score => {
    const weighed = own
      .map((hit) => ({ ...hit, score: hit.rule.weight + (length - hit.at <= NEAR_THE_END ? 1 : 0) }))
      .toSorted((a, b) => b.score - a.score || b.at - a.at);
    const best = weighed[0]!;
    const more = Math.min(1, (weighed.length - 1) * 0.5);
    return { class: ciClass, score: best.score + more, shows: best.rule.shows, at: best.at };
  });
  return settled(scores, hits).toSorted((a, b) => b.score - a.score || b.at - a.at);
}

const NEAR_THE_END = 60;

/** Where two classes are seen in one log, one is often only the other's echo. */
function settled(scores: readonly Score[], hits: readonly Hit[]): Score[] {
  const has = (ciClass: CiClass, shows?: string): boolean =>
    hits.some(({ rule }) => rule.class === ciClass && (shows === undefined || rule.shows === shows));
  const isAsserted = hits.some(({ rule }) => rule.shows === "a test failed");
  return scores.map((score) => {
    // Tests that fail only because their database is away say nothing of the work; an assertion that failed does.
    if (score.class === "test" && !isAsserted && has("infrastructure", "a service that the tests need was not there"))
      return { ...score, score: 1 };
    if (score.class === "infrastructure" && score.shows === "a service that the tests need was not there" && isAsserted)
      return { ...score, score: 1 };
    // A linter that is part of the compiler ends with the compiler's words.
    if (score.class === "build" && hits.some(({ rule, line }) => rule.class === "lint" && COMPILER_LINT.test(line)))
      return hits.some(({ line }) => COMPILER_ERROR.test(line)) ? score : { ...score, score: 2 };
    // A run that only reports what passed at the second try has no failure of its own.
    if (score.class === "flaky" && !has("test", "a test runner counted failures")) return { ...score, score: 11 };
    return score;
  });
}

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

const MOST_READ = 2_000_000;
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
