import type { Brief } from "../../domain/brief.ts";
import { counted } from "../../domain/counted.ts";
import type { CheckRun } from "../../domain/gate.ts";
import { issueLine } from "./findings.ts";
import { closing, evidenceAndBlame, information, opening, passingCriteria, previousWork } from "./parts.ts";
import { cutOf, line, name, restOf, section, together, type Pen } from "./pen.ts";
import { issuesFound } from "./review.ts";

/** S0: it passes here and fails there; the table shows where. */
export function environmentBrief(brief: Brief, pen: Pen): string {
  return together([
    opening(brief, pen, "## Rework Assignment"),
    section("### ENVIRONMENT-SPECIFIC FAILURE", "Your work passes in some environments and fails in others."),
    section("### Environment Results", environmentTable(brief.runs, pen)),
    section("### Failed Environments", failedEnvironments(brief.runs, pen)),
    section("### Common Causes", COMMON_CAUSES.map((cause) => `- ${cause}`).join("\n")),
    brief.required.length === 0 ? "" : issuesFound(brief, pen),
    evidenceAndBlame(brief, pen),
    information(brief, pen, (finding) => issueLine(finding, pen)),
    passingCriteria(brief, pen, "These hold already, and must still hold afterwards:"),
    previousWork(brief, pen, "the checks"),
    closing(brief, pen, [
      "Analyze why the code fails in these environments and not in the others.",
      "Make sure that the fix works in ALL environments, not only in the ones that failed.",
      "Run the verification commands in EVERY environment before you signal.",
      "Signal READY_FOR_REVIEW only when ALL environments pass.",
    ]),
  ]);
}

const COMMON_CAUSES = [
  "a dependency that one environment has and another lacks",
  "a hardcoded path that differs between environments",
  "another version of a library, a language or a tool",
  "code that assumes one platform: line ends, case of file names, time zone, shell",
];

/** One row per environment, in the order they were run; its status is its worst check's. */
function environmentTable(runs: readonly CheckRun[], pen: Pen): string {
  const groups = [...byEnvironment(runs)];
  const shown = groups.slice(0, pen.room.items);
  const rows = shown.map(([environment, group]) => {
    const failed = group.filter((run) => run.result !== "pass");
    const status =
      failed.length === 0
        ? "PASS"
        : failed.some((run) => run.result === "fail")
          ? "FAIL"
          : failed[0]!.result.toUpperCase();
    const details =
      failed.length === 0
        ? `${group.length} of ${counted(group.length, "check passes", "checks pass")}`
        : failed
            .slice(0, 3)
            .map((run) => `${name(pen, run.check)}: ${line(pen, run.details)}`)
            .join("; ");
    return `| ${cell(name(pen, environment))} | ${status} | ${cell(details)} |`;
  });
  if (shown.length < groups.length) rows.push(`| … | | ${cutOf(pen, groups.length - shown.length, "environments")} |`);
  return ["| Environment | Status | Details |", "|-------------|--------|---------|", ...rows].join("\n");
}

function failedEnvironments(runs: readonly CheckRun[], pen: Pen): string {
  const failed = [...byEnvironment(runs.filter((run) => run.result !== "pass"))];
  const shown = failed.slice(0, pen.room.items).map(([environment, group]) => {
    const checks = group.slice(0, pen.room.items).map((run) => {
      const exit = run.exitCode === null ? "" : ` (exit code ${run.exitCode})`;
      return `Check: ${name(pen, run.check)} (\`${line(pen, run.command)}\`)\nError: ${line(pen, run.details)}${exit}`;
    });
    return together([
      `## ${name(pen, environment)}`,
      ...checks,
      ...restOf(pen, group.length - checks.length, "failed checks"),
    ]);
  });
  return together([...shown, ...restOf(pen, failed.length - shown.length, "environments")]);
}

function byEnvironment(runs: readonly CheckRun[]): Map<string, CheckRun[]> {
  const groups = new Map<string, CheckRun[]>();
  for (const run of runs) {
    const group = groups.get(run.environment);
    if (group === undefined) groups.set(run.environment, [run]);
    else group.push(run);
  }
  return groups;
}

/** A bar would end the cell. */
const cell = (text: string): string => text.replaceAll("|", "\\|");
