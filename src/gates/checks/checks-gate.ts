import { UNKNOWN_BASE } from "../../core/gates/base-failures.ts";
import type { Judgement } from "../../core/gates/gate.ts";
import type { EvidenceId, TreeId } from "../../core/events/ids.ts";
import { type SuiteResults, readSuiteResults, suiteResultsText } from "../../core/gates/test-names.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Evidence } from "../../ports/evidence.ts";
import type { Baseline, Gate, GateRequest } from "../../ports/gate.ts";
import type { Workspace } from "../../ports/workspace.ts";
import type { EnvironmentIn } from "../../adapters/process/environment.ts";
import { suiteFindings } from "../pinned/base-test-findings.ts";
import { baseRunOf, suiteResultsOf, testIdentities } from "../pinned/match-tests.ts";
import type { CheckFault } from "./check-faults.ts";
import { isNotStarted } from "./check-ending.ts";
import { checksJudgement, confirmAtBase, nothingJudged, withLateReports } from "./checks-result.ts";
import { type CheckEnvironment, LOCAL, cellName } from "./environments.ts";
import { type KnownFlake, quarantineOf, markFlake, classifyFailures } from "./flakes.ts";
import type { CoverageRules } from "./measures.ts";
import { momentIn, seenReports, shownPaths } from "./read-reports.ts";
import {
  type CheckCommand,
  type CheckControl,
  type CheckOutcome,
  type CheckRunOptions,
  checkRunner,
} from "./run-check.ts";
import type { Sandbox } from "../../ports/sandbox.ts";

export interface ChecksOptions {
  readonly commands: readonly CheckCommand[];
  /** By name. If empty, the commands run where Remand runs. */
  readonly environments: Readonly<Record<string, CheckEnvironment>>;
  readonly evidence: Evidence;
  readonly clock: Clock;
  /** Reads the earlier version of a test's file. Without it, no failing test is known to have passed before. */
  readonly workspace?: Pick<Workspace, "fileAt">;
  /** The environment of checks. */
  readonly env: EnvironmentIn;
  /** The sandbox of the commands; default: none. */
  readonly sandbox?: Sandbox;
  /** Report files that the commands write: patterns of paths. */
  readonly reports?: readonly string[];
  readonly coverage?: CoverageRules;
  /** How often a failed test run is repeated on the same tree. */
  readonly reruns?: number;
  /** How many checks run at once. */
  readonly parallel?: number;
  /** Runs before each run of a check, to reset what checks share, such as a database. Checks then run one at a time. */
  readonly reset?: string;
  /** Returns the tests that were flaky before, in any story. */
  readonly flakes?: () => Promise<readonly KnownFlake[]>;
  readonly cookie?: () => string;
}

/** The checks gate, which can also return the results of single tests. */
export interface ChecksGate extends Gate {
  judgeTests(request: GateRequest, control: CheckControl): Promise<TestedJudgement>;
}

export interface TestedJudgement {
  readonly judgement: Judgement;
  readonly tests: SuiteResults;
}

/** Verifies a first result by running the check again, if that is useful. */
type Confirm = (first: CheckOutcome, run: (how?: CheckRunOptions) => Promise<CheckOutcome>) => Promise<CheckOutcome>;

/**
 * Runs every command in every environment and judges by exit codes. Failures are read from output and reports, for the
 * brief. A check passes only if it ran, exited with 0, has no contradicting output and, with a known runner, ran at
 * least one test.
 */
