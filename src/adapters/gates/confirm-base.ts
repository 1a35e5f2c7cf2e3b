import { isSameFailure } from "../../readers/test-report-merge.ts";
import type { Fault } from "./check-faults.ts";
import { compared } from "./flakes.ts";
import type { CheckOutcome, RunHow } from "./run-check.ts";

/**
 * At the base whatever is red is run once more, this time as the bare command: `faults` holds what failed both times,
 * `flaky` what did not. Where the bare command is green, the check is flaky or the reporters break it: the check is run
 * bare and then reporting again, and only red twice with reporters and green twice without them is the reporters' doing.
 * Then the bare command is what counts, here and in every later run.
 */
export async function confirmAtBase(
  first: CheckOutcome,
  again: (how?: RunHow) => Promise<CheckOutcome>,
): Promise<CheckOutcome> {
  if (!isRed(first)) return first;
  const bare = await again({ isBare: true });
  if (bare.run.result === "pass") {
    const isSteady = (await again({ isBare: true })).run.result === "pass" && isRed(await again());
    return isSteady ? { ...bare, isUnreported: true } : compared(first, bare, new Set());
  }
  if (first.run.result !== "fail" || bare.run.result !== "fail") return first;
  const second = { ...bare, faults: namedAs(first.faults, bare.faults) };
  // The output alone may not name every failure; where there are as many, they are the same ones.
  const isSame = second.faults.length === first.faults.length || second.faults.some(({ isOpaque }) => isOpaque);
  if (!isSame) return compared(first, second, new Set());
  return first.run.exitCode === bare.run.exitCode ? first : { ...bare, isUnreported: true };
}

/** A command that was ended at its time limit is not run again. */
const isRed = ({ run }: CheckOutcome): boolean =>
  run.result === "fail" || (run.result === "error" && run.exitCode !== null);

/** The faults of a bare run, under the names that the reporting run gave them. */
function namedAs(known: readonly Fault[], faults: readonly Fault[]): Fault[] {
  const left = new Set(known);
  return faults.map((fault) => {
    const same = [...left].find((each) => each.name === fault.name || isSameFailure(namedIn(each), namedIn(fault)));
    if (same === undefined) return fault;
    left.delete(same);
    return { ...fault, name: same.name, finding: same.finding };
  });
}

/** The file is left out: the output tells where an error was thrown, and a report in which file the test is. */
const namedIn = ({ finding }: Fault) => ({ test: finding.symbol ?? null, file: null, line: finding.line ?? null });
