import { type Failure, type FailureReading, signatureOf } from "../../core/blame/failure.ts";
import type { ChangedHunk } from "../../core/blame/change.ts";
import type { NamedTest } from "../../core/gates/test-names.ts";
import type { Outcome, RunOutcome } from "./experiments.ts";
import { isAtSameLine, sayingOf, titleIn, titlesOf, type FailureGroup } from "./failure-groups.ts";

/** One observed run of the failing tests. */
export interface ExperimentRun {
  readonly passed: boolean;
  /** The run did not finish: nothing is known. */
  readonly timedOut: boolean;
  readonly reading: FailureReading;
  readonly tookMs: number;
  /** Changes of tests are reverted in it, so tests that came with them do not exist. */
  readonly lacksTests?: boolean;
}

/** Returns each group's outcome. A failure is the same only if the same test fails with the same content. */
export function outcomeOf(groups: readonly FailureGroup[], run: ExperimentRun): RunOutcome {
  const each = trusted(
    groups,
    groups.map((group) => outcomeOfGroup(group, run)),
  );
  return {
    outcomes: each.map(({ outcome }) => outcome),
    signatures: each.map(({ signature }) => signature),
    ...(each.some(({ isLoose }) => isLoose === true) ? { loose: each.map(({ isLoose }) => isLoose === true) } : {}),
    isGreen: run.passed,
    ...failedTests(run),
    tookMs: run.tookMs,
  };
}

interface GroupOutcome {
  readonly outcome: Outcome;
  readonly signature: string | null;
  /** The same test failed at the same line, with a message that was not seen before. */
  readonly isLoose?: boolean;
}

/**
 * Distrusts failures without compared values if other recorded failures became those of a broken tree: "must not throw"
 * reports every error in the same way, so the broken tree may be its cause.
 */
function trusted(groups: readonly FailureGroup[], outcomes: readonly GroupOutcome[]): readonly GroupOutcome[] {
  if (!outcomes.some(({ outcome }) => outcome === "cannot-apply")) return outcomes;
  const compares = ({ failures }: FailureGroup): boolean =>
    failures.some(({ expected, actual }) => expected !== null || actual !== null);
  return outcomes.map((each, at) => (each.outcome === "fail-same" && !compares(groups[at]!) ? NOTHING : each));
}

const NOTHING: GroupOutcome = { outcome: "cannot-apply", signature: null };

/** Returns the names of all failed tests of a run; nothing if one of them may be missing. */
function failedTests({ passed, timedOut, reading }: ExperimentRun): Pick<RunOutcome, "failed"> {
  if (timedOut || (!passed && reading.tests === undefined)) return {};
  const isFailed = ({ outcome }: NamedTest): boolean => outcome === "failed" || outcome === "not-loaded";
  return { failed: (reading.tests ?? []).filter(isFailed).map(({ identity }) => identity) };
}

