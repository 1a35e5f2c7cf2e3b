import { placeOfFailure } from "../../core/gates/base-failures.ts";
import type { PinnedFailure } from "../../core/gates/base-tests.ts";
import { contestedWords, type ContestedTest } from "../../core/gates/contested-test.ts";
import { failureFingerprint } from "../../core/gates/finding-identity.ts";
import type { Finding } from "../../core/gates/finding.ts";
import type { Judgement } from "../../core/gates/gate.ts";
import type { TreeId } from "../../core/events/ids.ts";
import type { SuiteResults } from "../../core/gates/test-names.ts";
import type { Clock } from "../../ports/clock.ts";
import type { GateRequest } from "../../ports/gate.ts";
import type { Evidence } from "../../ports/evidence.ts";
import type { ExperimentCheckout, ExperimentRunner } from "../../ports/experiment-runner.ts";
import { faultNameOf } from "../checks/check-faults.ts";
import type { ChecksGate, TestedJudgement } from "../checks/checks-gate.ts";
import type { PinnedOptions } from "./pinned-tree.ts";
import type { CheckControl } from "../checks/run-check.ts";
import type { SelectTests } from "./selected-tests.ts";

export interface TestedWorkOptions extends PinnedOptions {
  readonly evidence: Pick<Evidence, "read">;
  /** Runs the base's tests on the work; `null` if that is not possible. */
  readonly experimentRunner: ExperimentRunner | null;
  /** Returns the checks for certain test files only; `null` if a runner cannot select them. */
  readonly selectTests?: SelectTests;
  /** How to try planted faults; default: none are planted. */
  readonly faults?: FaultOptions;
  /** Whether a gate around this one already requires a test. */
  readonly isTestDemandedElsewhere?: boolean;
}

/** The parts for trying planted faults. */
export interface FaultOptions {
  /**
   * Returns the checks that run tests, once each and with the time limit: for these files only if their runner can
   * select them (`isSelected`), otherwise all.
   */
  checksFor(
    files: readonly string[],
    how: {
      readonly packageFile: string | null;
      /** Reads a file of the checkout, named as in `files`. */
      textOf(file: string): string | null;
      readonly limitMs: number;
      /** Checks that ran tests at the base; if empty, all may. */
      readonly ranTests: readonly string[];
    },
  ): { readonly gate: ChecksGate; readonly isSelected: boolean };
  readonly store: BaseFaultStore;
  readonly clock: Clock;
}

/** Stores what is known about a base, by tree, commands and environment. */
export interface BaseFaultStore {
  find(base: string, tests: string): Promise<unknown>;
  keep(base: string, tests: string, found: unknown): Promise<void>;
}

/** The work to verify with earlier tests. */
export interface PinnedContext {
  readonly checks: ChecksGate;
  readonly options: TestedWorkOptions;
  readonly request: GateRequest;
  readonly control: CheckControl;
  readonly changed: readonly string[];
}

/** Returns the same request for another checkout. Findings name files as in the work's folder. */
export const inCheckout = (request: GateRequest, checkout: ExperimentCheckout, tree: TreeId): GateRequest => ({
  ...request,
  last: null,
  path: checkout.path,
  workedIn: request.workedIn ?? request.path,
  tree,
});

/** Returns everything that fails with the base's tests, except what also failed at the base. */
export function failuresIn({ judgement }: TestedJudgement, base: SuiteResults | null): PinnedFailure[] {
  const isNothingThere = base !== null && base.passed.size === 0 && (base.ran ?? 0) === 0;
  if (judgement.result === "pass" || (judgement.result !== "fail" && isNothingThere)) return [];
  const notLoaded = new Set(judgement.identities?.notLoaded);
  const red = judgement.findings.filter(({ id }) => judgement.blocking.includes(id));
  const failures = red
    .map((finding) => {
      const name = faultNameOf(finding);
      const place = placeOfFailure(name);
      const isWholeFile = namesNoTest(finding) && (finding.file !== undefined || notLoaded.has(place));
      return { name, isLoadFailure: finding.category === "build" || isWholeFile };
    })
    .filter(({ name }) => base?.failed.has(name) !== true);
  if (red.length > 0) return failures;
  // No findings: with the base's tests a whole check has no verdict.
  return (judgement.runs ?? [])
    .filter(({ result }) => result !== "pass")
    .map(({ check }) => ({ name: check, isLoadFailure: true }));
}

/** Whether a finding is about a file that does not load: some runners report it as a test, named by its path. */
export const namesNoTest = ({ symbol, file = "", category }: Finding): boolean =>
  symbol === undefined
    ? category === "test" || category === "build"
    : symbol === file || symbol.endsWith(`/${file}`) || file.endsWith(`/${symbol}`);

export const namesOf = (tests: readonly ContestedTest[]): string =>
  tests.map((each) => `${each.test} (${contestedWords(each)})`).join(", ");

export function withNote(judged: Judgement, note: string): Judgement {
  return { ...judged, notes: [...(judged.notes ?? []), note], summary: `${judged.summary}; ${note}` };
}

export function refuseJudgement(
  judged: Judgement,
  findings: readonly Finding[],
  evidence: Judgement["evidence"] = [],
): Judgement {
  const { notes: _notes, ...rest } = judged;
  const summary = `checks: fail (${findings.map(({ message }) => message).join("; ")}), ${findings.length} to fix`;
  return {
    ...rest,
    ...withFailing(judged, findings),
    result: "fail",
    findings: [...judged.findings, ...findings],
    blocking: findings.map(({ id }) => id),
    failure: failureFingerprint(findings, summary),
    summary,
    evidence: [...new Set([...evidence, ...judged.evidence])],
  };
}

/**
 * Adds targets that fail with the base's tests to the failing ones, whatever the run with the author's tests reported.
 */
function withFailing({ identities }: Judgement, findings: readonly Finding[]): Pick<Judgement, "identities"> {
  if (identities === undefined) return {};
  const names = findings.map(({ symbol, message }) => symbol ?? message);
  const passing = identities.passing.filter((name) => !names.includes(name));
  return { identities: { ...identities, failing: [...new Set([...identities.failing, ...names])], passing } };
}
