import { basename } from "node:path";
import { isCodeFile } from "../../parse/code/symbols-mask.ts";
import { conditionsIn, testScripts } from "../../parse/code/manifests.ts";
import type { PinnedContext } from "../pinned/pinned-run.ts";
import { productRule } from "./fault-bench.ts";
import { linesOf } from "./planted-faults.ts";

/** How many lines of code are looked at together. */
const WINDOW = 4;

/** A product file with lines that the work added or changed. */
interface ChangedCode {
  readonly path: string;
  readonly lines: readonly string[];
  /** Whether the line is new. */
  readonly isNew: (line: string) => boolean;
  /** The values that the file held before. */
  readonly valuesBefore: ReadonlySet<string>;
}

/** Returns the product code that the work changed. */
export async function changedCode({ options, request, changed }: PinnedContext): Promise<readonly ChangedCode[]> {
  const { story, base, tree } = request;
  const files: ChangedCode[] = [];
  for (const path of changed.filter(productRule(options))) {
    const now = await options.workspace.fileAt(story.id, tree, path);
    const before = new Set(((await options.workspace.fileAt(story.id, base, path)) ?? "").split("\n"));
    const valuesBefore = new Set([...before].flatMap(allValuesIn));
    if (now !== null) files.push({ path, lines: now.split("\n"), isNew: (line) => !before.has(line), valuesBefore });
  }
  return files;
}

/**
 * Returns notes on changed product lines that newly contain, close together, every value of a line in a target's file
 * with an input and its result. It may be a coincidence, so it is only a note for the reviewer.
 */
export async function hardCodedNotes(
  work: PinnedContext,
  code: readonly ChangedCode[],
  fileOf: (test: string) => string | null,
): Promise<readonly string[]> {
  const { options, request } = work;
  const notes: string[] = [];
  for (const test of request.atBase.targets) {
    const from = fileOf(test);
    const text = from === null ? null : await options.workspace.fileAt(request.story.id, request.base, from);
    const cases = casesIn(text ?? "");
    const answers = answersIn(text ?? "");
    const single = singleValues(from, text ?? "", test);
    for (const file of code) {
      const line = lineWithAll(file, cases, answers);
      const one = line === null ? lineWithOne(file, single) : null;
      if (line === null && one === null) continue;
      const holds =
        one === null
          ? `${line} holds the input and the expected value`
          : `${one.line} newly holds ${one.value}, a value`;
      notes.push(`hard-coded answer? ${file.path}:${holds} of ${test}`);
      break;
    }
  }
  return [...new Set(notes)];
}

