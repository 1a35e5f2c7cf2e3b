import { placeOfFailure } from "../../core/gates/base-failures.ts";
import { countText, plainText } from "../../stdx/plain-text.ts";
import type { Judgement } from "../../core/gates/gate.ts";
import { treeId } from "../../core/events/ids.ts";
import { pinningOf } from "../../core/gates/base-tests.ts";
import { matchesAnyGlob } from "../../stdx/glob.ts";
import type { TestedJudgement } from "../checks/checks-gate.ts";
import { readSymbols } from "../../parse/code/symbols.ts";
import { type TestReading, readTestText } from "../../parse/tests/test-text.ts";
import type { GateRequest } from "../../ports/gate.ts";
import type { Workspace } from "../../ports/workspace.ts";
import { type PinnedContext, failuresIn, inCheckout, withNote } from "./pinned-run.ts";
import { isPlaceOf, runSelected } from "./selected-tests.ts";

/**
 * Adds a note on how many of the work's new tests pass without its change: such tests show nothing. It never rejects
 * the work. Only files with new tests run, on the base's product, and only if that is cheap.
 */
export async function withNewTests(work: PinnedContext, ran: TestedJudgement, judged: Judgement): Promise<Judgement> {
  const { options, control } = work;
  if (judged.result !== "pass" || options.experimentRunner === null || control.signal.aborted) return judged;
  if (options.isTestDemandedElsewhere === true) return judged;
  const { files, tests } = await newTests(work, ran);
  if (files.length === 0 || (ran.tests.isNamed && tests.length === 0)) return judged;
  const without = leavesRoom(ran, files) ? await runWithout(work, files) : null;
  if (control.signal.aborted) return judged;
  const many = ran.tests.isNamed ? countText(tests.length, "new test") : "new tests";
  if (without === null) return withNote(judged, `${many} not shown to fail without the change`);
  const isRed = (test: string): boolean =>
    !without.passed.has(test) && !without.unexplained.some((place) => isPlaceOf(test, place));
  const failing = tests.filter(isRed).length;
  return failing === tests.length ? judged : withNote(judged, `${many}, ${failingWords(failing)} without the change`);
}

const failingWords = (failing: number): string =>
  failing === 0 ? "none fails" : `${failing} ${failing === 1 ? "fails" : "fail"}`;

interface NewTests {
  /** Test files with tests that the base's version of the file does not have. */
  readonly files: readonly string[];
  /** Those tests, by their names in the run. */
  readonly tests: readonly string[];
}

async function newTests(
  { options, request, changed }: PinnedContext,
  { tests: { passed } }: TestedJudgement,
): Promise<NewTests> {
  const { workspace, testPaths } = options;
  const { story, base, tree } = request;
  const paths = changed.filter((each) => matchesAnyGlob(each, testPaths));
  const readAt = async (at: string, path: string): Promise<readonly TestReading[]> =>
    readTestText(path, (await workspace.fileAt(story.id, at, path)) ?? "").tests;
  const before = new Map<string, readonly TestReading[]>();
  for (const path of paths) before.set(path, await readAt(base, path));
  // A test that was renamed or moved is not new.
  const shapes = new Set([...before.values()].flat().map(({ shape }) => shape));
  const files: string[] = [];
  const tests: string[] = [];
  for (const path of paths) {
    const known = new Set(before.get(path)!.map(({ title }) => title));
    const now = await readAt(tree, path);
    const added = new Set(
      now.filter(({ title, shape }) => !known.has(title) && !shapes.has(shape)).map(({ title }) => title),
    );
    if (added.size === 0) continue;
    files.push(path);
    const isNew = (name: string): boolean =>
      isPlaceOf(name, path) && added.has(name.slice(name.lastIndexOf(" > ") + 3));
    tests.push(...[...passed.keys()].filter(isNew));
  }
  return { files, tests };
}

/** Whether there is time: all runs of one attempt should take about twice as long as the suite, and two were made. */
function leavesRoom({ judgement, tests: { passed } }: TestedJudgement, files: readonly string[]): boolean {
  const own = [...passed.keys()].filter((name) => files.some((file) => isPlaceOf(name, file))).length;
  return judgement.durationMs <= SHORT_MS || own <= passed.size * SMALL_SHARE;
}

