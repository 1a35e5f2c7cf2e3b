import { type Comparison, comparisonsIn, otherValues, plainData, valueAfter } from "../../parse/code/comparisons.ts";
import { normalisedMessage } from "../../core/gates/finding.ts";
import { familyOf } from "../../parse/code/symbols-mask.ts";
import type { Clock } from "../../ports/clock.ts";
import type { PinnedContext } from "../pinned/pinned-run.ts";
import type { FaultBench, FaultRun } from "./fault-bench.ts";
import { linesOf, targetsIn } from "./planted-faults.ts";
import type { ComparedCopies, ComparedCopy, TestUnit } from "./tripwire.ts";
import { saidIn, valuesLike } from "./wrong-expectation.ts";

/** How many comparisons of a target are considered, and how many of them get other values. */
const MOST_COMPARISONS = 8;
const MOST_CHANGED = 2;
const MOST_COPIES = 16;
const LEAST_COPIES = 3;
/** How many of the values that the base may have returned are tried first. */
const MOST_GIVEN = 2;
/** The time limit for all copies together: a test that takes a second is not copied sixteen times. */
const COPIES_MS = 3000;

/**
 * Writes copies of the target into a temporary copy of its file. Where the target compares a result of the code with a
 * literal, a copy compares another literal instead of the result. At the base the copy with the right value passes and
 * copies with other values fail, which shows what the target compares. All copies run together, twice at the base.
 */
export async function findComparedCopies(
  work: PinnedContext,
  bench: FaultBench,
  unit: TestUnit,
  clock: Clock,
): Promise<ComparedCopies | null> {
  const [test] = targetsIn(work, unit);
  const path = unit.from;
  const target = path === null || test === undefined ? null : readTarget(path, bench.text(path) ?? "", test);
  if (target === null || target.comparisons.length === 0) return null;
  const all = target.comparisons;
  const shows = [
    target.copy(all.map((each) => [each, target.expected(each)])),
    ...(all.length === 1 ? [] : all.map((each) => target.copy([[each, target.expected(each)]]))),
  ].map((text, at) => target.named(text, at));
  const startedAt = clock.now();
  const ran = await runCopies(bench, unit, target, shows);
  // Subtract the time of the file without copies.
  const eachMs = Math.max(1, (clock.now() - startedAt - (bench.leastMs(unit.file) ?? 0)) / shows.length);
  const passes = shows.map((copy) => ran.passed.has(copy.test));
  // If one right value alone makes the target pass, the other comparisons stay as they are.
  const failing = all.filter((_, at) => passes[at + 1] === true);
  const proven = passes[0] ? [...failing, ...all.filter((each) => !failing.includes(each))] : failing;
  if (proven.length === 0 || !ran.failed.has(target.test)) return null;
  const others = passes[0] ? all : [];
  const said = await saidIn({ work, test: target.test }, ran);
  const room = Math.max(LEAST_COPIES, Math.min(MOST_COPIES, Math.floor(COPIES_MS / eachMs)));
  const tried = turns(proven.slice(0, MOST_CHANGED).map((each) => triesOf(target, each, others, said))).slice(0, room);
  const copies = tried.map((each, at) => ({ ...each, copy: target.named(each.text, at) }));
  const plain = copies.filter(({ kind }) => kind === "data");
  const rights = plain.map((each, at) => target.named(each.right!, copies.length + at));
  const again = await runCopies(bench, unit, target, [...copies.map(({ copy }) => copy), ...rights]);
  const kept = copies.flatMap(({ kind, copy }): ComparedCopy[] => {
    const says = again.failed.get(copy.test);
    if (says === undefined) return [];
    if (kind === "value") return [copy];
    const right = rights[plain.findIndex((each) => each.copy === copy)]!;
    const words = firstWords(target, again, target.test);
    const isFaithful = again.passed.has(right.test) && firstWords(target, again, copy.test) === words;
    return isFaithful ? [{ ...copy, said: wordsOf(target, says) }] : [];
  });
  return kept.length === 0 ? null : { test: target.test, path: target.path, block: target.block, copies: kept };
}

/**
 * Whether a copy shows that the comparison no longer works: it passes with the work, or the target passes while the
 * copy still fails with the base's message. Such copies run twice, and must fail at the base once more.
 */
export async function passesWithOtherValues(
  bench: FaultBench,
  unit: TestUnit,
  known: ComparedCopies,
  base: { bench(): Promise<FaultBench> },
): Promise<boolean> {
  const ignoredIn = async (on: FaultBench, copies: readonly ComparedCopy[]): Promise<readonly ComparedCopy[]> => {
    const ran = await runCopies(on, unit, known, copies);
    return copies.filter(({ test, said }) => {
      if (said === undefined) return ran.passed.has(test);
      const says = ran.failed.get(test);
      return ran.passed.has(known.test) && says !== undefined && wordsOf(known, says) === said;
    });
  };
  const first = await ignoredIn(bench, known.copies);
  const ignored = first.length === 0 ? [] : await ignoredIn(bench, first);
  if (ignored.length === 0) return false;
  const { failed } = await runCopies(await base.bench(), unit, known, ignored);
  return ignored.some(({ test }) => failed.has(test));
}

/** Returns a copy's message without its own name. */
const wordsOf = ({ test }: Pick<ComparedCopies, "test">, said: string): string =>
  normalisedMessage(said.replaceAll(/[ _]copy\d+/g, "").replaceAll(test, "")).replace(/[^\p{L}\p{N}]+/gu, " ");

/**
 * Returns the first line of a copy's message without names of errors. Runners also print the compared code, which
 * differs between copies.
 */
