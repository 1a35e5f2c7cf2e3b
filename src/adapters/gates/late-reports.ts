import type { BaseFailures } from "../../domain/base-failures.ts";
import { counted } from "../../domain/counted.ts";
import { isSameFailure } from "../../readers/test-report-merge.ts";
import type { TestReport } from "../../readers/test-report-parts.ts";
import { namedFaults } from "./check-faults.ts";
import type { CheckOutcome } from "./run-check.ts";

/**
 * Adds what reports say when several checks ran at once, and nobody knows which of them wrote which. What no check has
 * told goes to the first one that failed without saying why, or else to the first that failed.
 */
export function withLateReports(
  outcomes: readonly CheckOutcome[],
  reports: readonly TestReport[],
  atBase: BaseFailures,
): { readonly outcomes: CheckOutcome[]; readonly contradiction: string | null } {
  const told = reports.flatMap((report) => report.failures);
  const known = outcomes.flatMap((outcome) => [...outcome.faults, ...outcome.flaky]);
  const untold = told.filter((failure) => !known.some(({ finding }) => isSameFailure(asTold(finding), failure)));
  if (untold.length === 0) return { outcomes: [...outcomes], contradiction: null };
  const isRed = ({ run, faults }: CheckOutcome): boolean => run.result === "fail" || faults.length > 0;
  const silent = outcomes.findIndex((each) => isRed(each) && each.faults.some((fault) => fault.isOpaque));
  const at = silent === -1 ? outcomes.findIndex(isRed) : silent;
  if (at === -1) {
    const count = counted(untold.length, "failure");
    return { outcomes: [...outcomes], contradiction: `the reports name ${count}, and every check exited with 0` };
  }
  const red = outcomes[at]!;
  const faults = [...red.faults.filter((fault) => !fault.isOpaque), ...namedFaults(red.run.check, untold, atBase)];
  return { outcomes: outcomes.with(at, { ...red, faults }), contradiction: null };
}

const asTold = (finding: { readonly symbol?: string; readonly file?: string; readonly line?: number }) => ({
  test: finding.symbol ?? null,
  file: finding.file ?? null,
  line: finding.line ?? null,
});