function outcomeOfGroup({ failures, runners, variants = [] }: FailureGroup, run: ExperimentRun): GroupOutcome {
  const nothing = NOTHING;
  const pass = { outcome: "pass", signature: null } as const;
  if (run.timedOut) return nothing;
  const { failures: now, tests } = run.reading;
  const seen = [...failures, ...variants];
  const recorded = new Set(seen.map(signatureOf));
  const same = run.passed ? undefined : now.find((failure) => recorded.has(signatureOf(failure)));
  if (same !== undefined) return { outcome: "fail-same", signature: sayingOf(same) };
  const titles = titlesOf(failures);
  const mine = run.passed ? [] : now.filter((failure) => titles.has(titleIn(failure)));
  const alike =
    variants.length === 0 ? undefined : mine.find((failure) => isAtSameLine(failure, seen) && !isBroken(failure));
  if (alike !== undefined) return { outcome: "fail-same", signature: sayingOf(alike), isLoose: true };
  // If all tests pass, tests of the group that are missing came with the reverted changes.
  const expected = tests !== undefined && run.passed && run.lacksTests === true ? thereIn(tests, failures) : failures;
  const fate = tests === undefined ? null : fateOf(tests, expected);
  if (fate === "passed" && mine.length === 0) return pass;
  if (fate === "unknown") return nothing;
  if (run.passed) return fate === null && (hasPassed(tests) || didLoad(run.reading, runners)) ? pass : nothing;
  // A failed build is fixed when tests run, with any result.
  if (failures.every(isUnbuilt) && !now.some(isUnbuilt) && ranTests(run.reading)) return pass;
  // If no test is known by name, only a passing run shows that the failure is gone.
  const isCrash = mine.length === 0 && failures.every(({ category }) => category === "crash");
  if (isCrash && tests?.some(({ outcome }) => outcome === "passed") === true && ranTests(run.reading)) return pass;
  if (isCrash)
    return now[0] === undefined || isBroken(now[0]) ? nothing : { outcome: "fail-other", signature: sayingOf(now[0]) };
  if (mine.length === 0) {
    // The tests are not among the failed ones. They passed, if the failures show that the run loaded and continued.
    const isWhole = now.length > 0 && now.every((failure) => failure.test !== null && !isBroken(failure));
    return fate === null && isWhole && didLoad(run.reading, runners, true) ? pass : nothing;
  }
  const kinds = new Set(failures.map(({ errorType }) => errorType));
  const other = mine.find((failure) => !isBroken(failure) && !isMisfit(failure, kinds));
  return other === undefined ? nothing : { outcome: "fail-other", signature: sayingOf(other) };
}

const isUnbuilt = ({ test, category }: Failure): boolean =>
  test === null && (category === "build" || category === "type");

/** Whether tests ran. A build that failed in one of several places may still run tests of the others. */
function ranTests({ tests, failures }: FailureReading): boolean {
  const isLoaded = ({ outcome }: NamedTest): boolean => outcome !== "not-loaded";
  if (tests !== undefined) return tests.length > 0 && tests.every(isLoaded);
  return failures.length > 0 && failures.every(({ test, category }) => test !== null && category === "test");
}

/** Whether tests ran by name and all of them passed, so that nothing ended the run early. */
function hasPassed(tests: readonly NamedTest[] | undefined): boolean {
  return (
    tests !== undefined &&
    tests.some(({ outcome }) => outcome === "passed") &&
    tests.every(({ outcome }) => outcome === "passed" || outcome === "skipped")
  );
}

/**
 * Whether a run without names of tests has the same form as the recorded one. A run of another form loaded something
 * else, or nothing: a failure that it does not print is not a pass.
 */
function didLoad({ ranTests, runners }: FailureReading, recorded: readonly string[], isRed = false): boolean {
  if (ranTests === false || (isRed && ranTests !== true)) return false;
  return recorded.every((runner) => runners.includes(runner));
}

/** Returns the failures whose tests ran; all of them if none did. */
function thereIn(tests: readonly NamedTest[], failures: readonly Failure[]): readonly Failure[] {
  const there = failures.filter((failure) => failure.test === null || sameTests(tests, failure).length > 0);
  return there.length === 0 ? failures : there;
}

/** Returns how a group's tests ended in a run that names every test. `unknown`: one of them did not run. */
function fateOf(tests: readonly NamedTest[], failures: readonly Failure[]): "passed" | "failed" | "unknown" | null {
  let fate: "passed" | "failed" = "passed";
  for (const failure of failures) {
    if (failure.test === null) return null;
    const own = sameTests(tests, failure);
    if (own.length === 0 || own.some(({ outcome }) => outcome === "not-loaded" || outcome === "skipped"))
      return "unknown";
    // A file that did not load is fixed when its tests run, with any result.
    if (!isWholeFile(failure.test, failure.file) && own.some(({ outcome }) => outcome === "failed")) fate = "failed";
  }
  return fate;
}

/** Returns the named tests that a printed failure may be about: their spelling may differ. */
function sameTests(tests: readonly NamedTest[], { test, file }: Failure): readonly NamedTest[] {
  if (test === null) return [];
  const inFile = file === null ? [] : tests.filter((each) => each.file === file);
  // A file that did not load failed as a whole: any test in it shows that it loads.
  if (isWholeFile(test, file)) return inFile;
  const title = lettersOf(test);
  const among = inFile.length > 0 ? inFile : tests;
  const exact = among.filter(({ identity }) => lettersOf(titleOf(identity)) === title);
  if (exact.length > 0) return exact;
  return among.filter(({ identity }) => {
    const other = lettersOf(titleOf(identity));
    return other.length >= SHORTEST && title.length >= SHORTEST && (other.endsWith(title) || title.endsWith(other));
  });
}

