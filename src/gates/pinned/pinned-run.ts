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
  /** Where the base's tests are run with the work; `null` where there is no such place. */
  readonly experimentRunner: ExperimentRunner | null;
  /** The checks for these test files alone; `null` where a runner cannot be told which to run. */
  readonly selectTests?: SelectTests;
  /** How planted faults are tried; absent: none are planted. */
  readonly faults?: FaultOptions;
  /** Does a gate around this one demand the test itself? */
  readonly isTestDemandedElsewhere?: boolean;
}

/** What planted faults are tried with. */
export interface FaultOptions {
  /**
   * The checks that run tests, once each, and ended after the limit: of these files alone where their runner can be told
   * so (`isSelected`), and otherwise all of them.
   */
  checksFor(
    files: readonly string[],
    how: {
      readonly packageFile: string | null;
      /** A file of the checkout, named as in `files`. */
      textOf(file: string): string | null;
      readonly limitMs: number;
      /** Checks in which tests ran at the base; none known: all may. */
      readonly ranTests: readonly string[];
    },
  ): { readonly gate: ChecksGate; readonly isSelected: boolean };
  readonly store: BaseFaultStore;
  readonly clock: Clock;
}

/** Keeps what was found out about a base, by tree, commands and environment. */
export interface BaseFaultStore {
  find(base: string, tests: string): Promise<unknown>;
  keep(base: string, tests: string, found: unknown): Promise<void>;
}

/** What is held to tests as they were before. */
export interface PinnedContext {
  readonly checks: ChecksGate;
  readonly options: TestedWorkOptions;
  readonly request: GateRequest;
  readonly control: CheckControl;
  readonly changed: readonly string[];
}

/** The same request for other files. Findings name files as in the folder of the work. */
export const inCheckout = (request: GateRequest, checkout: ExperimentCheckout, tree: TreeId): GateRequest => ({
  ...request,
  last: null,
  path: checkout.path,
  workedIn: request.workedIn ?? request.path,
  tree,
});

/** Everything that fails with the base's tests, unless it failed at the base as well. */
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
  // No verdict at all: with the base's tests the check as a whole did not get so far.
  return (judgement.runs ?? [])
    .filter(({ result }) => result !== "pass")
    .map(({ check }) => ({ name: check, isLoadFailure: true }));
}

/** Some runners call a file that does not load a test, and name it by its path. */
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

/** A target that fails with the base's tests fails, whatever the run with the author's own tests said. */
function withFailing({ identities }: Judgement, findings: readonly Finding[]): Pick<Judgement, "identities"> {
  if (identities === undefined) return {};
  const names = findings.map(({ symbol, message }) => symbol ?? message);
  const passing = identities.passing.filter((name) => !names.includes(name));
  return { identities: { ...identities, failing: [...new Set([...identities.failing, ...names])], passing } };
}
