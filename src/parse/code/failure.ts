import { looksLikeTest } from "../../core/blame/change.ts";
import { type Failure, type FailureReading, type Frame, saysNothing } from "../../core/blame/failure.ts";
import { plainText } from "../../stdx/plain-text.ts";
import { readTestOutput } from "../tests/test-output.ts";
import { type ListedFailure, readOtherFailures, readValues } from "./failure-tools.ts";
import type { PathIndex } from "./imports.ts";
import { type SourceMap, readSourceMap, readStack } from "./stack.ts";

export interface FailureContext {
  /** The folder of the check: paths below it belong to the project. */
  readonly root: string;
  readonly paths: PathIndex;
  /** Source maps by the path of the code that they are for. */
  readonly sourceMaps?: ReadonlyMap<string, string>;
}

/** The most failures that are read closely. One cause makes many tests fail, and the first ones show it. */
const MOST_FAILURES = 40;
const MOST_LINES = 20_000;
const LONGEST_SECTION = 300;

/** Reads the output of a failed check: what failed, its stack frames, the compared values, and what it mentions. */
export function readFailure(text: string, context: FailureContext): FailureReading {
  const plain = plainText(text);
  const all = plain.split("\n");
  const lines = (all.length > MOST_LINES ? [...all.slice(0, 2000), ...all.slice(2000 - MOST_LINES)] : all).map((line) =>
    line.slice(0, 2000),
  );
  const output = readTestOutput(plain, context.root);
  // An error that ended the program is read below, with all its frames.
  const reported = output.failures.flatMap(({ category, ...failure }) =>
    category === "crash" ? [] : [{ ...failure, category }],
  );
  const listed: readonly ListedFailure[] = reported.length > 0 ? reported : readOtherFailures(lines);
  const maps = mapsOf(context);
  const allTests = listed.filter((failure) => failure.test !== null);
  const tests = allTests.slice(0, MOST_FAILURES);
  const failures =
    tests.length > 0
      ? sectionsOf(lines, tests).map(({ failure, section }) =>
          testFailure(withMessage(failure, section, lines), section, context, maps),
        )
      : listed.length > 0
        ? listed.slice(0, MOST_FAILURES).map((failure) => complaint(failure, lines, context))
        : crash(lines, context, maps);
  return {
    runners: output.runners,
    failures,
    ranTests: output.ranTests,
    isTruncated:
      all.length > MOST_LINES ||
      allTests.length > MOST_FAILURES ||
      /\[?(?:\.\.\.|…)? ?(?:output|log|\d+ (?:lines|bytes|characters)) (?:was )?(?:truncated|omitted)/i.test(plain),
  };
}

/** Adds a message to a failure without one: a file that could not be loaded printed its error somewhere above. */
function withMessage(failure: ListedFailure, section: readonly string[], lines: readonly string[]): ListedFailure {
  if (!saysNothing(failure.message)) return failure;
  const said = [...section, ...lines].find((line) => ERROR_LINE.test(line.replace(/^# /, "")));
  return said === undefined ? failure : { ...failure, message: said.replace(/^# /, "").trim() };
}

type Maps = ReadonlyMap<string, SourceMap>;

function mapsOf({ sourceMaps }: FailureContext): Maps {
  return new Map(
    [...(sourceMaps ?? [])].flatMap(([path, text]) => {
      const map = readSourceMap(text);
      return map === null ? [] : [[path, map] as const];
    }),
  );
}

/** Returns the lines that belong to each failing test: from a line with its title to one with another title. */
function sectionsOf(
  lines: readonly string[],
  tests: readonly ListedFailure[],
): { failure: ListedFailure; section: readonly string[] }[] {
  const names = tests.map(({ test }) => test!.split(/ [>›] |::/).map((part) => part.trim()));
  const titles = names.map((parts) => parts.at(-1)!);
  const byLength = titles.map((_, index) => index).sort((a, b) => titles[b]!.length - titles[a]!.length);
  const sections: string[][] = tests.map(() => []);
  let open: number | null = null;
  let length = 0;
  for (const [at, line] of lines.entries()) {
    const heads = byLength.filter((index) => titles[index] !== "" && line.includes(titles[index]!));
    // One title may be part of another: the longest match counts.
    const longest = heads.filter((index) => titles[index] === titles[heads[0]!]);
    const head: number | undefined =
      longest.length < 2 ? longest[0] : likeliestHead(longest, names, lines.slice(Math.max(0, at - 3), at + 1), open);
    if (head !== undefined && !/^\s*at /.test(line)) {
      if (head !== open) length = 0;
      open = head;
    } else if (/^\s*(?:ok \d|✔ |✓ |PASS |--- PASS|# Subtest|test result:|ℹ )/.test(line)) open = null;
    if (open !== null && length++ < LONGEST_SECTION) sections[open]!.push(line);
  }
  // Tests of the same name in two files share the section of the first.
  return tests.map((failure, index) => {
    const own = sections[index]!;
    return { failure, section: own.length > 0 ? own : sections[titles.indexOf(titles[index]!)]! };
  });
}

/** Of several tests with one title, returns the one whose outer titles are just above; otherwise the current one. */
function likeliestHead(
  heads: readonly number[],
  names: readonly (readonly string[])[],
  near: readonly string[],
  open: number | null,
): number {
  const isSaid = (part: string): boolean =>
    part !== "" && near.some((line) => line.trim() === part || line.trim().endsWith(` ${part}`));
  const counts = heads.map((index) => names[index]!.slice(0, -1).filter(isSaid).length);
  const best = heads.filter((_, at) => counts[at] === Math.max(...counts));
  return best.find((index) => index === open) ?? best[0]!;
}

function testFailure(failure: ListedFailure, section: readonly string[], context: FailureContext, maps: Maps): Failure {
  const frames = framesOf(section, context, maps);
  const own = failure.file === null ? null : projectPath(failure.file, context.root, context.paths);
  const file =
    own !== null && looksLikeTest(own) ? own : (frames.find((each) => looksLikeTest(each.file))?.file ?? own);
  const inFile = frames.find((each) => each.file === file);
  return {
    ...wordsOf(failure.message, [failure.test!, ...section]),
    ...readValues([failure.message, ...section]),
    test: failure.test,
    category: "test",
    file,
    line: inFile?.line ?? (own === file ? failure.line : null),
    frames,
  };
}

function complaint(failure: ListedFailure, lines: readonly string[], context: FailureContext): Failure {
  const file = failure.file === null ? null : projectPath(failure.file, context.root, context.paths);
  const line = failure.line ?? 1;
  const at = lines.findIndex((each) => each.includes(failure.message.slice(0, 60)));
  const near = at < 0 ? [] : lines.slice(at, at + 4);
  const own = file === null ? [] : [{ file, line }];
  const isOther = (frame: Frame): boolean => frame.file !== file || frame.line !== line;
  return {
    ...wordsOf(failure.message, near),
    expected: null,
    actual: null,
    test: null,
    category: failure.category,
    file,
    line: failure.line,
    // Its notes name other locations, such as the definition of something that is misused here.
    frames: [...own, ...framesOf(at < 0 ? [] : notesBelow(lines, at), context, new Map()).filter(isOther)],
  };
}

const MOST_NOTES = 40;

/** Returns the lines below an error, up to the next message. */
function notesBelow(lines: readonly string[], at: number): readonly string[] {
  const below = lines.slice(at + 1, at + 1 + MOST_NOTES);
  const end = below.findIndex((line) => /^(?:error|warning)\b|[:\s]error(?: TS\d|: )/.test(line));
  return end < 0 ? below : below.slice(0, end);
}

/** Reads an output of no known tool: whatever looks like an error, and every location in it. */
function crash(lines: readonly string[], context: FailureContext, maps: Maps): Failure[] {
  const text = lines.filter((line) => line.trim() !== "");
  if (text.length === 0) return [];
  const at = errorLine(lines);
  // The last line with words: a line of only brackets just ends the output.
  const message = at < 0 ? (text.findLast((line) => /\p{L}{2}/u.test(line)) ?? text.at(-1)!) : lines[at]!;
  const near = at < 0 ? text.slice(-60) : lines.slice(Math.max(0, at - 30), at + 60);
  const frames = framesOf(near, context, maps);
  const values = readValues(near);
  return [
    {
      ...wordsOf(message.replace(/^\s*(?:✖ |E\s+)?(?:ERROR: )?/, "").trim(), near),
      ...values,
      test: null,
      category: "crash",
      file: frames[0]?.file ?? null,
      line: frames[0]?.line ?? null,
      frames,
    },
  ];
}

/** Returns the line that says what went wrong: a missing program, or else the first error. */
function errorLine(lines: readonly string[]): number {
  const missing = lines.findIndex((line) => MISSING_PROGRAM.test(line));
  if (missing >= 0) return missing;
  const at = lines.findIndex((line) => ERROR_LINE.test(line));
  // pytest first prints which file it was loading, and below that, the error in the file.
  if (at < 0 || !/^ImportError while (?:loading|importing)/.test(lines[at]!)) return at;
  const cause = lines.findIndex((line, below) => below > at && /^E\s+\S/.test(line));
  return cause < 0 ? at : cause;
}

/** What shells and launchers print if a program is missing. */
const MISSING_PROGRAM =
  /^(?:(?:\/\S*\/)?(?:ba|da|z|k|a)?sh|env|exec|nice|timeout)\b[^:]*: .*\b(?:command not found|not found|No such file or directory)$|^(?:exec: )?"?\S+"?: (?:command not found|executable file not found in \$PATH)$/;

const ERROR_LINE =
  /^\s*(?:✖ )?(?:Uncaught |Caused by: |E\s+|\[?ERROR\]?:? |fatal: |error: |panic: )?(?:[\w.]*(?:Error|Exception|panic)\b|fatal|error)(?:\s\[\w+\])?:? ./;

function framesOf(lines: readonly string[], { root, paths }: FailureContext, maps: Maps): Frame[] {
  const frames: Frame[] = [];
  const seen = new Set<string>();
  for (const raw of readStack(lines)) {
    const built = projectPath(raw.path, root, paths) ?? raw.path;
    const before = maps.get(built)?.original(raw.line, raw.column ?? 1) ?? null;
    const file = before === null ? projectPath(raw.path, root, paths) : projectPath(before.source, root, paths);
    const line = before?.line ?? raw.line;
    if (file === null || seen.has(`${file}:${line}`)) continue;
    seen.add(`${file}:${line}`);
    frames.push({ file, line, ...(raw.symbol === null ? {} : { symbol: raw.symbol }) });
  }
  return frames;
}

const MOST_WORDS = 300;

function wordsOf(
  message: string,
  section: readonly string[],
): Pick<Failure, "errorType" | "message" | "codes" | "identifiers" | "literals"> {
  const said = section.filter((line) => !/^\s*(?:at |❯ |File ")/.test(line));
  const text = [message, ...said].join("\n").slice(0, 30_000);
  return {
    errorType: /\b([A-Z]\w*(?:Error|Exception|Panic|Interrupt))\b/.exec(text)?.[1] ?? null,
    message: message === "" ? (said[0]?.trim() ?? "") : message,
    codes: distinct(text.match(/\b(?:TS\d{3,5}|E0\d{3}|E[A-Z]{4,}|ERR_[A-Z_]+|[A-Z]{1,4}\d{3,4})\b/g)),
    identifiers: distinct(text.match(/[A-Za-z_$][\w$]{2,60}/g)),
    literals: distinct(text.match(/-?\b\d+(?:\.\d+)?\b|"[^"\n]{1,100}"|'[^'\n]{1,100}'|`[^`\n]{1,100}`/g)),
  };
}

const distinct = (words: readonly string[] | null): string[] => [...new Set(words ?? [])].slice(0, MOST_WORDS);

/**
 * Returns the project's name for a path in an output. Outputs come from other machines and containers with other roots,
 * from Windows, and from bundlers, so a path that is not below the root is searched by its end. `null`: not a file of
 * the project.
 */
function projectPath(raw: string, root: string, index: PathIndex): string | null {
  const path = plainPath(raw);
  const base = `${plainPath(root).replace(/\/$/, "")}/`;
  const relative = path.startsWith(base) ? path.slice(base.length) : path;
  const inside = relative.replace(/^(?:\.{1,2}\/)+/, "");
  if (index.has(inside)) return inside;
  if (/(?:^|\/)(?:node_modules|site-packages|dist-packages|\.cargo|go\/pkg\/mod|rustc|vendor)\//.test(path))
    return null;
  if (/^(?:node|internal|ext|native):/.test(path)) return null;
  return index.bySuffix(inside);
}

function plainPath(raw: string): string {
  let path = raw.trim().replaceAll("\\", "/");
  path = path.replace(/^(?:file|webpack-internal|webpack|rollup|vite|https?):\/\/(?:\/?[^/]*\/(?=\.)|\/)?/, (scheme) =>
    scheme.startsWith("file") ? "/" : "",
  );
  path = path.replace(/^\([^()/]*\)\//, "").replace(/\?[\w=&.-]*$/, "");
  if (/%[0-9a-f]{2}/i.test(path)) path = decodePath(path);
  return path.replace(/^\/+(?=[A-Za-z]:\/)/, "");
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    // With a stray percent sign, the path is used as it is.
    return path;
  }
}
