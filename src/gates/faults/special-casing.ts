import { basename } from "node:path";
import { isCodeFile } from "../../parse/code/symbols-mask.ts";
import { conditionsIn, testScripts } from "../../parse/code/manifests.ts";
import type { PinnedContext } from "../pinned/pinned-run.ts";
import { productRule } from "./fault-bench.ts";

/** So many lines of code belong together. */
const WINDOW = 4;

/** Lines of the product that the work added or changed. */
interface ChangedCode {
  readonly path: string;
  readonly lines: readonly string[];
  /** Is the line new? */
  readonly isNew: (line: string) => boolean;
}

/** The product's code that the work changed. */
export async function changedCode({ options, request, changed }: PinnedContext): Promise<readonly ChangedCode[]> {
  const { story, base, tree } = request;
  const files: ChangedCode[] = [];
  for (const path of changed.filter(productRule(options))) {
    const now = await options.workspace.fileAt(story.id, tree, path);
    const before = new Set(((await options.workspace.fileAt(story.id, base, path)) ?? "").split("\n"));
    if (now !== null) files.push({ path, lines: now.split("\n"), isNew: (line) => !before.has(line) });
  }
  return files;
}

/**
 * Says where changed lines of the product newly hold, close together, every value of a line of a target's file that
 * names an input and an answer. It may be a coincidence: it is a note for who reads the work.
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
    for (const file of code) {
      const line = lineWithAll(file, cases, answers);
      if (line === null) continue;
      notes.push(`hard-coded answer? ${file.path}:${line} holds the input and the expected value of ${test}`);
      break;
    }
  }
  return [...new Set(notes)];
}

/** The file of tests that a check runs, where its command names one: such a check is itself the target. */
export const testFileInCommand = ({ options }: PinnedContext, check: string): string | null =>
  [check, ...options.commands].flatMap((command) => command.split(/\s+/)).find((word) => isCodeFile(word)) ?? null;

/** The values of each line that has several. */
function casesIn(text: string): readonly (readonly string[])[] {
  return text
    .split("\n")
    .filter((line) => !/^\s*(?:import|from|use|package|#include)\b/.test(line))
    .map((line) => line.replace(TITLE, ""))
    .flatMap((line) => [valuesIn(line), numbersIn(line)])
    .map((values) => [...new Set(values)])
    .filter((values) => values.length >= LEAST_VALUES);
}

/** A text that is given and the one that is expected for it: the last two texts of a line, where they are telling. */
function answersIn(text: string): readonly (readonly [string, string])[] {
  return text.split("\n").flatMap((line): [string, string][] => {
    const texts = valuesIn(line.replace(TITLE, "")).map((value) => /(["'`])([^"'`\n]+)\1/.exec(value)?.[2] ?? value);
    const [answer, input] = texts.filter((value) => TELLING.test(value)).toReversed();
    return answer === undefined || input === undefined || answer === input ? [] : [[input, answer]];
  });
}

/** Long enough, and not a name that code shares with its tests. */
const TELLING = /^(?=.{5,200}$)(?=.*[^\w$])/;

/** What a test is called is no value of it. */
const TITLE = /^\s*(?:test|it|describe)[.\w]*\(\s*(["'`]).*?\1/;
const LEAST_VALUES = 3;
const VALUE = /(["'`])(?:(?!\1)[^\n]){1,200}\1|(?<![\w.])-?\d[\d_]*(?:\.\d+)?(?![\w.])/g;
const NUMBER = /(?<![\w.])-?\d[\d_]*(?:\.\d+)?(?![\w.])/g;
const valuesIn = (line: string): readonly string[] =>
  (line.match(VALUE) ?? []).map((value) => value.replace(/^["'`]|["'`]$/g, ""));

/** In some languages a call stands inside of a text: `"$(add 2 1)"`. */
const numbersIn = (text: string): readonly string[] => text.match(NUMBER) ?? [];

/** A key such as `"2,1"` holds two values. */
const allValuesIn = (line: string): readonly string[] =>
  valuesIn(line).flatMap((value) => [value, ...numbersIn(value)]);

/** The line, from 1, from which on changed lines hold all values of a case; `null` where none does. */
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
 * Says where changed lines of the product name what only a test run has: the file of a target, a text about tests, or a
 * name of the environment that is called after a program of the check (`VITEST`, `MAKELEVEL`); where they ask who called
 * them; and where a manifest newly chooses code by a condition, which a runner may set. Code that behaves differently
 * when it is tested passes every run of the tests; the note is for who reads the work.
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

/** The program of each part of a command, and the one that it starts: `npx vitest`, `python3 -m unittest`. */
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

/** A shorter one is a part of other words. */
const SHORTEST_NAME = 3;

const COMMENT = /^\s*(?:\/\/|#(?!\[)|\*|\/\*|--)/;
const TEXT = /(["'`])((?:(?!\1).){1,200})\1/g;
const TEST_WORD = /(?<![A-Za-z])(?:tests?|specs?|testing)(?![A-Za-z])/i;
/** Names of variables of the environment, as they are mostly written. */
const LOUD = /(?<![\w$])[A-Z][A-Z0-9_]{3,}(?![\w$])/g;
/** Others are told from names of the code by a word for the environment on the line. */
const QUIET = /(?<![\w$])[a-z][a-z0-9]*_\w+/g;
const ENVIRONMENT = /env/i;

/** Ways to ask who called this code, or how its program was started. */
const CALLER =
  /\bsys\._getframe\b|\binspect\.(?:stack|currentframe)\b|\bsys\.argv\b|\bsys\.modules\b|\bError\([^()]*\)\.stack\b|\bcaptureStackTrace\b|\bprocess\.(?:argv|execArgv)\b|\bmodule\.parent\b|\bimport\.meta\b(?=.*\benv\b)|\brequire\.main\b(?! *===? *module\b)|\bruntime\.Callers?\b|\bdebug\.(?:Stack|ReadBuildInfo)\b|\bos\.Args\b|\bcurrent_exe\b|\benv::args\b|\bcfg!\(debug_assertions\)|\bcaller_locations?\b|\$\{?0\b/;

/** Texts that are put together on one line, as one text: `"te" + "st"`. */
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
