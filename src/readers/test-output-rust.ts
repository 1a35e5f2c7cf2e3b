import { detailIn } from "./test-output-detail.ts";
import {
  testCounts,
  firstWords,
  testFailure,
  type CodePlace,
  type OutputFailure,
  type PassedTest,
  type Recognised,
} from "./test-output-parts.ts";

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
  const panics = new Map<string, { message: string; place: CodePlace; detail: string }>();
  const failed: string[] = [];
  const passed: PassedTest[] = [];
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
    const ok = /^test (\S.*?)(?: - should panic)? \.\.\. ok$/.exec(line);
    if (ok !== null) passed.push({ test: ok[1]!, file: null });
    const panic = PANIC.exec(line);
    if (panic !== null) {
      const message = panic[2] ?? firstWords(lines, at + 1, Math.min(lines.length, at + 3));
      const detail = detailIn(lines, at + 1, endOfPanic(lines, at + 1));
      panics.set(panic[1]!, { message, place: { file: panic[3]!, line: Number(panic[4]) }, detail });
    }
  }
  if (!isCargo) return null;
  const failures = failed.map((name) => {
    const panic = panics.get(name);
    return testFailure(name, panic?.message ?? "failed", panic?.place ?? null, panic?.detail);
  });
  return {
    runner: "cargo test",
    counts: testCounts(sums.passed, sums.failed, sums.ignored),
    ranTests: sums.passed + sums.failed > 0,
    failures,
    passed,
  };
}

const PANIC = /^thread '(.+?)' (?:\(\d+\) )?panicked at (?:'(.*)', )?(\S+?):(\d{1,7}):\d{1,7}:?$/;

function endOfPanic(lines: readonly string[], from: number): number {
  let to = from;
  while (
    to < Math.min(lines.length, from + 30) &&
    lines[to] !== "" &&
    !/^(?:note: |---- |failures:|stack backtrace:)/.test(lines[to]!)
  )
    to++;
  return to;
}

/**
 * ```
 * { "type": "test", "event": "failed", "name": "tests::adds", "stdout": "thread … panicked at …" }
 * { "type": "suite", "event": "failed", "passed": 1, "failed": 1, "ignored": 0, … }
 * ```
 */
export function readCargoJson(lines: readonly string[]): Recognised | null {
  const sums = { passed: 0, failed: 0, ignored: 0 };
  let isCargo = false;
  const failures: OutputFailure[] = [];
  for (const line of lines) {
    const event = /^\{ ?"type": ?"(?:suite|test)"/.test(line) ? jsonEvent(line) : null;
    if (event === null) continue;
    if (event["type"] === "suite" && typeof event["passed"] === "number") {
      isCargo = true;
      for (const part of ["passed", "failed", "ignored"] as const) sums[part] += Math.max(0, Number(event[part]) || 0);
    }
    if (event["type"] === "test" && event["event"] === "failed") failures.push(jsonFailure(event));
  }
  if (!isCargo) return null;
  const counts = testCounts(sums.passed, sums.failed, sums.ignored);
  return { runner: "cargo test", counts, ranTests: sums.passed + sums.failed > 0, failures };
}

function jsonEvent(line: string): Record<string, unknown> | null {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    // A line that was cut, or somebody else's.
    return null;
  }
}

function jsonFailure({ name, stdout }: Record<string, unknown>): OutputFailure {
  const said = (typeof stdout === "string" ? stdout : "").split("\n");
  const at = said.findIndex((line) => PANIC.test(line));
  const panic = at === -1 ? null : PANIC.exec(said[at]!);
  if (panic === null) return testFailure(String(name), "failed", null);
  const message = panic[2] ?? firstWords(said, at + 1, Math.min(said.length, at + 3));
  const place = { file: panic[3]!, line: Number(panic[4]) };
  return testFailure(String(name), message, place, detailIn(said, at + 1, endOfPanic(said, at + 1)));
}
