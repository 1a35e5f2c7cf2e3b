import type { Fault } from "../../parse/code/plant-faults.ts";
import { withFault } from "../../parse/code/plant-faults.ts";
import { normalisedMessage } from "../../core/gates/finding.ts";
import { TARGET_WORDS } from "../checks/check-faults.ts";
import type { PinnedContext } from "../pinned/pinned-run.ts";
import type { FaultBench, FaultRun } from "./fault-bench.ts";
import { linesOf, targetsIn } from "./planted-faults.ts";
import type { TestUnit, TimeLimit, WrongExpectation } from "./tripwire.ts";

/** How many targets of one file, and how many values of one target, are changed. */
const MOST_TARGETS = 2;
const MOST_EDITS = 4;
/** How many locations are tried for the expected value, and how many values are tried there. */
const MOST_PLACES = 4;
const MOST_VALUES = 3;

type Edit = WrongExpectation["edits"][number];

/**
 * Finds changes of a target's own literals with which it passes at the base, because it then expects the base's result.
 * With these changes, correct work fails. Work that still returns the wrong value passes, whatever it did to the
 * comparison or its report.
 */
export async function findWrongExpectation(
  work: PinnedContext,
  bench: FaultBench,
  unit: TestUnit,
  time: TimeLimit,
): Promise<WrongExpectation | null> {
  if (unit.from === null) return null;
  const targets = targetsIn(work, unit);
  if (targets.length === 0) return null;
  const plain = await bench.run(unit.file, null);
  for (const test of targets.filter((each) => plain.failed.has(each)).slice(0, MOST_TARGETS)) {
    const found = await editsUntilGreen({ work, bench, unit, time, from: unit.from, test }, plain);
    if (found !== null) return { test, ...found };
  }
  return null;
}

interface Search {
  readonly work: PinnedContext;
  readonly bench: FaultBench;
  readonly unit: TestUnit;
  readonly time: TimeLimit;
  readonly from: string;
  readonly test: string;
}

/** Changes one value after the other, because a test with several assertions stops at the first failure. */
async function editsUntilGreen(
  search: Search,
  plain: FaultRun,
): Promise<Pick<WrongExpectation, "edits" | "called"> | null> {
  const { bench, from } = search;
  const edits: Edit[] = [];
  let text = bench.text(from) ?? "";
  let ran = plain;
  let called = search.test;
  while (edits.length < MOST_EDITS) {
    const now = { ...search, test: called };
    const next = await nextEdit(now, text, await saidIn(now, ran));
    if (next === null) return null;
    edits.push(next.edit);
    called = next.called;
    if (next.ran.passed.has(called)) return { edits, ...(called === search.test ? {} : { called }) };
    text = next.text;
    ran = next.ran;
  }
  return null;
}

/** Returns the test's name with another value: the title of a table's row may contain its values. */
function nameWith(test: string, { passed, failed }: FaultRun, was: string, by: string): string {
  if (passed.has(test) || failed.has(test)) return test;
  const at = test.lastIndexOf(was);
  return at <= test.lastIndexOf(" > ") ? test : test.slice(0, at) + by + test.slice(at + was.length);
}

async function nextEdit(
  search: Search,
  text: string,
  said: string,
): Promise<{ readonly edit: Edit; readonly text: string; readonly ran: FaultRun; readonly called: string } | null> {
  const { work, bench, unit, time, from, test } = search;
  const own = linesOf(from, text, test);
  // The values of a table's row stand where the table does, and in the row's title.
  const title = test.slice(test.lastIndexOf(" > ") + 3);
  const isOfRow = (value: string): boolean => !own.isCertain && value.length > 1 && title.includes(value);
  const places = literalsIn(text)
    .filter(({ line, value }) => (own.has(line) || isOfRow(value)) && said.includes(value))
    .toReversed()
    // If the target's lines are unknown, prefer long values, because short ones occur in many tests.
    .toSorted((a, b) => (own.isCertain ? 0 : b.value.length - a.value.length));
  const run = (changed: string): Promise<FaultRun> => bench.run(unit.file, { path: from, text: changed });
  for (const [at, place] of places.slice(0, MOST_PLACES).entries()) {
    if (work.control.signal.aborted || (at > 0 && !time.hasTime(unit))) return null;
    if (!(await isExpected(search, text, place, said))) continue;
    // A row's own title is no value that was given.
    for (const value of valuesLike(place, said.replaceAll(title, ""))) {
      const changed = put(text, place, value);
      const ran = await run(changed);
      const edit = { path: from, line: place.line, ...lineOf(text, changed, place.line) };
      const called = nameWith(test, ran, place.value, value);
      const isNext =
        ran.failed.has(called) && !isSame(await saidIn({ work, test: called }, ran), said, value, place.value);
      if (ran.passed.has(called) || isNext) return { edit, text: changed, ran, called };
      if (!time.hasTime(unit)) return null;
    }
  }
  return null;
}

/** Whether a location has the expected value: with another value there, the message differs only in that value. */
async function isExpected(search: Search, text: string, place: Literal, said: string): Promise<boolean> {
  const { work, bench, unit, from, test } = search;
  const other = place.isNumber ? String(Number(place.value) + 7919) : `${place.value}zq`;
  const ran = await bench.run(unit.file, { path: from, text: put(text, place, other) });
  const called = nameWith(test, ran, place.value, other);
  if (!ran.failed.has(called)) return false;
  const now = await saidIn({ work, test: called }, ran);
  return now.includes(other) && isSame(now, said, other, place.value);
}

const isSame = (now: string, before: string, value: string, was: string): boolean =>
  bare(now.replaceAll(value, was)) === bare(before);

