import { type Finding, normalisedMessage } from "../../core/gates/finding.ts";
import type { BaseRun, Judgement, TestIdentities } from "../../core/gates/gate.ts";
import type { SuiteResults } from "../../core/gates/test-names.ts";
import type { GateRequest } from "../../ports/gate.ts";
import type { Workspace } from "../../ports/workspace.ts";
import { baseName, lettersOf } from "../../parse/tests/test-report-parts.ts";
import { gitFolderOf } from "../integrity/file-changes.ts";
import { cellName } from "../checks/environments.ts";
import type { CheckFault } from "../checks/check-faults.ts";
import { ranOf } from "../checks/measures.ts";
import type { CheckOutcome } from "../checks/run-check.ts";
import { type TestReading, isTellingShape, readTestText } from "../../parse/tests/test-text.ts";
import { matchesAnyGlob } from "../../stdx/glob.ts";

/** Reads a file in a commit or tree; `null` if it does not exist. */
type FileAt = Pick<Workspace, "fileAt">;

/** Returns the results of single tests on this tree, compared with the base and the last judgement. */
export async function testIdentities(
  request: GateRequest,
  outcomes: readonly CheckOutcome[],
  suiteFaults: readonly Finding[],
  workspace: FileAt | null,
  base: SuiteResults | null = null,
): Promise<TestIdentities> {
  const last = request.last?.identities ?? null;
  const redAtBase = [...(request.atBase.failing ?? []), ...request.atBase.flaky];
  const faults = outcomes.flatMap((outcome) => outcome.faults);
  const failing = unique([...faults.map(({ name }) => name), ...suiteFaults.map(nameOfSuiteFault)]);
  const suspects = outcomes.flatMap((outcome) =>
    outcome.faults.filter((fault) => isTest(fault)).map((fault) => ({ fault, cell: cellName(outcome.run) })),
  );
  const existed = existenceIn(request, workspace);
  const passedAtBase: string[] = [];
  const passedLast: string[] = [];
  for (const { fault, cell } of suspects) {
    // A runner that stops at its first failure did not run the tests after it, so they did not pass.
    if (base?.isNamed === true && !base.passed.has(fault.name) && !base.failed.has(fault.name)) continue;
    if (ranWell(request.baseRun ?? null, fault, cell, redAtBase) && (await existed(fault, request.base)))
      passedAtBase.push(fault.name);
    if (last !== null && last.unlisted === 0 && ranWell(last, fault, cell, last.failing))
      if (await existed(fault, request.last!.tree)) passedLast.push(fault.name);
  }
  const wanted = unique([...redAtBase, ...(last?.failing ?? [])]).filter((name) => !failing.includes(name));
  return {
    failing,
    unlisted: outcomes.reduce((sum, { named }) => sum + named.unlisted, 0),
    passing: namedAsPassed(wanted, outcomes, base),
    passedAtBase: unique(passedAtBase),
    passedLast: unique(passedLast),
    ranTests: ranTestsIn(outcomes),
    notLoaded: notLoadedIn(outcomes, request.baseRun ?? null, last),
  };
}

/** Returns how the checks ran on the base. */
export function baseRunOf(outcomes: readonly CheckOutcome[]): BaseRun {
  const ended = outcomes.filter(({ named }) => named.ended).map(({ run }) => cellName(run));
  const unreported = outcomes.filter(({ isUnreported }) => isUnreported === true).map(({ run }) => cellName(run));
  return {
    ended,
    ranTests: ranTestsIn(outcomes),
    notLoaded: notLoadedIn(outcomes, null, null),
    names: Object.fromEntries(outcomes.map(({ run, names }) => [cellName(run), names.level])),
    ...(unreported.length === 0 ? {} : { unreported }),
  };
}

/** Returns the results of every single test. If one check names only some of its tests, the whole counts as unnamed. */
export function suiteResultsOf(outcomes: readonly CheckOutcome[]): SuiteResults {
  const passed = new Map<string, number>();
  for (const { identity, outcome, count = 1 } of outcomes.flatMap(({ names }) => names.tests))
    if (outcome === "passed") passed.set(identity, (passed.get(identity) ?? 0) + count);
  const testing = outcomes.filter(({ named }) => named.ranTests);
  const ran = testing.map(({ tests }) => (tests === null ? null : ranOf(tests)));
  return {
    isNamed: testing.every(({ names }) => names.level === "all"),
    passed,
    failed: new Set(outcomes.flatMap(({ faults }) => faults.map(({ name }) => name))),
    ran: ran.includes(null) ? null : ran.reduce<number>((sum, each) => sum + (each ?? 0), 0),
  };
}