export function createChecksGate(options: ChecksOptions): ChecksGate {
  const runAll = allRuns(options);

  async function judgeTests(request: GateRequest, control: CheckControl): Promise<TestedJudgement> {
    const beganAt = options.clock.now();
    const flakes = new Map((await (options.flakes?.() ?? [])).map((flake) => [flake.name, flake]));
    const again = { reruns: options.reruns ?? 0, quarantined: quarantineOf(flakes.values(), request) };
    const ran = await runAll(request, control, (first, run) => classifyFailures(first, request, again, run));
    const tests = suiteResultsOf(ran.outcomes);
    const endWith = (judgement: Omit<Judgement, "durationMs">): TestedJudgement => ({
      judgement: { ...judgement, durationMs: options.clock.now() - beganAt },
      tests,
    });
    if (control.signal.aborted) return endWith(nothingJudged(request, "error", "checks: stopped before they ended"));
    if (ran.outcomes.length === 0)
      return endWith(nothingJudged(request, "inconclusive", "checks: no command is configured"));
    const outcomes = ran.outcomes.map((outcome) => ({
      ...outcome,
      faults: outcome.faults.map((fault) => markFlake(fault, flakes)),
    }));
    const beside = await suiteFindings(options, request, { ...ran, outcomes }, flakes);
    const identities = await testIdentities(
      request,
      outcomes,
      beside.faults,
      options.workspace ?? null,
      await baseResults(options, request),
    );
    return endWith(checksJudgement(request, outcomes, beside, identities));
  }

  return {
    name: "checks",
    judgeTests,
    criteria: () =>
      options.commands.map(({ run, environments: some = [] }) =>
        some.length === 0 ? run : `${run} (in ${some.join(", ")})`,
      ),
    run: async (request, control) => (await judgeTests(request, control)).judgement,
    async baseline(request, control) {
      const { outcomes } = await runAll({ ...request, atBase: UNKNOWN_BASE }, control, confirmAtBase);
      return baselineOf(outcomes, await options.evidence.keep(suiteResultsText(suiteResultsOf(outcomes))));
    },
  };
}

/** Returns the base's results of single tests; `null` if unknown. */
async function baseResults({ evidence }: ChecksOptions, { baseRun }: GateRequest): Promise<SuiteResults | null> {
  const kept = baseRun?.tests === undefined ? null : await evidence.read(baseRun.tests);
  return kept === null ? null : readSuiteResults(kept);
}

/** Runs every command in every environment, with the configured number at once. */
function allRuns(options: ChecksOptions) {
  const environments = Object.entries(options.environments);
  const known: readonly (readonly [string, CheckEnvironment])[] =
    environments.length === 0 ? [[LOCAL, {}]] : environments;
  const cells = options.commands.flatMap((command) => {
    const some = command.environments ?? [];
    return (some.length === 0 ? known.map(([name]) => name) : some).map((environment) => ({ command, environment }));
  });
  const parallel = options.reset === undefined ? Math.min(options.parallel ?? 1, cells.length) : 1;
  const patterns = options.reports ?? [];
  const setUp = new Map<string, TreeId>();
  const lock = createRunLock();

  return async (request: GateRequest, control: CheckControl, confirm: Confirm) => {
    const runner = checkRunner({ ...options, environments: new Map(known), setUp }, request, control.signal);
    const reports = seenReports(request.path, patterns, shownPaths(request));
    const began = await momentIn(request.path, [...patterns, ...(options.coverage ? [options.coverage.report] : [])]);
    // A report can be assigned to its check only while one check runs at a time.
    const own = patterns.length > 0 && parallel === 1 ? reports : null;
    const outcomes = await inTurns(cells, parallel, control.signal, async ({ command, environment }) => {
      const where = environment === LOCAL ? command.name : `${command.name}, ${environment}`;
      const onOutput = (line: string): void => control.onOutput(parallel > 1 ? `[${where}] ${line}` : line);
      const run = (how?: CheckRunOptions): Promise<CheckOutcome> =>
        runner.run(command, environment, own, onOutput, how);
      if (options.reset !== undefined)
        return lock.exclusive(async () => {
          const first = await run();
          return control.signal.aborted ? first : confirm(first, run);
        });
      const first = await runBeside(lock, run, control);
      return control.signal.aborted ? first : confirm(first, run);
    });
    if (patterns.length === 0 || own !== null) return { outcomes, reports, began, contradiction: null };
    return { ...withLateReports(outcomes, await reports.since(began), request.atBase), reports, began };
  };
}