/** Without what runners draw below and beside values. */
const bare = (said: string): string =>
  normalisedMessage(said.replaceAll(POINTERS, ""))
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/** Lines that point at letters of the line above, as pytest and unittest print them: `E   ?     ^^`. */
const POINTERS = /^[ \t]*E?[ \t]*\?[ \t+^-]*$/gm;

/** Returns a test's message; if the runner reports only its name, the check's output. */
export async function saidIn({ work, test }: Pick<Search, "work" | "test">, ran: FaultRun): Promise<string> {
  // Under another title the test is no target, so its message lacks this first line.
  const said = (ran.said.get(test) ?? "").replace(`${TARGET_WORDS}\n`, "");
  if (/\d|["'`]/.test(said)) return said;
  const printed = await Promise.all(ran.evidence.map((id) => work.options.evidence.read(id)));
  return [said, ...printed.map((each) => (each ?? "").slice(0, LONGEST_OUTPUT))].join("\n");
}

const LONGEST_OUTPUT = 20_000;

/**
 * Whether the target also passes with the work when it expects the base's result. Run twice, and once more at the base.
 */
export async function passesWithWrongValue(
  bench: FaultBench,
  unit: TestUnit,
  { test, called = test, edits }: WrongExpectation,
  base: { bench(): Promise<FaultBench> },
): Promise<boolean> {
  const passes = async (on: FaultBench): Promise<boolean> => {
    const edit = editFor(on, edits);
    return edit !== null && (await on.run(unit.file, edit)).passed.has(called);
  };
  return (await passes(bench)) && (await passes(bench)) && (await passes(await base.bench()));
}

function editFor(bench: FaultBench, edits: readonly Edit[]): { readonly path: string; readonly text: string } | null {
  const path = edits[0]!.path;
  const text = edits.reduce<string | null>(
    (now, edit) => (now === null ? null : withFault(now, edit)),
    bench.text(path),
  );
  return text === null ? null : { path, text };
}

/** A string or number literal in code. */
interface Literal {
  /** Counts from 1. */
  readonly line: number;
  /** The column at which its value starts. */
  readonly from: number;
  readonly value: string;
  readonly isNumber: boolean;
}

const LITERAL = /(["'`])((?:(?!\1)[^\\])+)\1|(?<![\w.$])\d+(?:\.\d+)?(?![\w.])/g;

const literalsIn = (text: string): Literal[] =>
  text.split("\n").flatMap((line, at) =>
    line.length > LONGEST_LINE
      ? []
      : [...line.matchAll(LITERAL)].map(({ index, 0: all, 1: quote, 2: words }) => ({
          line: at + 1,
          from: index + (quote === undefined ? 0 : 1),
          value: words ?? all,
          isNumber: quote === undefined,
        })),
  );

const LONGEST_LINE = 400;

function put(text: string, { line, from, value }: Literal, by: string): string {
  const lines = text.split("\n");
  const own = lines[line - 1]!;
  lines[line - 1] = own.slice(0, from) + by + own.slice(from + value.length);
  return lines.join("\n");
}

const lineOf = (before: string, after: string, line: number): Pick<Fault, "before" | "after"> => ({
  before: before.split("\n")[line - 1]!,
  after: after.split("\n")[line - 1]!,
});

/**
 * Returns values in a test's message that may be the actual result instead of the expected value, the most likely
 * first.
 */
export function valuesLike({ value, isNumber }: Pick<Literal, "value" | "isNumber">, said: string): readonly string[] {
  if (isNumber) {
    const near = said.indexOf(value);
    const numbers = [...said.replace(/[\w./-]+:\d+(?::\d+)?/g, (place) => " ".repeat(place.length)).matchAll(NUMBER)];
    const nearest = numbers.toSorted((a, b) => Math.abs(a.index - near) - Math.abs(b.index - near));
    return distinct(nearest.map(([number]) => number).filter((number) => number !== value)).slice(0, MOST_VALUES);
  }
  const quoted = [...said.matchAll(/(["'`])((?:(?!\1)[^\\\n])+)\1/g)].map(([, , words]) => words!);
  const lines = said.split("\n").map((line) => line.replace(/^[\s+>-]+/, "").trim());
  const words = said.split(/[\s,()[\]{}"'`]+/);
  // Runners print marks before and after values: an unquoted word may be the same value with a mark.
  const isMarked = (each: string): boolean => /^[+:;,.-]?$/.test(each.replace(value, ""));
  const others = [...quoted, ...[...lines, ...words].filter((each) => !isMarked(each))].filter(
    (each) => each !== value && !/["'`\\\n]/.test(each),
  );
  const ranked = distinct(others).map((each) => ({ each, like: likeness(each, value) }));
  return ranked
    .filter(({ like }) => like >= LEAST_LIKE)
    .toSorted((a, b) => b.like - a.like)
    .map(({ each }) => each)
    .slice(0, MOST_VALUES);
}

const NUMBER = /(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])/g;
const LEAST_LIKE = 0.3;

const distinct = (values: readonly string[]): string[] => [...new Set(values)].slice(0, 200);

/** Returns the share of pairs of adjacent letters that two strings have in common. */
function likeness(one: string, other: string): number {
  const pairsOf = (text: string): string[] => [...text].slice(1).map((letter, at) => [...text][at]! + letter);
  const [a, b] = [pairsOf(one.slice(0, 200)), pairsOf(other.slice(0, 200))];
  if (a.length + b.length === 0) return 0;
  const open = [...b];
  let common = 0;
  for (const pair of a) {
    const at = open.indexOf(pair);
    if (at < 0) continue;
    open.splice(at, 1);
    common++;
  }
  return (2 * common) / (a.length + b.length);
}
