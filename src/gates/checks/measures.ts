import { identifyFinding } from "../../core/gates/finding-identity.ts";
import type { Finding } from "../../core/gates/finding.ts";
import type { CheckRun, Coverage, Judgement, Measures, TestCounts } from "../../core/gates/gate.ts";
import { readCoverage, type CoverageCount } from "../../parse/tests/coverage.ts";
import { filesIn, isWrittenSince, textOf, type ReportBaseline } from "./read-reports.ts";

/** Requirements for the coverage that a check reports, in percent. */
export interface CoverageRules {
  /** A path or a pattern of paths. */
  readonly report: string;
  readonly lines?: number;
  readonly branches?: number;
  /** By how many points coverage may fall. */
  readonly mayFall?: number;
}

export type MeasuredCoverage = { readonly coverage: Coverage } | { readonly problem: string };

/** Reads the coverage reported since a moment; several files are added up. */
export async function coverageIn(
  root: string,
  { report }: CoverageRules,
  moment: ReportBaseline,
): Promise<MeasuredCoverage> {
  const there = await filesIn(root, [report]);
  if (there.length === 0) return { problem: `no check left a coverage report that is called ${report}` };
  const files = there.filter((file) => isWrittenSince(file, moment));
  if (files.length === 0) {
    const newest = new Date(Math.max(...there.map((file) => file.mtimeMs))).toISOString();
    return { problem: `the coverage report ${there[0]!.path} is older than the run: it was written ${newest}` };
  }
  const lines: CoverageCount[] = [];
  const branches: CoverageCount[] = [];
  for (const file of files) {
    const text = await textOf(root, file);
    const read = typeof text === "string" ? readCoverage(text) : { lines: null, ...text };
    if (read.lines === null) return { problem: `the coverage report ${file.path} cannot be read: ${read.problem}` };
    lines.push(read.lines);
    if (read.branches !== null) branches.push(read.branches);
  }
  return { coverage: { lines: percent(lines), branches: branches.length === 0 ? null : percent(branches) } };
}

function percent(parts: readonly CoverageCount[]): number {
  const sum = (key: keyof CoverageCount): number => parts.reduce((all, part) => all + part[key], 0);
  return Math.round((sum("covered") / sum("total")) * 10_000) / 100;
}

/**
 * Returns what is wrong with a coverage. A decrease is a blocking finding (S4.87): otherwise the gate would pass, and
 * the work would never be sent back for it. `mayFall` is the permitted decrease.
 */
export function coverageFaults(coverage: Coverage, rules: CoverageRules, before: Measures): Finding[] {
  return (["lines", "branches"] as const).flatMap((part) => {
    const now = coverage[part];
    const word = part === "lines" ? "line" : "branch";
    const asked = rules[part];
    const was = before[part];
    if (now === null)
      return asked === undefined
        ? []
        : [fault(`${word} coverage is asked for, and the report says nothing about it`, rules.report)];
    if (asked !== undefined && now < asked)
      return [fault(`${word} coverage is below the ${asked} % that are asked for`, `It is ${now} %.`)];
    if (was !== undefined && now < was - (rules.mayFall ?? 0) - ROUNDING)
      return [fault(`${word} coverage is less than before`, `It was ${was} %, and is ${now} % now.`)];
    return [];
  });
}

/** Two sums of the same code may differ in the last digit. */
const ROUNDING = 0.011;

function fault(message: string, detail: string): Finding {
  return identifyFinding({ severity: "major", category: "coverage", source: "coverage", message, detail });
}

/** Returns how many tests ran; skipped tests prove nothing. */
export const ranOf = ({ passed, failed }: TestCounts): number => passed + failed;

/** Returns the previous measurements, if they were made by the same checks; otherwise they are not comparable. */
export function measuredBefore(last: Judgement | null, runs: readonly CheckRun[]): Measures {
  if (last === null) return {};
  const cells = (some: readonly CheckRun[]): string =>
    some
      .map((run) => `${run.command}\n${run.environment}`)
      .sort()
      .join("\n\n");
  return cells(last.runs ?? []) === cells(runs) ? (last.most ?? {}) : {};
}

/** Returns the maximum of each measurement, so that a round with a decrease does not lower the bar for the next one. */
export function mostOf(before: Measures, tests: TestCounts | null, coverage: Coverage | null): Measures {
  const now = {
    tests: tests === null ? undefined : ranOf(tests),
    lines: coverage?.lines,
    branches: coverage?.branches ?? undefined,
  };
  const most: { -readonly [K in keyof Measures]: Measures[K] } = { ...before };
  for (const key of ["tests", "lines", "branches"] as const) {
    const value = now[key];
    if (value !== undefined && value >= (most[key] ?? 0)) most[key] = value;
  }
  return most;
}