/** Values of the target's own lines, or of its title as a row of a table, that code does not hold by chance. */
function singleValues(path: string | null, text: string, test: string): ReadonlySet<string> {
  const own = linesOf(path ?? "", text, test);
  const lines = own.isCertain ? text.split("\n").filter((_, at) => own.has(at + 1)) : [];
  const row = test.slice(test.lastIndexOf(" > ") + 3).replace(/^[^[]*/, "");
  const values = lines.flatMap((line) => allValuesIn(line.replace(TITLE, "")));
  return new Set([...values, ...numbersIn(row.replaceAll("-", " "))].filter(isRare));
}

/** A number that is neither short, nor round, nor a power of two; or a text that tells something. */
const isRare = (value: string): boolean =>
  /^-?\d[\d_]*(?:\.\d+)?$/.test(value)
    ? value.replaceAll(/\D/g, "").length >= SHORTEST_NUMBER && !isRound(Math.abs(Number(value.replaceAll("_", ""))))
    : TELLING.test(value);

const SHORTEST_NUMBER = 3;
const isRound = (value: number): boolean => value % 100 === 0 || Number.isInteger(Math.log2(value));

/** The first changed line that holds one of these values, which the file did not hold before. */
function lineWithOne(
  { lines, isNew, valuesBefore }: ChangedCode,
  values: ReadonlySet<string>,
): { readonly line: number; readonly value: string } | null {
  for (const [at, line] of lines.entries()) {
    const value = !isNew(line) || COMMENT.test(line) ? undefined : allValuesIn(line).find((each) => values.has(each));
    if (value !== undefined && !valuesBefore.has(value)) return { line: at + 1, value };
  }
  return null;
}

/** Returns the test file that a check's command names, if any: such a check is itself the target. */
export const testFileInCommand = ({ options }: PinnedContext, check: string): string | null =>
  [check, ...options.commands].flatMap((command) => command.split(/\s+/)).find((word) => isCodeFile(word)) ?? null;

/** Returns the values of each line with several values. */
function casesIn(text: string): readonly (readonly string[])[] {
  return text
    .split("\n")
    .filter((line) => !/^\s*(?:import|from|use|package|#include)\b/.test(line))
    .map((line) => line.replace(TITLE, ""))
    .flatMap((line) => [valuesIn(line), numbersIn(line)])
    .map((values) => [...new Set(values)])
    .filter((values) => values.length >= LEAST_VALUES);
}

/** Returns an input and the expected result for it: the last two strings of a line, if they are distinctive. */
function answersIn(text: string): readonly (readonly [string, string])[] {
  return text.split("\n").flatMap((line): [string, string][] => {
    const texts = valuesIn(line.replace(TITLE, "")).map((value) => /(["'`])([^"'`\n]+)\1/.exec(value)?.[2] ?? value);
    const [answer, input] = texts.filter((value) => TELLING.test(value)).toReversed();
    return answer === undefined || input === undefined || answer === input ? [] : [[input, answer]];
  });
}

/** Long enough, and not an identifier that code shares with its tests. */
const TELLING = /^(?=.{5,200}$)(?=.*[^\w$])/;

/** The title of a test, which is not one of its values. */
const TITLE = /^\s*(?:test|it|describe)[.\w]*\(\s*(["'`]).*?\1/;
const LEAST_VALUES = 3;
const VALUE = /(["'`])(?:(?!\1)[^\n]){1,200}\1|(?<![\w.])-?\d[\d_]*(?:\.\d+)?(?![\w.])/g;
const NUMBER = /(?<![\w.])-?\d[\d_]*(?:\.\d+)?(?![\w.])/g;
const valuesIn = (line: string): readonly string[] =>
  (line.match(VALUE) ?? []).map((value) => value.replace(/^["'`]|["'`]$/g, ""));

/** In some languages a call is inside a string: `"$(add 2 1)"`. */
const numbersIn = (text: string): readonly string[] => text.match(NUMBER) ?? [];

/** A key such as `"2,1"` contains two values. */
const allValuesIn = (line: string): readonly string[] =>
  valuesIn(line).flatMap((value) => [value, ...numbersIn(value)]);

/** Returns the line (from 1) at which changed lines contain all values of a case; `null` if there is none. */
function lineWithAll(
  { lines, isNew }: ChangedCode,
  cases: readonly (readonly string[])[],
  answers: readonly (readonly [string, string])[],
): number | null {
  for (let at = 0; at < lines.length; at++) {
    if (!isNew(lines[at]!) || valuesIn(lines[at]!).length === 0) continue;
    const values = new Set(
      lines
        .slice(at, at + WINDOW)
        .filter(isNew)
        .flatMap(allValuesIn),
    );
    if (cases.some((each) => each.every((value) => values.has(value)))) return at + 1;
    const text = lines
      .slice(at, at + WINDOW)
      .filter(isNew)
      .join("\n");
    if (answers.some(([input, answer]) => text.includes(input) && text.includes(answer))) return at + 1;
  }
  return null;
}

/**
 * Returns notes on changed product lines that name what exists only in a test run: a target's file, a string about
 * tests, or an environment variable named after a program of the check (`VITEST`, `MAKELEVEL`); lines that ask who
 * called them; and a manifest that newly selects code by a condition, which a runner may set. Code that behaves
 * differently under test passes every run of the tests, so the note is for the reviewer.
 */
export async function testedWordsNotes(
  { options, request, changed }: PinnedContext,
  code: readonly ChangedCode[],
  fileOf: (test: string) => string | null,
): Promise<readonly string[]> {
  const { story, base, tree, atBase } = request;
  const manifest = await options.workspace.fileAt(story.id, base, "package.json");
  const programs = [...options.commands, ...testScripts(manifest).values()].flatMap(programsIn);
  const files = atBase.targets.flatMap((test) => fileOf(test) ?? []).map((file) => basename(file));
  const stems = [...new Set(files.flatMap((file) => [file, file.replace(/\.\w+$/, "")]))];
  const conditions: string[] = [];
  for (const path of changed.filter((each) => basename(each) === "package.json")) {
    const before = conditionsIn(await options.workspace.fileAt(story.id, base, path));
    const added = conditionsIn(await options.workspace.fileAt(story.id, tree, path)).find(
      (each) => !before.includes(each),
    );
    if (added !== undefined) conditions.push(`knows that it is tested? ${path} chooses ${added}`);
  }
  const lines = code.flatMap(({ path, lines, isNew }) => {
    for (const [at, line] of lines.entries()) {
      if (!isNew(line) || COMMENT.test(line)) continue;
      const word = wordOf(joined(line), stems, programs);
      if (word !== null) return [`knows that it is tested? ${path}:${at + 1} names \`${word}\``];
      const caller = CALLER.exec(line)?.[0];
      if (caller !== undefined) return [`knows who calls it? ${path}:${at + 1} asks \`${caller}\``];
    }
    return [];
  });
  return [...conditions, ...lines];
}

/**
 * Returns the program of each part of a command, and the program that it starts: `npx vitest`, `python3 -m unittest`.
 */
const programsIn = (command: string): readonly string[] =>
  command.split(/&&|\|\||[;|]/).flatMap((part) =>
    part
      .trim()
      .split(/\s+/)
      .filter((word) => !word.startsWith("-"))
      .slice(0, 2)
      .map((word) => basename(word).replace(/\W.*|\d+$/g, ""))
      .filter((word) => word.length >= SHORTEST_NAME)
      .map((word) => word.toUpperCase()),
  );

/** Shorter names are parts of other words. */
const SHORTEST_NAME = 3;

const COMMENT = /^\s*(?:\/\/|#(?!\[)|\*|\/\*|--)/;
const TEXT = /(["'`])((?:(?!\1).){1,200})\1/g;
const TEST_WORD = /(?<![A-Za-z])(?:tests?|specs?|testing)(?![A-Za-z])/i;
/** Names of environment variables in their usual form. */
const LOUD = /(?<![\w$])[A-Z][A-Z0-9_]{3,}(?![\w$])/g;
/** Lowercase names count only if the line has a word for the environment. */
const QUIET = /(?<![\w$])[a-z][a-z0-9]*_\w+/g;
const ENVIRONMENT = /env/i;

/** Ways to find out who called this code, or how its program was started. */
const CALLER =
  /\bsys\._getframe\b|\binspect\.(?:stack|currentframe)\b|\bsys\.argv\b|\bsys\.modules\b|\bError\([^()]*\)\.stack\b|\bcaptureStackTrace\b|\bprocess\.(?:argv|execArgv)\b|\bmodule\.parent\b|\bimport\.meta\b(?=.*\benv\b)|\brequire\.main\b(?! *===? *module\b)|\bruntime\.Callers?\b|\bdebug\.(?:Stack|ReadBuildInfo)\b|\bos\.Args\b|\bcurrent_exe\b|\benv::args\b|\bcfg!\(debug_assertions\)|\bcaller_locations?\b|\$\{?0\b/;

/** Joins strings that are concatenated on one line: `"te" + "st"`. */
const joined = (line: string): string => line.replace(/(["'`])\s*\+\s*\1/g, "");

function wordOf(line: string, stems: readonly string[], programs: readonly string[]): string | null {
  const plain = line.replaceAll("\\", "");
  const stem = stems.find((each) => (TEST_WORD.test(each) || each.includes(".")) && plain.includes(each));
  if (stem !== undefined) return stem;
  const text = [...line.matchAll(TEXT)].map(([, , words = ""]) => words).find((words) => TEST_WORD.test(words));
  if (text !== undefined) return text;
  const names = [...(line.match(LOUD) ?? []), ...((ENVIRONMENT.test(line) ? line.match(QUIET) : null) ?? [])];
  const isOfRun = (name: string): boolean =>
    name.includes("TEST") || programs.some((program) => name.toUpperCase().startsWith(program));
  return names.find(isOfRun) ?? null;
}
