import { OWN_FRAME } from "../../core/gates/check-output.ts";
import type { TestCounts } from "../../core/gates/gate.ts";

/** One failure in a check's output. */
export interface OutputFailure {
  /** The full name of the failing test; `null` if what failed is not a test. */
  readonly test: string | null;
  readonly category: "test" | "build" | "type" | "lint" | "crash";
  readonly message: string;
  /** The text after its first line: values, a diff, the nearest frames. May be empty. */
  readonly detail: string;
  readonly file: string | null;
  readonly line: number | null;
}

/** A test that passed or was skipped, if the output or a report names it. */
export interface PassedTest {
  readonly test: string;
  readonly file: string | null;
}

/** The contents of one runner's output. A recognizer returns `null` for output of another runner. */
export interface RecognizedOutput {
  readonly runner: string;
  readonly counts: TestCounts | null;
  /** Whether the counts come from counting lines and not from a summary: if lines are missing, they are wrong. */
  readonly isCountedByLine?: boolean;
  readonly ranTests: boolean;
  readonly failures: readonly OutputFailure[];
  /** Test files or packages that did not load, so the results of their tests are unknown. */
  readonly notLoaded?: readonly string[];
  readonly passed?: readonly PassedTest[];
  readonly skipped?: readonly PassedTest[];
  /** The test files, or packages, that ran. */
  readonly files?: readonly RanFile[];
}

/** A test file that ran, or a package of them. */
export interface RanFile {
  readonly file: string;
  readonly outcome: "passed" | "failed";
}

/** The rest of a longer line is not read: such a line was not written for people. */
export const LONGEST_LINE = 2000;

const LONGEST_MESSAGE = 400;

export function testFailure(name: string, message: string, place: CodeLocation | null, detail = ""): OutputFailure {
  return {
    test: name,
    category: "test",
    message: shortMessage(message),
    detail,
    file: place?.file ?? null,
    line: place?.line ?? null,
  };
}

