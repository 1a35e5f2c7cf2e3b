import { pinningOf } from "../../core/gates/base-tests.ts";
import { isCodeFile } from "../../parse/code/symbols-mask.ts";
import { type PathIndex, pathIndex, readImports } from "../../parse/code/imports.ts";
import { readWorkspacePackages } from "../../parse/code/workspace-packages.ts";
import { type Fault, faultsIn } from "../../parse/code/plant-faults.ts";
import { readSymbols } from "../../parse/code/symbols.ts";
import { spliceInlineTests } from "../../parse/tests/doc-tests.ts";
import { placeOfFailure } from "../../core/gates/base-failures.ts";
import { type Finding, normalisedMessage } from "../../core/gates/finding.ts";
import type { EvidenceId, TreeId } from "../../core/events/ids.ts";
import type { ExperimentCheckout } from "../../ports/experiment-runner.ts";
import { faultNameOf } from "../checks/check-faults.ts";
import { gitFolderOf } from "../integrity/file-changes.ts";
import { type PinnedContext, type TestedWorkOptions, inCheckout, namesNoTest } from "../pinned/pinned-run.ts";
import { type PinnedTree, openPinned, setPinned } from "../pinned/pinned-tree.ts";
import { isPlaceOf } from "../pinned/selected-tests.ts";

/** The results of single tests in one run. */
export interface FaultRun {
  readonly passed: ReadonlySet<string>;
  /** Failed tests, with their normalized messages. */
  readonly failed: ReadonlyMap<string, string>;
  /** The messages of failed tests, unchanged. */
  readonly said: ReadonlyMap<string, string>;
  readonly evidence: readonly EvidenceId[];
}

/** A checkout in which faults are planted, one at a time. */
export interface FaultBench {
  readonly paths: readonly string[];
  /** Returns an index that finds files by the names that code uses. */
  index(): PathIndex;
  /** Returns a file's text without faults. */
  text(path: string): string | null;
  /** Runs the tests of a file (`null`: all tests) with an edited file, and with some paths as at the base. */
  run(
    file: string | null,
    edit: { readonly path: string; readonly text: string } | null,
    atBase?: readonly string[],
  ): Promise<FaultRun>;
  /** Returns the shortest time of this file's tests so far, with or without a fault; `null` if they did not run yet. */
  leastMs(file: string | null): number | null;
  /** Whether the runner can run this file alone. */
  isSelectable(file: string): boolean;
  close(): Promise<void>;
}

/** Opens a bench on the base, or on the work with the base's tests (`pinned`; `null`: the work unchanged). */
export async function openBench(
  work: PinnedContext,
  of: { readonly at: "base" } | { readonly at: "work"; readonly pinned: PinnedTree | null },
  limitMs: number,
): Promise<FaultBench> {
  const { options, request, control } = work;
  const { base, commit, tree } = request;
  const runner = options.experimentRunner!;
  const checkout =
    of.at === "base"
      ? await runner.open({ signal: control.signal, commit: base, base })
      : of.pinned === null
        ? await runner.open({ signal: control.signal, commit: commit === "" ? base : commit, tree, base })
        : await openPinned(runner, request, of.pinned, control.signal);
  const plain = of.at === "base" || of.pinned === null ? NOTHING_PINNED : of.pinned;
  const set: SetFiles = (texts, atBase) =>
    of.at === "base"
      ? checkout.set(base, texts)
      : setPinned(checkout, request, {
          taken: [...plain.taken, ...atBase],
          texts: new Map([...plain.texts, ...texts]),
        });
  // The checkout was opened with the files of the base or the work; add the pinned ones.
  if (plain !== NOTHING_PINNED) await set(new Map(), []);
  return benchIn(work, checkout, set, limitMs);
}

/** The least time limit of a run with a fault, which may make a program run forever. */
export const LEAST_RUN_MS = 10_000;

type SetFiles = (texts: ReadonlyMap<string, string>, atBase: readonly string[]) => Promise<TreeId>;

const NOTHING_PINNED: PinnedTree = { taken: [], texts: new Map() };

