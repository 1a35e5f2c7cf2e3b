import { counted, firstWords, testFailure, type CodePlace, type Recognised } from "./test-output-parts.ts";

/**
 * ```
 * test tests::adds ... FAILED
 * thread 'tests::adds' panicked at src/lib.rs:5:25:
 * assertion `left == right` failed
 * test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.08s
 * ```
 */
export function readCargo(lines: readonly string[]): Recognised | null {
  const sums = { passed: 0, failed: 0, ignored: 0 };
  let isCargo = false;
  const panics = new Map<string, { message: string; place: CodePlace }>();
  const failed: string[] = [];
  for (const [at, line] of lines.entries()) {
    const result = /^test result: \w+\. (\d{1,9}) passed; (\d{1,9}) failed; (\d{1,9}) ignored;/.exec(line);
    if (result !== null) {
      isCargo = true;
      sums.passed += Number(result[1]);
      sums.failed += Number(result[2]);
      sums.ignored += Number(result[3]);
    }
    const test = /^test (\S.*?)(?: - should panic)? \.\.\. FAILED$/.exec(line);
    if (test !== null) failed.push(test[1]!);
    const panic = /^thread '(.+?)' (?:\(\d+\) )?panicked at (?:'(.*)', )?(\S+?):(\d{1,7}):\d{1,7}:?$/.exec(line);
    if (panic !== null) {
      const message = panic[2] ?? firstWords(lines, at + 1, Math.min(lines.length, at + 3));
      panics.set(panic[1]!, { message, place: { file: panic[3]!, line: Number(panic[4]) } });
    }
  }
  if (!isCargo) return null;
  const failures = failed.map((name) =>
    testFailure(name, panics.get(name)?.message ?? "failed", panics.get(name)?.place ?? null),
  );
  return {
    runner: "cargo test",
    counts: counted(sums.passed, sums.failed, sums.ignored),
    ranTests: sums.passed + sums.failed > 0,
    failures,
  };
}
