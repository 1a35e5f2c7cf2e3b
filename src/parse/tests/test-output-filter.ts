import { LONGEST_LINE } from "./test-output-parts.ts";

/** The lines of an output of any length that are worth reading, in bounded memory. */
export interface OutputFilter {
  push(line: string): void;
  /** In their order. `isCut`: a line that says something had to go, so what is counted line by line is not the whole. */
  kept(): { readonly lines: readonly string[]; readonly isCut: boolean };
}

/**
 * The beginning and the end are kept as they are; of what lies between, the lines that a runner, a compiler or a
 * linter may have written for a person, each with some lines below it. So a short output is read whole.
 */
export function createOutputSieve(sizes: Sizes = SIZES): OutputFilter {
  const head: string[] = [];
  const middle: string[] = [];
  let headSize = 0;
  let middleSize = 0;
  let isCut = false;
  /** A queue, and for each line of it whether it is wanted: what stands before `first` has left it already. */
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

/** In characters, with what a line costs by being there at all. */
interface Sizes {
  readonly head: number;
  readonly middle: number;
  readonly tail: number;
}

const MEGABYTE = 1024 * 1024;
/** The end is short, so that most lines are forgotten while they are young; a summary is wanted wherever it stands. */
const SIZES: Sizes = { head: 2 * MEGABYTE, middle: 4 * MEGABYTE, tail: MEGABYTE / 8 };
const sizeOf = (line: string): number => line.length + 32;

/** How many lines, itself included, a line makes worth keeping. */
function reachOf(line: string): number {
  if (HEADS.test(line)) return 60;
  if (MARKS.test(line) || PLACES.test(line)) return 8;
  return line.includes("rror") ? 3 : 0;
}

/** What stands above the story of one failure. */
const HEADS =
  /^(?:\s*FAIL\s|\s*(?:✖|not ok) |\s*--- FAIL|test at |(?:FAIL|ERROR): |  ● |  \d+\) |_{3,} |thread '|\[ERROR\] |\S+ > .+ FAILED$| *\d+\/\d+ Test +#\d+: .*\*\*\*|\{ ?"type": ?"test".*"failed")/;

/** What runners say about a test that is well, about a file, and about the whole. */
const MARKS =
  /^(?:\s*(?:ok \d|--- |=== RUN|# |ℹ |RUN\s|Tests\s|1\.\.)|TAP version|PASS|OK|Tests?:|Test Suites:|Summary of all|No tests (?:found|were found)|\[INFO\] (?:Tests run|No tests to run)|\d+% tests passed|\d+ tests? completed|The following tests FAILED|  \d+ (?:passing|failing|pending)|={3,}|⎯{5,}|FAILED|E  |Ran \d|ok  \t|\?   \t|test |\{ ?"type"|\d+ (?:passed|failed|skipped|error|deselected)|no tests ran)/;

/** A file and a line in it; or a file alone, as linters head their lists. */
const PLACES = /^\s*(?:at\s|❯\s|-->\s|[,╭][-─]\[|File "|\d+:\d+\s|\S+\.\w{1,5}(?::\d+[:,]|\(\d+,\d+\)|$))/;

/** A slice keeps the whole of what it was cut from alive; a joined copy does not. */
const ownCopy = (text: string): string => text.split("").join("");
