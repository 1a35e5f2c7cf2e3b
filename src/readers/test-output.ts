import type { TestCounts } from "../domain/gate.ts";
import { plainText } from "../stdx/plain-text.ts";
import { readGo } from "./test-output-go.ts";
import { readJest, readMocha, readVitest } from "./test-output-javascript.ts";
import { readLocations } from "./test-output-locations.ts";
import { LONGEST_LINE, type OutputFailure, type Recognised } from "./test-output-parts.ts";
import { readPytest, readUnittest } from "./test-output-python.ts";
import { readCargo } from "./test-output-rust.ts";
import { readNodeSpec, readTap } from "./test-output-tap.ts";

/** What the output of a check says about tests and faults. */
export interface TestOutput {
  /** The test runners whose output it is; empty where none was recognised. */
  readonly runners: readonly string[];
  /** Over all of them; `null` where they do not say. */
  readonly counts: TestCounts | null;
  /** Did a test run? `null`: no runner was recognised, so nobody knows. */
  readonly ranTests: boolean | null;
  readonly failures: readonly OutputFailure[];
  /** Failures beyond those that are listed. */
  readonly more: number;
}

const RECOGNISERS = [
  readVitest,
  readJest,
  readMocha,
  readTap,
  readNodeSpec,
  readPytest,
  readUnittest,
  readGo,
  readCargo,
];

const MOST_FAILURES = 200;

/**
 * Reads what a check printed. `folder` is where it ran: paths below it come out relative. Compilers' and linters'
 * errors are looked for only where no test failed, because a failing test may print anything.
 */
export function readTestOutput(text: string, folder: string): TestOutput {
  const lines = plainText(text)
    .split("\n")
    .map((line) => (line.length > LONGEST_LINE ? line.slice(0, LONGEST_LINE) : line));
  const recognised = RECOGNISERS.flatMap((recognise) => recognise(lines) ?? []);
  const ofTests = recognised.flatMap((each) => each.failures);
  const all = distinct((ofTests.length > 0 ? ofTests : readLocations(lines)).map((failure) => within(failure, folder)));
  return {
    runners: recognised.map((each) => each.runner),
    counts: total(recognised),
    ranTests: recognised.length === 0 ? null : recognised.some((each) => each.ranTests),
    failures: all.slice(0, MOST_FAILURES),
    more: Math.max(0, all.length - MOST_FAILURES),
  };
}

/** A runner that does not say how many makes the sum unknown. */
function total(recognised: readonly Recognised[]): TestCounts | null {
  const counts = recognised.flatMap((each) => each.counts ?? []);
  if (counts.length === 0 || counts.length < recognised.length) return null;
  const sum = (part: keyof TestCounts): number => counts.reduce((all, each) => all + each[part], 0);
  return { total: sum("total"), passed: sum("passed"), failed: sum("failed"), skipped: sum("skipped") };
}

/** Runners list a failure where it happens and again at the end. */
function distinct(failures: readonly OutputFailure[]): OutputFailure[] {
  const seen = new Map<string, OutputFailure>();
  for (const failure of failures) {
    const key = [
      failure.test ?? "",
      failure.file ?? "",
      failure.test === null ? `${failure.line}:${failure.message}` : "",
    ].join("\n");
    if (!seen.has(key)) seen.set(key, failure);
  }
  return [...seen.values()];
}

function within(failure: OutputFailure, folder: string): OutputFailure {
  if (failure.file === null) return failure;
  const path = failure.file.replace(/^file:\/\//, "").replaceAll("\\", "/");
  const root = `${folder.replaceAll("\\", "/").replace(/\/$/, "")}/`;
  return { ...failure, file: (path.startsWith(root) ? path.slice(root.length) : path).replace(/^(?:\.\/)+/, "") };
}