function baselineOf(outcomes: readonly CheckOutcome[], tests: EvidenceId): Baseline {
  const failing = new Set(
    outcomes.flatMap((outcome) => (isWithoutTests(outcome) ? [] : outcome.faults.map(({ name }) => name))),
  );
  const flaky = new Set(outcomes.flatMap((outcome) => outcome.flaky.map(({ name }) => name)));
  // A test that is flaky in one environment and fails in another counts as failing.
  const others = [...flaky].filter((name) => !failing.has(name));
  const unusable = outcomes.flatMap(({ run }) =>
    run.result === "error" && isNotStarted(run) ? [{ check: cellName(run), why: run.details }] : [],
  );
  return {
    failing: [...failing],
    flaky: others,
    run: { ...baseRunOf(outcomes), tests },
    isGreen: outcomes.length > 0 && outcomes.every(({ run }) => run.result === "pass"),
    summary: outcomes.map(({ run }) => `${cellName(run)}: ${run.details}`).join("; "),
    ...(unusable.length === 0 ? {} : { unusable }),
  };
}

/** Whether a runner failed only because it found no test: the first one is for the work to write. */
const isWithoutTests = ({ tests, faults, named }: CheckOutcome): boolean =>
  tests?.total === 0 && named.notLoaded.length === 0 && faults.every(({ isOpaque }) => isOpaque);

/**
 * Runs a check beside others. If it fails because its port is in use, it is repeated alone: two checks that want the
 * same port collide, which is not the work's fault.
 */
async function runBeside(
  lock: RunLock,
  run: () => Promise<CheckOutcome>,
  control: CheckControl,
): Promise<CheckOutcome> {
  const { result, wasShared } = await lock.shared(run);
  if (!wasShared || control.signal.aborted || !result.faults.some(isAboutPort)) return result;
  control.onOutput("a port was in use while another check ran: this one is run again, alone");
  return lock.exclusive(run);
}

const isAboutPort = ({ finding }: CheckFault): boolean =>
  /\bEADDRINUSE\b|address already in use/i.test(`${finding.message} ${finding.detail ?? ""}`);

/** Runs work for items with a limit of concurrency. Results are in the order of the items. */
async function inTurns<T, R>(
  items: readonly T[],
  atOnce: number,
  signal: AbortSignal,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const done: R[] = [];
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < items.length && !signal.aborted) {
      const at = next++;
      done[at] = await work(items[at]!);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return done;
}

/** A shared and exclusive lock for runs of checks. */
export interface RunLock {
  /** Runs beside others, and returns whether another run overlapped. */
  shared<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly wasShared: boolean }>;
  /** Runs after all others have ended, and lets none start meanwhile. */
  exclusive<T>(work: () => Promise<T>): Promise<T>;
}

function createRunLock(): RunLock {
  const under = new Set<{ wasShared: boolean }>();
  /** Resolvers of waiting runs, which check again whenever a run ends. */
  let waiting: (() => void)[] = [];
  let reserved = 0;
  const change = (): Promise<void> => new Promise((resolve) => waiting.push(resolve));
  const over = (): void => {
    const all = waiting;
    waiting = [];
    for (const look of all) look();
  };
  return {
    async shared(work) {
      while (reserved > 0) await change();
      const own = { wasShared: under.size > 0 };
      for (const other of under) other.wasShared = true;
      under.add(own);
      try {
        return { result: await work(), wasShared: own.wasShared };
      } finally {
        under.delete(own);
        over();
      }
    },
    async exclusive(work) {
      reserved++;
      while (under.size > 0) await change();
      const own = { wasShared: false };
      under.add(own);
      try {
        return await work();
      } finally {
        under.delete(own);
        reserved--;
        over();
      }
    },
  };
}
