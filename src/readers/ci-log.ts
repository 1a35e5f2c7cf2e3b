import type { CiClass } from "../domain/gate.ts";
import { ciLinesOf, type CiLines } from "./ci-log-lines.ts";
import type { CiRule } from "./ci-log-rule.ts";
import { CI_RULES, LINT_STEP } from "./ci-log-rules.ts";
import { scoresOf, type CiHit } from "./ci-log-scores.ts";
import { triesIn } from "./ci-log-tries.ts";

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
  const read = ciLinesOf(log);
  const { lines, step } = read;
  const scores = scoresOf(hitsIn(read), read, triesIn(lines));
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
 * Nothing that was printed says why. A step that is only there to lint is taken at its name; one that builds is, where
 * it points at a line of a file in the repository. What a test prints is anything: that is not guessed.
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
    // After the service has said that it failed only the machine itself has a say.
    const at = lines.findLastIndex(
      (line, index) =>
        !passed[index] && (index <= endAt || isMachine(rule)) && rule.pattern.test(line) && isSaid(line, rule),
    );
    return at < 0 ? [] : [{ rule, at, line: lines[at]! }];
  });
}

const isMachine = ({ class: ciClass, weight }: CiRule): boolean => ciClass === "infrastructure" && weight >= 9;

/** What stands in quotes is quoted; and nothing is wrong with a service that says that it has no such thing. */
function isSaid(line: string, { class: ciClass, pattern }: CiRule): boolean {
  if (ciClass !== "infrastructure") return true;
  if (/\b404\b/.test(line)) return false;
  return pattern.test(
    line.replaceAll(/"[^"]{0,200}"|'[^']{0,200}'/g, (quoted) => (/^.https?:/.test(quoted) ? quoted : "")),
  );
}

/** A test that passed may be called anything and print anything. */
const PASSED =
  /^\s*(?:✔|✓|√|ok \d|PASS(?:ED)?\b|--- PASS|\[ {2,}OK|\S+ PASSED\b|.*\.{3} ?(?:ok|PASS(?:ED)?)$|.* PASSED *(?:\[ *\d+%\])?$)/;

function around(lines: readonly string[], at: number): string {
  return lines
    .slice(Math.max(0, at - 12), at + 8)
    .join("\n")
    .trim();
}