const ranTestsIn = (outcomes: readonly CheckOutcome[]): string[] =>
  outcomes.filter(({ named }) => named.ranTests).map(({ run }) => cellName(run));

/**
 * Returns files that did not load according to the output, and whole checks that failed to build, did not end, or ran
 * tests before and none now. What did not load at the base either is left out, because it says nothing about the work.
 */
function notLoadedIn(outcomes: readonly CheckOutcome[], base: BaseRun | null, last: TestIdentities | null): string[] {
  const files = outcomes.flatMap(({ named }) => named.notLoaded);
  const checks = outcomes.filter(isSilent).flatMap((outcome) => {
    const name = cellName(outcome.run);
    const knownToTest = [base?.ranTests, last?.ranTests, last?.notLoaded].some((cells) => cells?.includes(name));
    const isBroken = outcome.faults.some(({ finding }) => finding.category === "build");
    return knownToTest || isBroken || !outcome.named.ended ? [name] : [];
  });
  return unique([...files, ...checks]).filter((name) => base?.notLoaded.includes(name) !== true);
}

/** Whether a check failed and ran no test. */
const isSilent = ({ named, faults }: CheckOutcome): boolean => faults.length > 0 && !named.ranTests;

const isTest = ({ finding }: CheckFault): boolean => finding.category === "test" && finding.symbol !== undefined;

/** Whether in that run the check ran its tests, this file loaded, and this test did not fail. */
function ranWell(
  run: Pick<BaseRun, "ranTests" | "notLoaded"> | null,
  { name, finding }: CheckFault,
  cell: string,
  failing: readonly string[],
): boolean {
  if (run === null || !run.ranTests.includes(cell) || failing.includes(name)) return false;
  return finding.file !== undefined && !run.notLoaded.some((each) => each === finding.file || each === cell);
}

/**
 * Returns whether a test already existed. Most runners do not name passing tests, so the earlier version of its file is
 * read. A name that is composed while the tests run is not found there, and counts as new.
 */
function existenceIn(request: GateRequest, workspace: FileAt | null) {
  const titles = new Map<string, Promise<ReadonlySet<string>>>();
  const read = async (at: string, file: string): Promise<ReadonlySet<string>> => {
    const prefix = (await gitFolderOf(request.path))?.prefix ?? "";
    const text = await workspace!.fileAt(request.story.id, at, `${prefix}${file}`);
    const found = text === null ? [] : readTestText(file, text).tests.flatMap(({ title }) => title ?? []);
    return new Set(found);
  };
  return async ({ finding }: CheckFault, at: string): Promise<boolean> => {
    const { file, symbol } = finding;
    if (workspace === null || file === undefined || symbol === undefined) return false;
    const key = `${at}\n${file}`;
    if (!titles.has(key)) titles.set(key, read(at, file));
    const there = await titles.get(key)!;
    return lastPartsOf(symbol).some((part) => there.has(part));
  };
}

/**
 * Returns the name's endings from the whole name to its last part: `outer > inner > title`, `Class.test_x`,
 * `module::test_x`.
 */
function lastPartsOf(symbol: string): string[] {
  const parts = [symbol];
  for (const { index, 0: mark } of symbol.matchAll(/ > |::|\.(?=\w)/g)) parts.push(symbol.slice(index + mark.length));
  return parts;
}

const nameOfSuiteFault = ({ source, message }: Finding): string => `${source}: ${normalisedMessage(message)}`;

/**
 * Returns the wanted tests that passed. A file's path may be complete in one name and relative to its package in the
 * other. Some scripts append the result to the name of a failing test: `rounds up (got 2, want 3)`. It is the test that
 * passed under the shorter name, if no test had that name at the base.
 */