/** A shorter name may end a longer one by chance. */
const SHORTEST = 4;

const lettersOf = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "");
/** Returns the name without the file: `test/cart.test.ts > cart > adds` is `cart > adds`. */
const titleOf = (identity: string): string => identity.slice(identity.indexOf(" > ") + 3);
const isWholeFile = (test: string, file: string | null): boolean =>
  file !== null && (test === file || test.endsWith(`/${file}`) || file.endsWith(`/${test}`));

/** Whether a value has a wrong type, unlike in the recorded failure: half of its change is missing. */
function isMisfit({ errorType, message }: Failure, recorded: ReadonlySet<string | null>): boolean {
  if (recorded.has(errorType)) return false;
  return /object is not (?:callable|subscriptable|iterable)|object does not support|unsupported operand type|object cannot be interpreted|cannot unpack|not enough values to unpack|too many values to unpack|is not iterable|Cannot (?:read|set) propert|Cannot destructure/.test(
    message,
  );
}

/** Whether a failure is typical for half of a change: something is used that is missing or different. */
export function isBroken({ category, errorType, message, test, file }: Failure): boolean {
  if (category === "build" || category === "type") return true;
  if (
    /^(?:SyntaxError|ReferenceError|NameError|ImportError|ModuleNotFoundError|IndentationError|UnboundLocalError|NoSuchMethodError|NoClassDefFoundError)$/.test(
      errorType ?? "",
    )
  )
    return true;
  if (test !== null && isWholeFile(test, file)) return true;
  return /is not a (?:function|constructor)|is not defined|does not provide an export|Cannot find (?:module|name)|No module named|has no attribute|unexpected keyword argument|required positional argument|positional arguments? but|undefined: |cannot find symbol|unresolved (?:import|reference)|ERR_MODULE_NOT_FOUND/i.test(
    message,
  );
}

/** Lines of a file in its newest state. */
export interface Lines {
  readonly file: string;
  readonly line: number;
  readonly endLine?: number;
}

/**
 * Returns which of several successive steps added the lines, by its index; `null` if none did. The lines are followed
 * backwards, because a step that did not write them may have moved them. Deleted lines only leave their position, so
 * they are searched last.
 */
export function stepOf(lines: Lines, steps: readonly (readonly ChangedHunk[])[]): number | null {
  return followSpan(lines, steps, writes) ?? followSpan(lines, steps, takesAway);
}

interface FileSpan {
  readonly file: string;
  readonly start: number;
  readonly end: number;
}

function followSpan(
  { file, line, endLine }: Lines,
  steps: readonly (readonly ChangedHunk[])[],
  isIt: (hunk: ChangedHunk, span: FileSpan) => boolean,
): number | null {
  let span: FileSpan = { file, start: line, end: endLine ?? line };
  for (let at = steps.length - 1; at >= 0; at--) {
    const own = steps[at]!.filter((hunk) => hunk.file === span.file);
    if (own.some((hunk) => isIt(hunk, span))) return at;
    span = before(span, own);
  }
  return null;
}

const writes = (hunk: ChangedHunk, { start, end }: FileSpan): boolean =>
  hunk.added.length > 0 && hunk.start <= end && hunk.start + hunk.added.length - 1 >= start;

const takesAway = (hunk: ChangedHunk, { start, end }: FileSpan): boolean =>
  hunk.added.length === 0 && hunk.start >= start && hunk.start <= end;

/** Returns where the lines were before these changes of their file. */
function before({ file, start, end }: FileSpan, own: readonly ChangedHunk[]): FileSpan {
  const moved = own
    .filter((hunk) => hunk.start <= start)
    .reduce((sum, { added, removed }) => sum + added.length - removed.length, 0);
  return { file: own[0]?.oldFile ?? file, start: start - moved, end: end - moved };
}