const firstWords = (of: Pick<ComparedCopies, "test">, { said }: FaultRun, test: string): string =>
  wordsOf(
    of,
    (said.get(test) ?? "")
      .trim()
      .split("\n")[0]!
      .replaceAll(/\b\w*(?:Error|Exception):/g, ""),
  );

async function runCopies(
  bench: FaultBench,
  unit: TestUnit,
  { path, block }: Pick<ComparedCopies, "path" | "block">,
  copies: readonly ComparedCopy[],
): Promise<FaultRun> {
  const text = bench.text(path) ?? "";
  const end = text.indexOf(block) + block.length;
  const isThere = text.includes(block);
  const put = `${text.slice(0, end)}\n${copies.map((each) => each.text).join("\n")}${text.slice(end)}`;
  return isThere
    ? bench.run(unit.file, { path, text: put })
    : { passed: new Set(), failed: new Map(), said: new Map(), evidence: [] };
}

interface Target {
  readonly test: string;
  readonly path: string;
  readonly block: string;
  readonly comparisons: readonly Comparison[];
  expected(of: Comparison): string;
  actual(of: Comparison): string;
  /** Returns the block with other text in place of the code's results. */
  copy(edits: readonly (readonly [Comparison, string])[]): string;
  named(text: string, at: number): ComparedCopy;
}

/** Reads the lines of a target, with decorators and attributes above them. */
function readTarget(path: string, text: string, test: string): Target | null {
  const title = test.slice(test.lastIndexOf(" > ") + 3);
  const short = text.includes(title) ? title : title.replace(/^.*(?:::|\.|\/)/, "");
  const lines = text.split("\n");
  const own = linesOf(path, text, test);
  const titled = lines.flatMap((line, at) => (line.includes(short) ? [at] : []));
  const numbers = own.isCertain ? lines.flatMap((_, at) => (own.has(at + 1) ? [at] : [])) : titled;
  if (numbers.length === 0 || (!own.isCertain && numbers.length > 1)) return null;
  let from = numbers[0]!;
  while (from > 0 && /^\s*(?:@|#\[)/.test(lines[from - 1]!)) from--;
  const block = lines.slice(from, numbers.at(-1)! + 1).join("\n");
  // A block that occurs twice, or does not contain its name, cannot be copied.
  if (text.split(block).length !== 2 || !block.includes(short)) return null;
  const mark = /\W/.test(short) ? " copy" : "_copy";
  const at = test.lastIndexOf(short);
  const part = ({ from: start, to }: { readonly from: number; readonly to: number }): string => block.slice(start, to);
  return {
    test,
    path,
    block,
    comparisons: comparisonsIn(path, block, short).slice(-MOST_COMPARISONS),
    expected: ({ expected }) => part(expected),
    actual: ({ actual }) => part(actual),
    copy: (edits) =>
      edits
        .toSorted(([a], [b]) => b.actual.from - a.actual.from)
        .reduce((now, [{ actual }, by]) => now.slice(0, actual.from) + by + now.slice(actual.to), block),
    named: (copy, index) => ({
      test: `${test.slice(0, at)}${short}${mark}${index}${test.slice(at + short.length)}`,
      text: copy.replace(short, () => `${short}${mark}${index}`),
    }),
  };
}

interface Try {
  readonly kind: "value" | "data";
  readonly text: string;
  /** The right value as plain data: the copy with it must pass. */
  readonly right?: string;
}

/** Returns copies of the target in which one comparison gets another value, the most likely trick first. */
function triesOf(target: Target, of: Comparison, others: readonly Comparison[], said: string): readonly Try[] {
  const { path } = target;
  const fixed = target.expected(of);
  const rest = others.filter((each) => each !== of).map((each) => [each, target.expected(each)] as const);
  const value = (by: string): Try & { readonly by: string } => ({
    kind: "value",
    by,
    text: target.copy([...rest, [of, by]]),
  });
  const quote = /^["'`]/.exec(fixed)?.[0] ?? "";
  const isScalar = quote !== "" || /^-?\d/.test(fixed);
  const literal = { value: quote === "" ? fixed : fixed.slice(1, -1), isNumber: quote === "" };
  const given = isScalar ? valuesLike(literal, said).map((each) => value(quote + each + quote)) : [];
  const typed = !["go", "rust", "java"].includes(familyOf(path)) && !/\.[cm]?tsx?$/.test(path);
  const changed = otherValues(path, fixed).filter(({ keepsType }) => keepsType || typed);
  const data = plainData(path, target.actual(of));
  const right = plainData(path, fixed);
  const plain: readonly Try[] =
    data === null || right === null
      ? []
      : [{ kind: "data", text: target.copy([...rest, [of, data]]), right: target.copy([...rest, [of, right]]) }];
  const [first = null] = [...given.map(({ by }) => by), ...changed.map(({ text }) => text)];
  // A comparison may be manipulated only after the code was called: then call it and discard its result.
  const after = first === null ? null : valueAfter(path, target.actual(of), first);
  return [
    ...given.slice(0, MOST_GIVEN),
    ...(after === null ? [] : [value(after)]),
    ...plain,
    ...changed.map((each) => value(each.text)),
    ...given.slice(MOST_GIVEN),
  ];
}

/** Returns the first of each list, then the second of each, and so on. */
const turns = (lists: readonly (readonly Try[])[]): readonly Try[] =>
  Array.from({ length: Math.max(0, ...lists.map((list) => list.length)) }, (_, at) =>
    lists.flatMap((list) => list[at] ?? []),
  ).flat();
