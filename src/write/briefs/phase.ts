import type { Brief } from "../../core/stories/brief.ts";
import { type Finding, worse } from "../../core/gates/finding.ts";
import type { Phase } from "../../core/stories/story.ts";
import { byText } from "../../stdx/sorted-map.ts";
import { SECTION_OF_PHASE, type TextPhase } from "../edits/story-sections.ts";
import { countText } from "../../stdx/plain-text.ts";
import type { CheckRun } from "../../core/gates/gate.ts";
import { detailOf, issueLine, placeOf } from "./findings.ts";
import {
  closing,
  conflicts,
  evidenceAndBlame,
  fixesOf,
  information,
  opening,
  passingCriteria,
  previousWork,
  suggestionsOf,
  worstFirst,
} from "./parts.ts";
import {
  type BriefWriter,
  type BriefPiece,
  bullets,
  cutOf,
  line,
  name,
  numberItems,
  restOf,
  section,
  joinPieces,
} from "./brief-writer.ts";
import { issuesFound } from "./review.ts";

/** S4.60: repeats a phase with the review's feedback, what the review found out, and the history. */
export function phaseBrief(brief: Brief, pen: BriefWriter): string {
  const { phase } = brief.route;
  const most = Math.max(1, brief.failureLimit - 1);
  const iteration = brief.failure === 0 ? "for a person" : `iteration ${Math.min(brief.failure, most)}/${most}`;
  return joinPieces([
    opening(brief, pen, `## Rework: ${phase} phase, ${iteration}`),
    section("### Reviewers' Verdicts", verdicts(brief, pen)),
    section("### Review Feedback", feedback(brief, pen)),
    section("### Actionable Items", numberItems(pen, actionableItems(brief), "items")),
    section("### Priority", brief.priority),
    conflicts(brief, pen),
    evidenceAndBlame(brief, pen),
    information(brief, pen, (finding) => severityLine(finding, pen)),
    passingCriteria(brief, pen, "These hold already, and must still hold afterwards:"),
    previousWork(brief, pen, `the review of the ${phase} phase`),
    closing(brief, pen, [
      PRODUCT[phase],
      "Work through every actionable item; what is not listed stays as it is.",
      "Take what reviewers learned into account: it was not known when you did this the first time.",
      "Report when it is done. The same review looks at it again.",
    ]),
  ]);
}

/** Asks for the full section, because it replaces the old one. */
const again = (phase: TextPhase): string =>
  `Give the whole section again in your last message, under the heading \`## ${SECTION_OF_PHASE[phase]}\`, before the signal.`;

const PRODUCT: Readonly<Record<Phase, string>> = {
  refine: `Revise the refined story: your product is its section of the story file, and nothing else. ${again("refine")}`,
  research: `Revise the research: your product is its section of the story file. Fill the gaps the review names. ${again("research")}`,
  plan: `Revise the plan: your product is its section of the story file. Later phases start again from it. ${again("plan")}`,
  implement: "Revise the code: your product is the change on the story's branch.",
};

function verdicts(brief: Brief, pen: BriefWriter): BriefPiece {
  return bullets(
    pen,
    brief.stages,
    ({ stage, result, reviewer, summary }) =>
      `${name(pen, stage)} (${name(pen, reviewer)}): ${result}${summary === undefined ? "" : ` - ${line(pen, summary)}`}`,
    { what: "verdicts" },
  );
}

function actionableItems(brief: Brief): readonly string[] {
  const suggested = suggestionsOf(brief);
  return suggested.length > 0 ? suggested : fixesOf(brief);
}

/** Findings by category; the category with the worst finding first, and within each the worst first. */
function feedback(brief: Brief, pen: BriefWriter): BriefPiece {
  const groups = new Map<string, Finding[]>();
  for (const finding of worstFirst(brief.required)) {
    const category = name(pen, finding.category) || "other";
    groups.set(category, [...(groups.get(category) ?? []), finding]);
  }
  const ordered = [...groups].sort(
    ([a, first], [b, second]) => worse(first[0]!.severity, second[0]!.severity) || byText(a, b),
  );
  let left = pen.limits.items;
  const pieces: BriefPiece[] = [];
  for (const [category, findings] of ordered) {
    if (left <= 0) break;
    pieces.push(
      `#### ${category}\n\n${bullets(pen, findings, (finding) => severityLine(finding, pen), { what: "findings", most: left })}`,
    );
    left -= findings.length;
  }
  pieces.push(...restOf(pen, ordered.length - pieces.length, "categories of findings"));
  return pieces.length === 0 ? "- none was listed; the result above is all there is" : joinPieces(pieces);
}

function severityLine(finding: Finding, pen: BriefWriter): string {
  const criterion = finding.criterion === undefined ? "" : ` (criterion "${line(pen, finding.criterion)}")`;
  const fix = finding.suggestedFix === undefined ? "" : `\n  Suggested fix: ${line(pen, finding.suggestedFix)}`;
  return `[${finding.severity}] ${placeOf(finding, pen)}${line(pen, finding.message)} - ${name(pen, finding.source)}${criterion}${detailOf(finding, pen)}${fix}`;
}

/** S0.26: the work passes in one environment and fails in another; the table shows where. */
export function environmentBrief(brief: Brief, pen: BriefWriter): string {
  return joinPieces([
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

/** One row per environment, in the order of the runs; its status is that of its worst check. */
function environmentTable(runs: readonly CheckRun[], pen: BriefWriter): string {
  const groups = [...byEnvironment(runs)];
  const shown = groups.slice(0, pen.limits.items);
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
        ? `${group.length} of ${countText(group.length, "check passes", "checks pass")}`
        : failed
            .slice(0, 3)
            .map((run) => `${name(pen, run.check)}: ${line(pen, run.details)}`)
            .join("; ");
    return `| ${cell(name(pen, environment))} | ${status} | ${cell(details)} |`;
  });
  if (shown.length < groups.length) rows.push(`| … | | ${cutOf(pen, groups.length - shown.length, "environments")} |`);
  return ["| Environment | Status | Details |", "|-------------|--------|---------|", ...rows].join("\n");
}

function failedEnvironments(runs: readonly CheckRun[], pen: BriefWriter): string {
  const failed = [...byEnvironment(runs.filter((run) => run.result !== "pass"))];
  const shown = failed.slice(0, pen.limits.items).map(([environment, group]) => {
    const checks = group.slice(0, pen.limits.items).map((run) => {
      const exit = run.exitCode === null ? "" : ` (exit code ${run.exitCode})`;
      return `Check: ${name(pen, run.check)} (\`${line(pen, run.command)}\`)\nError: ${line(pen, run.details)}${exit}`;
    });
    return joinPieces([
      `## ${name(pen, environment)}`,
      ...checks,
      ...restOf(pen, group.length - checks.length, "failed checks"),
    ]);
  });
  return joinPieces([...shown, ...restOf(pen, failed.length - shown.length, "environments")]);
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

/** A bar would end the table's cell. */
const cell = (text: string): string => text.replaceAll("|", "\\|");