function namedAsPassed(
  wanted: readonly string[],
  outcomes: readonly CheckOutcome[],
  base: SuiteResults | null,
): string[] {
  if (wanted.length === 0) return [];
  const passed = new Map<string, Set<string | null>>();
  for (const { test, file } of outcomes.flatMap(({ named }) => named.passed)) {
    const files = passed.get(lettersOf(test)) ?? new Set();
    passed.set(lettersOf(test), files.add(file === null ? null : baseName(file)));
  }
  const atBase = new Set(
    [...(base?.passed.keys() ?? [])].map((name) => lettersOf(name.slice(name.indexOf(" > ") + 3))),
  );
  const longer = [...passed.keys()].filter((letters) => letters !== "" && !atBase.has(letters));
  const filesOf = (title: string): Set<string | null> | undefined => {
    const letters = lettersOf(title);
    const short = base === null || !/[([:]/.test(title) ? undefined : longer.find((each) => letters.startsWith(each));
    return passed.get(letters) ?? (short === undefined ? undefined : passed.get(short));
  };
  return wanted.filter((name) => {
    const at = name.indexOf(" > ");
    const files = at === -1 ? undefined : filesOf(name.slice(at + 3));
    return files !== undefined && (files.has(null) || files.has(baseName(name.slice(0, at))));
  });
}

const unique = (names: readonly string[]): string[] => [...new Set(names)];

/** Adds the identity of a failure that no run reported. */
export function withFailing(ran: Judgement, wrong: Finding): Pick<Judgement, "identities"> {
  const { identities } = ran;
  if (identities === undefined) return {};
  return { identities: { ...identities, failing: unique([...identities.failing, nameOfSuiteFault(wrong)]) } };
}

/**
 * Returns whether a test was renamed or moved: its body is unchanged in the work's tests, under another title or in
 * another file, and a test of that title passed with the work. A row of a table must also have passed under its own
 * name, because otherwise a row could be left out.
 */
export async function renamedTests(
  { workspace, testPaths }: { readonly workspace: Pick<Workspace, "fileAt">; readonly testPaths: readonly string[] },
  { story, base, tree }: GateRequest,
  changed: readonly string[],
  ran: SuiteResults,
): Promise<(test: string) => boolean> {
  const before: TestReading[] = [];
  const now: TestReading[] = [];
  const read = async (at: string, path: string, into: TestReading[]): Promise<void> => {
    const text = await workspace.fileAt(story.id, at, path);
    if (text !== null) into.push(...readTestText(path, text).tests);
  };
  for (const path of changed.filter((each) => matchesAnyGlob(each, testPaths))) {
    await read(base, path, before);
    await read(tree, path, now);
  }
  const rows = [...ran.passed.keys()].flatMap((test) => rowOf(test) ?? []);
  const passed = new Set([...[...ran.passed.keys()].flatMap(titlesOf), ...rows.map(({ of }) => of)]);
  const passedRows = new Set(rows.map(({ of, row }) => of + row));
  const hasPassed = ({ title }: TestReading): boolean => title === null || isTemplate(title) || passed.has(title);
  const shapes = new Set(now.filter((test) => !ran.isNamed || hasPassed(test)).map(({ shape }) => shape));
  const kept = new Set(
    before.flatMap(({ title, shape }) => (title !== null && isTellingShape(shape) && shapes.has(shape) ? [title] : [])),
  );
  return (test) => {
    if (titlesOf(test).some((title) => kept.has(title))) return true;
    const own = rowOf(test);
    return own !== null && kept.has(own.of) && passedRows.has(own.of + own.row);
  };
}

/** Splits pytest's name of a table's row, `test_adds[2-1]`, into the test and the row; `null` for other names. */
function rowOf(test: string): { readonly of: string; readonly row: string } | null {
  const [, of, row] = /(?:^|\W)(\w+)(\[[^]*\])$/.exec(test.slice(test.indexOf(" > ") + 3)) ?? [];
  return of === undefined || row === undefined ? null : { of, row };
}

/** Whether a title is a template for the names of a table's rows. */
const isTemplate = (title: string): boolean => /[%$]/.test(title);

/**
 * Returns a test's possible titles in its file. Some runners prefix them with module and class:
 * `test_cart.CartTest.test_adds`.
 */
function titlesOf(test: string): readonly string[] {
  const title = test.slice(test.lastIndexOf(" > ") + 3);
  return /^\w+(?:(?:\.|::)\w+)+$/.test(title) ? [title, title.split(/\.|::/).at(-1)!] : [title];
}
