import { basename } from "node:path";
import { testScripts } from "../../parse/code/manifests.ts";
import type { PinnedContext } from "../pinned/pinned-run.ts";
import type { ChangedCode } from "./hard-coded.ts";

/**
 * Says where changed lines of the product name what only a test run has: the file of a target, a text about tests, or a
 * name of the environment that is called after a program of the check (`VITEST`, `MAKELEVEL`). Code that behaves
 * differently when it is tested passes every run of the tests; the note is for who reads the work.
 */
export async function testedWordsNotes(
  { options, request }: PinnedContext,
  code: readonly ChangedCode[],
  fileOf: (test: string) => string | null,
): Promise<readonly string[]> {
  const { story, base, atBase } = request;
  const manifest = await options.workspace.fileAt(story.id, base, "package.json");
  const programs = [...options.commands, ...testScripts(manifest).values()].flatMap(programsIn);
  const stems = atBase.targets.flatMap((test) => {
    const file = fileOf(test);
    return file === null ? [] : [basename(file).replace(/\.\w+$/, "")];
  });
  return code.flatMap(({ path, lines, isNew }) => {
    for (const [at, line] of lines.entries()) {
      const word = isNew(line) ? wordOf(line, stems, programs) : null;
      if (word !== null) return [`knows that it is tested? ${path}:${at + 1} names \`${word}\``];
    }
    return [];
  });
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

function wordOf(line: string, stems: readonly string[], programs: readonly string[]): string | null {
  if (COMMENT.test(line)) return null;
  const plain = line.replaceAll("\\", "");
  const stem = stems.find((each) => TEST_WORD.test(each) && plain.includes(each));
  if (stem !== undefined) return stem;
  const text = [...line.matchAll(TEXT)].map(([, , words = ""]) => words).find((words) => TEST_WORD.test(words));
  if (text !== undefined) return text;
  const names = [...(line.match(LOUD) ?? []), ...((ENVIRONMENT.test(line) ? line.match(QUIET) : null) ?? [])];
  const isOfRun = (name: string): boolean =>
    name.includes("TEST") || programs.some((program) => name.toUpperCase().startsWith(program));
  return names.find(isOfRun) ?? null;
}