async function benchIn(
  { options, request, control }: PinnedContext,
  checkout: ExperimentCheckout,
  set: SetFiles,
  limitMs: number,
): Promise<FaultBench> {
  const prefix = (await gitFolderOf(checkout.path))?.prefix ?? "";
  const quiet = { signal: control.signal, onOutput: () => undefined };
  const own = new Map<string, string | null>();
  const textOf = (path: string): string | null => (own.has(path) ? own.get(path)! : checkout.text(path));
  const packageFile = textOf(`${prefix}package.json`);
  let longestMs: number | null = null;
  const leastMs = new Map<string | null, number>();
  /**
   * Returns the time limit of a run: with a fault, twice the longest run so far, so that a run that never ends is
   * stopped soon.
   */
  const limitFor = (edit: object | null): number =>
    edit === null || longestMs === null ? limitMs : Math.min(limitMs, LEAST_RUN_MS + 2 * longestMs);
  const checksOf = (file: string | null, edit: object | null = null) =>
    options.faults!.checksFor(file === null || !file.startsWith(prefix) ? [] : [file.slice(prefix.length)], {
      packageFile,
      textOf: (own) => textOf(prefix + own),
      limitMs: limitFor(edit),
      ranTests: request.baseRun?.ranTests ?? [],
    });
  const paths = await checkout.paths();
  let index: PathIndex | null = null;
  return {
    paths,
    index: () => (index ??= pathIndex(paths, readWorkspacePackages(paths, textOf))),
    text: textOf,
    leastMs: (file) => leastMs.get(file) ?? null,
    isSelectable: (file) => checksOf(file).isSelected,
    async run(file, edit, atBase = []) {
      if (edit !== null && !own.has(edit.path)) own.set(edit.path, checkout.text(edit.path));
      const tree = await set(new Map(edit === null ? [] : [[edit.path, edit.text]]), atBase);
      const { gate } = checksOf(file, edit);
      const limit = limitFor(edit);
      const { judgement, tests } = await gate.judgeTests(inCheckout(request, checkout, tree), quiet);
      const { durationMs } = judgement;
      if (durationMs < limit) longestMs = Math.max(longestMs ?? 0, durationMs);
      leastMs.set(file, Math.min(leastMs.get(file) ?? Infinity, durationMs));
      const isIn = (name: string): boolean => file === null || isPlaceOf(name, file);
      const red = judgement.findings
        .filter((finding) => finding.symbol !== undefined && !namesNoTest(finding))
        .map((finding) => ({ name: faultNameOf(finding), finding }))
        .filter(({ name }) => isIn(name));
      return {
        passed: new Set([...tests.passed.keys()].filter(isIn)),
        failed: new Map(red.map(({ name, finding }) => [name, saidBy(finding)])),
        said: new Map(red.map(({ name, finding: { message, detail = "" } }) => [name, `${message}\n${detail}`])),
        evidence: judgement.evidence,
      };
    },
    close: () => checkout.close(),
  };
}

/** Returns a failed test's message without variable parts. After the first lines runners add summaries. */
function saidBy({ message, detail = "" }: Finding): string {
  const lines = `${message}\n${detail}`.split("\n").filter((line) => line.trim() !== "");
  return normalisedMessage(lines.slice(0, MOST_LINES).join("\n"));
}

const MOST_LINES = 8;

/** Returns the path of a test's file from the top of the repository; `null` if the name does not tell. */
export function testFileOf({ paths }: Pick<FaultBench, "paths">, name: string): string | null {
  const place = placeOfFailure(name);
  const fits = paths.filter((path) => path === place || path.endsWith(`/${place}`));
  return fits.length === 1 ? fits[0]! : (fits.find((path) => path === place) ?? null);
}

/** Whether all of these tests still report a result. If not, the program no longer loads. */
export const allReport = ({ passed, failed }: FaultRun, tests: Iterable<string>): boolean =>
  [...tests].every((test) => passed.has(test) || failed.has(test));

/** How many files are followed from one test. */
const MOST_FILES = 60;

/** Returns the product code that a test file uses, through its imports; directly imported files come first. */
export function reachedCode(bench: FaultBench, testFile: string | null, options: TestedWorkOptions): readonly string[] {
  const isProduct = productRule(options);
  // Without a known test file, any code may be what it runs.
  if (testFile === null) return bench.paths.filter(isProduct).slice(0, MOST_FILES);
  const index = bench.index();
  const seen = new Set([testFile]);
  // A loop over a set includes elements that are added during the loop.
  for (const path of seen) {
    if (seen.size > MOST_FILES) break;
    for (const next of readImports(bench.text(path) ?? "", path, index)) if (isCodeFile(next)) seen.add(next);
  }
  // A source file with inline tests is itself the code that they test.
  return [...seen].filter((path) => isProduct(path));
}

/** Returns whether a path is product code, and not a test. */
export function productRule({ testPaths, oracle, product }: TestedWorkOptions): (path: string) => boolean {
  const rules = { testPaths, oracle, product, named: new Set<string>() };
  return (path) => isCodeFile(path) && ["product", "spliced"].includes(pinningOf(path, rules));
}

/**
 * Returns faults in these files, the most promising first: lines with names from the test come first, and each line
 * once before any line comes again.
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

/** Returns the lines of a source file without its inline tests. */
export function withoutTests(path: string, text: string): ReadonlySet<string> {
  return new Set((spliceInlineTests(path, "", text) ?? text).split("\n"));
}
