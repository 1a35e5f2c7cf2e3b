import { LONGEST_LINE } from "./test-output-parts.ts";

/** Keeps the important lines of an output of any length, in bounded memory. */
export interface OutputFilter {
  push(line: string): void;
  /** The kept lines in order. `isCut`: an important line was dropped, so counts of lines are incomplete. */
  kept(): { readonly lines: readonly string[]; readonly isCut: boolean };
}

/**
 * Keeps the beginning and the end unchanged. Between them it keeps the lines that a runner, a compiler or a linter may
 * have written for people, each with some lines below it. A short output is kept completely.
 */
export function createOutputSieve(sizes: Sizes = SIZES): OutputFilter {
  const head: string[] = [];
  const middle: string[] = [];
  let headSize = 0;
  let middleSize = 0;
  let isCut = false;
  /** A queue, and for each of its lines whether it is important. Lines before `first` have already left it. */
  let tail: string[] = [];
  let wanted: boolean[] = [];
  let first = 0;
  let tailSize = 0;
  let below = 0;

  function leave(): void {
    const line = tail[first]!;
    const isWanted = wanted[first++]!;
    tailSize -= sizeOf(line);
    if (isWanted && middleSize + sizeOf(line) <= sizes.middle) {
      middle.push(line);
      middleSize += sizeOf(line);
    } else isCut ||= isWanted;
    if (first > 1000 && first > tail.length / 2) {
      tail = tail.slice(first);
      wanted = wanted.slice(first);
      first = 0;
    }
  }

  return {
    push(text) {
      const line = text.length > LONGEST_LINE ? ownCopy(text.slice(0, LONGEST_LINE)) : text;
      if (headSize < sizes.head) {
        headSize += sizeOf(line);
        head.push(line);
        return;
      }
      const reach = reachOf(line);
      below = Math.max(reach, below - 1);
      tail.push(line);
      wanted.push(below > 0);
      tailSize += sizeOf(line);
      while (tailSize > sizes.tail) leave();
    },
    kept: () => ({ lines: [...head, ...middle, ...tail.slice(first)], isCut }),
  };
}

/** In characters, with an extra cost for each line. */
interface Sizes {
  readonly head: number;
  readonly middle: number;
  readonly tail: number;
}

const MEGABYTE = 1024 * 1024;
/** The end is short, so that most lines are dropped early; a summary is kept wherever it is. */
const SIZES: Sizes = { head: 2 * MEGABYTE, middle: 4 * MEGABYTE, tail: MEGABYTE / 8 };
const sizeOf = (line: string): number => line.length + 32;

/** Returns how many lines, including itself, a line makes important. */
function reachOf(line: string): number {
  if (HEADS.test(line)) return 60;
  if (MARKS.test(line) || PLACES.test(line)) return 8;
  return line.includes("rror") ? 3 : 0;
}

/** The first line of a failure's description. */
const HEADS =
  /^(?:\s*FAIL\s|\s*(?:✖|not ok) |\s*--- FAIL|test at |(?:FAIL|ERROR): |  ● |  \d+\) |_{3,} |thread '|\[ERROR\] |\S+ > .+ FAILED$| *\d+\/\d+ Test +#\d+: .*\*\*\*|\{ ?"type": ?"test".*"failed")/;

/** What runners print about a passed test, about a file, and about the whole run. */
const MARKS =
  /^(?:\s*(?:ok \d|--- |=== RUN|# |ℹ |RUN\s|Tests\s|1\.\.)|TAP version|PASS|OK|Tests?:|Test Suites:|Summary of all|No tests (?:found|were found)|\[INFO\] (?:Tests run|No tests to run)|\d+% tests passed|\d+ tests? completed|The following tests FAILED|  \d+ (?:passing|failing|pending)|={3,}|⎯{5,}|FAILED|E  |Ran \d|ok  \t|\?   \t|test |\{ ?"type"|\d+ (?:passed|failed|skipped|error|deselected)|no tests ran)/;

/** A file with a line; or a file alone, as linters print it above their lists. */
const PLACES = /^\s*(?:at\s|❯\s|-->\s|[,╭][-─]\[|File "|\d+:\d+\s|\S+\.\w{1,5}(?::\d+[:,]|\(\d+,\d+\)|$))/;

/** Copies a text: a slice would keep the whole original in memory. */
const ownCopy = (text: string): string => text.split("").join("");
