import { identifyFinding } from "../../core/gates/finding-identity.ts";
import type { Finding } from "../../core/gates/finding.ts";
import type { CheckRun, Coverage, Judgement, Measures, TestCounts } from "../../core/gates/gate.ts";
import { readCoverage, type CoverageCount } from "../../parse/tests/coverage.ts";
import { filesIn, isWrittenSince, textOf, type ReportBaseline } from "./read-reports.ts";

/** What is asked of the coverage that a check reports, in per cent. */
export interface CoverageRules {
  /** A path or a pattern of paths. */
  readonly report: string;
  readonly lines?: number;
  readonly branches?: number;
  /** How many points less than before are let pass. */
  readonly mayFall?: number;
}

export type MeasuredCoverage = { readonly coverage: Coverage } | { readonly problem: string };

/** Reads the coverage that was reported since then; of several files, of all of them together. */
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
 * What is wrong with a coverage. Less than before is a blocking finding (S4.87): else
 * the gate would pass, and the work would never be sent back for it. `mayFall` says how much less is let pass.
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

/** How many tests ran: what is skipped proves nothing. */
export const ranOf = ({ passed, failed }: TestCounts): number => passed + failed;

/** What the last judgement measured, if it was by the same checks; otherwise nothing can be compared. */
export function measuredBefore(last: Judgement | null, runs: readonly CheckRun[]): Measures {
  if (last === null) return {};
  const cells = (some: readonly CheckRun[]): string =>
    some
      .map((run) => `${run.command}\n${run.environment}`)
      .sort()
      .join("\n\n");
  return cells(last.runs ?? []) === cells(runs) ? (last.most ?? {}) : {};
}

/** The most of each that was ever measured: a round that fell back does not lower what the next one is held against. */
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