const SHORT_MS = 5000;
const SMALL_SHARE = 0.2;

interface WithoutChange {
  readonly passed: ReadonlySet<string>;
  /** Test files that do not load for a reason other than what the change adds. */
  readonly unexplained: readonly string[];
}

/** Runs the new tests with the base's product; `null` if they cannot run alone. */
async function runWithout(work: PinnedContext, files: readonly string[]): Promise<WithoutChange | null> {
  const { options, request, control, changed } = work;
  const { testPaths, oracle, product } = options;
  const rules = { testPaths, oracle, product, named: new Set<string>() };
  const paths = changed.filter((path) => ["whole", "merged"].includes(pinningOf(path, rules)));
  const { base, tree } = request;
  const checkout = await options.experimentRunner!.open({ signal: control.signal, commit: base, base });
  try {
    const made = await checkout.set(base, new Map(), { from: tree, paths });
    const textAt = (path: string): string | null => checkout.text(path);
    const own = await runSelected(options.selectTests, files, inCheckout(request, checkout, made), control, textAt);
    return own === null
      ? null
      : { passed: new Set(own.tests.passed.keys()), unexplained: await unexplainedFailures(work, own) };
  } finally {
    await checkout.close();
  }
}

/**
 * Returns files that do not load for another reason than the change. A file that does not load because it uses what the
 * change adds fails as it should, though that is not proven.
 */
async function unexplainedFailures(
  { options, request, changed }: PinnedContext,
  own: TestedJudgement,
): Promise<string[]> {
  const broken = failuresIn(own, null).filter(({ isLoadFailure }) => isLoadFailure);
  if (broken.length === 0) return [];
  const product = changed.filter((path) => !matchesAnyGlob(path, options.testPaths));
  // With base and work swapped, names that the work adds are names that were moved away.
  const added = await movedNames(options, { ...request, base: request.tree, tree: treeId(request.base) }, product);
  const printed = await Promise.all(own.judgement.evidence.map((id) => options.evidence.read(id)));
  const texts = [...own.judgement.findings.flatMap(({ message, detail = "" }) => [message, detail]), ...printed];
  return added.someIn(texts.join("\n")) ? [] : broken.map(({ name }) => placeOfFailure(name));
}

/**
 * Finds what the work moved: product files that only the base has, names that only the base's versions of changed
 * product files contain, and names that a file no longer defines, even if they are used elsewhere. `someIn` returns
 * whether a text mentions one of them.
 */
export async function movedNames(
  { workspace }: { readonly workspace: Pick<Workspace, "fileAt"> },
  { story, base, tree }: GateRequest,
  product: readonly string[],
): Promise<{ someIn(text: string): boolean }> {
  const before = new Set<string>();
  const now = new Set<string>();
  const undefinedNow: string[] = [];
  const paths: string[] = [];
  for (const path of product) {
    const [was, is] = [await workspace.fileAt(story.id, base, path), await workspace.fileAt(story.id, tree, path)];
    if (was !== null) namesIn(was).forEach((name) => before.add(name));
    if (is !== null) namesIn(is).forEach((name) => now.add(name));
    if (was !== null && is === null) paths.push(path, path.replace(/\.\w+$/, ""));
    const defined = definedIn(is ?? "", path);
    undefinedNow.push(...[...definedIn(was ?? "", path)].filter((name) => !defined.has(name)));
  }
  const moved = new Set([...[...before].filter((name) => !now.has(name)), ...undefinedNow]);
  return {
    someIn(text) {
      const plain = plainText(text);
      return paths.some((path) => plain.includes(path)) || namesIn(plain).some((name) => moved.has(name));
    },
  };
}

const definedIn = (text: string, path: string): ReadonlySet<string> =>
  new Set(readSymbols(text, path).symbols.map(({ name }) => name));

const namesIn = (text: string): string[] => text.match(/[\p{L}_$][\p{L}\p{N}_$]+/gu) ?? [];