export function shortMessage(message: string): string {
  const text = message.replaceAll(/\s+/g, " ").trim();
  return text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE)}…` : text;
}

export interface CodeLocation {
  readonly file: string;
  readonly line: number;
}

/** Reads `path:12:5` at the end of a line, with or without parentheses: stack frames of JavaScript end like this. */
export function framePlace(line: string): CodeLocation | null {
  const text = line.trimEnd();
  const end = /:(\d{1,7}):\d{1,7}\)?$/.exec(text);
  if (end === null) return null;
  const before = text.slice(0, end.index);
  const open = before.lastIndexOf("(");
  // In parentheses a path may contain spaces; otherwise it begins after the last space.
  const file = before.slice(
    (text.endsWith(")") ? open : Math.max(before.lastIndexOf(" "), before.lastIndexOf("\t"))) + 1,
  );
  const isForeign = file.startsWith("node:") || file.includes("node_modules/") || file.endsWith(OWN_FRAME);
  if (file === "" || isForeign || /^\d+$/.test(file)) return null;
  return { file, line: Number(end[1]) };
}

/** Returns the first frame in a range of lines that is neither the runtime's nor a library's. */
export function firstFrame(lines: readonly string[], from: number, to: number): CodeLocation | null {
  for (let at = from; at < to; at++) {
    if (!/^\s*(?:at|❯)\s/.test(lines[at]!)) continue;
    const place = framePlace(lines[at]!);
    if (place !== null) return place;
  }
  return null;
}

/** Returns the first line with text in a range of lines; with the values, if it announces a comparison. */
export function firstWords(lines: readonly string[], from: number, to: number): string {
  for (let at = from; at < to; at++)
    if (lines[at]!.trim() !== "")
      return withComparedValues(lines[at]!.trim(), lines.slice(at + 1, Math.min(to, at + 40)));
  return "";
}

/** Adds the values that Node's assertions print below their first line: `false !== true`, or lines with `+` and `-`. */
export function withComparedValues(first: string, rest: readonly string[]): string {
  if (!/\b(?:Expected (?:values|inputs|"actual")|Input) ?.{0,60}:$/.test(first)) return first;
  const said = rest.map((line) => line.trim());
  const start = said.findIndex((line) => line !== "");
  const next = said[start] ?? "";
  if (next !== "" && !COMPARISON_LEGEND.test(next)) return / !== |^'/.test(next) ? `${first} ${next}` : first;
  const sideOf = (sign: "+" | "-"): string | undefined =>
    said
      .slice(start + 1)
      .find((line) => line.startsWith(`${sign} `))
      ?.slice(2)
      .trim();
  const [actual, expected] = [sideOf("+"), sideOf("-")];
  return actual === undefined || expected === undefined ? first : `${first} ${actual} !== ${expected}`;
}

const COMPARISON_LEGEND = /^\+ actual\s+- expected\b/;

export const testCounts = (passed: number, failed: number, skipped: number): TestCounts => ({
  total: passed + failed + skipped,
  passed,
  failed,
  skipped,
});

/** Adds up the numbers before a word: `2 failed | 1 passed`. */
export function numberBefore(text: string, word: string): number {
  let sum = 0;
  for (const match of text.matchAll(/(\d{1,9}) ([a-z]+)/g)) if (match[2] === word) sum += Number(match[1]);
  return sum;
}

/** Returns the ranges of lines that each begin with a line of this form, and end at the next one or at an end mark. */
export function stretches(
  lines: readonly string[],
  head: RegExp,
  end: RegExp,
): { readonly head: RegExpExecArray; readonly from: number; readonly to: number }[] {
  const found: { head: RegExpExecArray; from: number; to: number }[] = [];
  let open = false;
  for (const [at, line] of lines.entries()) {
    const match = head.exec(line);
    if (open && (match !== null || end.test(line))) {
      found.at(-1)!.to = at;
      open = false;
    }
    if (match !== null) {
      found.push({ head: match, from: at + 1, to: lines.length });
      open = true;
    }
  }
  return found;
}

const MOST_LINES = 40;
const MOST_CHARS = 2000;
const MOST_FRAMES = 3;

/**
 * Returns the details of a failure after its first line, which is the message: expected and actual values, a diff, and
 * the nearest frames of the project's own code. Frames of libraries do not help to fix it.
 */
export function detailIn(lines: readonly string[], from: number, to: number): string {
  let at = from;
  while (at < to && lines[at]!.trim() === "") at++;
  const first = lines[at]?.trim();
  const kept: string[] = [];
  let frames = 0;
  for (at++; at < to && kept.length <= MOST_LINES * 2; at++) {
    const line = lines[at]!;
    // Many runners print the message twice: alone, and at the head of the stack.
    if (BESIDE_THE_POINT.test(line) || line.trim() === first) continue;
    if (!/^\s*(?:at|❯)\s/.test(line)) kept.push(line);
    else if (framePlace(line) !== null && frames++ < MOST_FRAMES) kept.push(line);
  }
  return cappedDetail(kept);
}

/** Removes empty lines around the text and its common indent, and limits its length. */
export function cappedDetail(lines: readonly string[]): string {
  const kept = lines
    .map((line) => line.trimEnd())
    .filter((line, at, all) => line !== "" || (at > 0 && all[at - 1] !== "" && at < all.length - 1));
  if (kept[0] === "") kept.shift();
  const indent = Math.min(...kept.filter((line) => line !== "").map((line) => /^ */.exec(line)![0].length));
  const text = kept
    .slice(0, MOST_LINES)
    .map((line) => line.slice(indent))
    .join("\n")
    .trimEnd();
  if (text.length > MOST_CHARS) return `${text.slice(0, MOST_CHARS)}…`;
  return kept.length > MOST_LINES ? `${text}\n…` : text;
}

/** Frames of the runtime, and fields that every failed assertion of Node has. */
const BESIDE_THE_POINT =
  /\(node:[^()]*\)$|^\s*node:\S+$|\(<anonymous>\)$|^\s*(?:generatedMessage: |code: 'ERR_ASSERTION'|name: 'AssertionError'|operator: \S+$|stack: \|-$|-{20,}$)/;

/**
 * Returns the error that ended a program before any test could fail: the last one with a location in the project.
 * ```
 * TypeError: Cannot redefine property: isNew
 *     at Object.<anonymous> (/project/index.js:64:35)
 * ```
 * or
 * ```
 *   File "a.py", line 3, in <module>
 *     import missing
 * ModuleNotFoundError: No module named 'missing'
 * ```
 */
export function readUncaughtError(lines: readonly string[]): OutputFailure | null {
  for (let at = lines.length - 1; at >= 0; at--) {
    const error =
      /^\s{0,4}(?:Uncaught )?((?:[A-Za-z_]\w{0,60}[.:]{1,2}){0,4}[A-Z]\w{0,60}(?:Error|Exception)\b.*)$/.exec(
        lines[at]!,
      );
    if (error === null) continue;
    const frames = endOfFrames(lines, at + 1);
    const place = placeAbove(lines, at) ?? firstFrame(lines, at + 1, frames);
    if (place === null) continue;
    const { file, line } = place;
    const detail = detailIn(lines, at, frames);
    return { test: null, category: "crash", message: shortMessage(error[1]!), detail, file, line };
  }
  return null;
}

function endOfFrames(lines: readonly string[], from: number): number {
  let to = from;
  while (to < lines.length && /^\s+at /.test(lines[to]!)) to++;
  return to;
}

/** Returns the location above an error: Python prints its frames there, Node the line of a syntax error. */
function placeAbove(lines: readonly string[], below: number): CodeLocation | null {
  for (let at = below - 1; at >= Math.max(0, below - FAR); at--) {
    const python = /^\s+File "([^"]+)", line (\d{1,7})/.exec(lines[at]!);
    if (python !== null && !python[1]!.startsWith("<") && !python[1]!.includes("site-packages/"))
      return { file: python[1]!, line: Number(python[2]) };
    const node = /^(?:file:\/\/)?(\/\S+\.[cm]?[jt]sx?):(\d{1,7})$/.exec(lines[at]!);
    if (node !== null && !node[1]!.includes("/node_modules/")) return { file: node[1]!, line: Number(node[2]) };
  }
  return null;
}

const FAR = 8;
