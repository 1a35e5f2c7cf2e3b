import { pinningOf } from "../../core/gates/base-tests.ts";
import { isCodeFile } from "../../parse/code/symbols-mask.ts";
import { pathIndex, readImports } from "../../parse/code/imports.ts";
import { type Fault, faultsIn } from "../../parse/code/plant-faults.ts";
import { readSymbols } from "../../parse/code/symbols.ts";
import { spliceInlineTests } from "../../parse/tests/doc-tests.ts";
import type { TestedWorkOptions } from "../pinned/pinned-run.ts";
import type { FaultBench } from "./fault-bench.ts";

/** So many files are followed from one test, and so many faults are looked at. */
const MOST_FILES = 60;

/** The product's code that a test file uses, by its imports: what it names itself comes first. */
export function reachedCode(bench: FaultBench, testFile: string | null, options: TestedWorkOptions): readonly string[] {
  const isProduct = productRule(options);
  // Where a test stands is not known: then any code may be what it runs.
  if (testFile === null) return bench.paths.filter(isProduct).slice(0, MOST_FILES);
  const index = pathIndex(bench.paths);
  const seen = new Set([testFile]);
  // A set goes on with what is added while it is read.
  for (const path of seen) {
    if (seen.size > MOST_FILES) break;
    for (const next of readImports(bench.text(path) ?? "", path, index)) if (isCodeFile(next)) seen.add(next);
  }
  // A source file that holds tests is what these run.
  return [...seen].filter((path) => isProduct(path));
}

/** Is this a file of the product's code, and not one of its tests? */
export function productRule({ testPaths, oracle, product }: TestedWorkOptions): (path: string) => boolean {
  const rules = { testPaths, oracle, product, named: new Set<string>() };
  return (path) => isCodeFile(path) && ["product", "spliced"].includes(pinningOf(path, rules));
}

/**
 * Faults in these files, in the order in which they are worth a run: lines of what the test names come first, and each
 * line once before any line comes again.
 */
export function faultsFor(
  bench: FaultBench,
  paths: readonly string[],
  testText: string,
  isOpen: (path: string, line: string) => boolean = () => true,
): readonly Fault[] {
  const words = new Set(testText.match(/[\p{L}_$][\p{L}\p{N}_$]*/gu) ?? []);
  const all = paths.flatMap((path) => {
    const text = bench.text(path) ?? "";
    const product = withoutTests(path, text);
    const own = readSymbols(text, path).symbols.filter(({ name, kind }) => kind !== "test" && words.has(name));
    const isNamed = (line: number): boolean => own.some(({ start, end }) => start <= line && line <= end);
    return faultsIn(path, text, (line) => product.has(line) && isOpen(path, line)).map((fault) => ({
      fault,
      isNamed: isNamed(fault.line),
    }));
  });
  const times = new Map<string, number>();
  const turns = all.map(({ fault, isNamed }) => {
    const place = `${fault.path}:${fault.line}`;
    times.set(place, (times.get(place) ?? 0) + 1);
    return { fault, isNamed, turn: times.get(place)! };
  });
  const order = turns.toSorted((a, b) => Number(b.isNamed) - Number(a.isNamed) || a.turn - b.turn);
  return order.map(({ fault }) => fault);
}

/** The lines of a source file that are not those of the tests inside of it. */
export function withoutTests(path: string, text: string): ReadonlySet<string> {
  return new Set((spliceInlineTests(path, "", text) ?? text).split("\n"));
}
