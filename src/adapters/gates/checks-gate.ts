import { failureFingerprint } from "../../domain/finding.ts";
import type { CheckRun, Judgement, TestCounts } from "../../domain/gate.ts";
import type { Result } from "../../domain/result.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Evidence } from "../../ports/evidence.ts";
import type { Gate, GateRequest } from "../../ports/gate.ts";
import type { Environment } from "../process/environment.ts";
import {
  checkRunner,
  type CheckCommand,
  type CheckControl,
  type CheckEnvironment,
  type CheckOutcome,
} from "./run-check.ts";

export interface ChecksOptions {
  readonly commands: readonly CheckCommand[];
  /** By name. Without one the commands run where Remand runs. */
  readonly environments: Readonly<Record<string, CheckEnvironment>>;
  readonly evidence: Evidence;
  readonly clock: Clock;
  /** The variables that checks see. */
  readonly env: Environment;
  /**
   * Is what the checks say the very thing that is to be done? Then what is red at the start is not done yet. Otherwise
   * it was red before the work began, and is nobody's fault here.
   */
  readonly target: boolean;
  readonly cookie?: () => string;
}

/**
 * Runs every command in every environment, and goes by the exit codes. What failed is read out of the output, for the
 * brief. Only a check that ran, ended well and, where its runner is known, ran a test, is a pass.
 */
export function createChecksGate(options: ChecksOptions): Gate {
  const environments = Object.entries(options.environments);
  const known: readonly (readonly [string, CheckEnvironment])[] =
    environments.length === 0 ? [[HERE, {}]] : environments;
  const cells = options.commands.flatMap((command) => {
    const some = command.environments ?? [];
    return (some.length === 0 ? known.map(([name]) => name) : some).map((environment) => ({ command, environment }));
  });

  async function runAll(request: GateRequest, control: CheckControl): Promise<CheckOutcome[]> {
    const run = checkRunner({ ...options, environments: new Map(known) }, request, control);
    const outcomes: CheckOutcome[] = [];
    // One after the other: how many run at once is the queue's to say, and checks of one tree share its folders.
    for (const { command, environment } of cells) {
      if (control.signal.aborted) break;
      outcomes.push(await run(command, environment));
    }
    return outcomes;
  }

  return {
    name: "checks",
    judgedBy: () =>
      options.commands.map(({ run, environments: some = [] }) =>
        some.length === 0 ? run : `${run} (in ${some.join(", ")})`,
      ),
    async judge(request, control) {
      const beganAt = options.clock.now();
      const outcomes = await runAll(request, control);
      const durationMs = options.clock.now() - beganAt;
      if (control.signal.aborted)
        return { ...nothing(request), result: "error", summary: "checks: stopped before they ended", durationMs };
      if (outcomes.length === 0)
        return {
          ...nothing(request),
          result: "inconclusive",
          summary: "checks: there is no command to judge by",
          durationMs,
        };
      return { ...judgementOf(request, outcomes), durationMs };
    },
    async baseline(request, control) {
      if (options.target) return [];
      const outcomes = await runAll(request, control);
      return [...new Set(outcomes.flatMap((outcome) => outcome.faults.map((fault) => fault.name)))];
    },
  };
}

/** What the place is called where no environment is configured. */
const HERE = "local";

function judgementOf(request: GateRequest, outcomes: readonly CheckOutcome[]): Omit<Judgement, "durationMs"> {
  const runs = outcomes.map((outcome) => outcome.run);
  const result = worst(runs.map((run) => run.result));
  const faults = outcomes.flatMap((outcome) => outcome.faults);
  // The same fault in two environments is one thing to mend.
  const findings = [...new Map(faults.map(({ finding }) => [finding.id, finding])).values()];
  const blocking =
    result === "fail" ? [...new Set(faults.flatMap((fault) => (fault.preExisting ? [] : [fault.finding.id])))] : [];
  const summary = summaryOf(runs, result, blocking.length);
  const tests = testsOf(outcomes);
  // What failed comes first: a brief is cut at its end.
  const evidence = outcomes
    .toSorted((a, b) => order(a.run.result) - order(b.run.result))
    .flatMap((outcome) => outcome.evidence ?? []);
  return {
    gate: "checks",
    tree: request.tree,
    result,
    findings,
    blocking,
    runs,
    summary,
    evidence: [...new Set(evidence)],
    ...(tests === null ? {} : { tests }),
    ...(result === "fail"
      ? {
          failure: failureFingerprint(
            findings.filter(({ id }) => blocking.includes(id)),
            summary,
          ),
        }
      : {}),
  };
}

function nothing({ tree }: GateRequest): Omit<Judgement, "result" | "summary" | "durationMs"> {
  return { gate: "checks", tree, findings: [], blocking: [], runs: [], evidence: [] };
}

/** A failure of the work weighs most: it is something to act on. Then what kept a check from judging. */
const WEIGHT: readonly Result[] = ["fail", "blocked", "error", "inconclusive", "pass"];
const order = (result: Result): number => WEIGHT.indexOf(result);
const worst = (results: readonly Result[]): Result =>
  WEIGHT.find((result) => results.includes(result)) ?? "inconclusive";

/** Numbers are compared from round to round, so a round in which not everything ran has none. */
function testsOf(outcomes: readonly CheckOutcome[]): TestCounts | null {
  const ran = outcomes.every(({ run }) => run.result === "pass" || run.result === "fail");
  const counts = outcomes.flatMap((outcome) => outcome.tests ?? []);
  if (!ran || counts.length === 0) return null;
  const sum = (part: keyof TestCounts): number => counts.reduce((total, each) => total + each[part], 0);
  return { total: sum("total"), passed: sum("passed"), failed: sum("failed"), skipped: sum("skipped") };
}

function summaryOf(runs: readonly CheckRun[], result: Result, blocking: number): string {
  if (result === "pass") return `checks: pass (${runs.length} of ${runs.length})`;
  const named = runs.filter((run) => run.result === result);
  const shown = named
    .slice(0, 3)
    .map((run) => `${run.check}${run.environment === HERE ? "" : ` in ${run.environment}`}: ${run.details}`);
  const more = named.length > shown.length ? `; and ${named.length - shown.length} more` : "";
  return `checks: ${result} (${shown.join("; ")}${more})${result === "fail" ? `, ${blocking} to fix` : ""}`;
}
