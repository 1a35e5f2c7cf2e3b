import type { Brief } from "../../domain/brief.ts";
import type { Finding } from "../../domain/finding.ts";
import type { Phase } from "../../domain/phase.ts";
import { worse } from "../../domain/severity.ts";
import { byText } from "../../stdx/sorted-map.ts";
import { SECTION_OF_PHASE, type TextPhase } from "../story-sections.ts";
import { detailOf, placeOf } from "./findings.ts";
import {
  closing,
  conflicts,
  evidenceAndBlame,
  fixesOf,
  information,
  opening,
  passingCriteria,
  previousWork,
  worstFirst,
} from "./parts.ts";
import { bullets, line, name, numbered, restOf, section, together, type Pen, type Piece } from "./pen.ts";

/** S4: a phase is done again with the review's feedback, what the review brought to light, and the history. */
export function phaseBrief(brief: Brief, pen: Pen): string {
  const { phase } = brief.route;
  const most = Math.max(1, brief.failureLimit - 1);
  const iteration = brief.failure === 0 ? "for a person" : `iteration ${Math.min(brief.failure, most)}/${most}`;
  return together([
    opening(brief, pen, `## Rework: ${phase} phase, ${iteration}`),
    section("### Reviewers' Verdicts", verdicts(brief, pen)),
    section("### Review Feedback", feedback(brief, pen)),
    section("### Actionable Items", numbered(pen, fixesOf(brief), "items")),
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

/** The whole of it, because what is given takes the place of what was there. */
const again = (phase: TextPhase): string =>
  `Give the whole section anew in your last message, under the heading \`## ${SECTION_OF_PHASE[phase]}\`, before the signal.`;

const PRODUCT: Readonly<Record<Phase, string>> = {
  refine: `Revise the refined story: your product is its section of the story file, and nothing else. ${again("refine")}`,
  research: `Revise the research: your product is its section of the story file. Fill the gaps the review names. ${again("research")}`,
  plan: `Revise the plan: your product is its section of the story file. Later phases start again from it. ${again("plan")}`,
  implement: "Revise the code: your product is the change on the story's branch.",
};

function verdicts(brief: Brief, pen: Pen): Piece {
  return bullets(
    pen,
    brief.stages,
    ({ stage, result, reviewer, summary }) =>
      `${name(pen, stage)} (${name(pen, reviewer)}): ${result}${summary === undefined ? "" : ` - ${line(pen, summary)}`}`,
    { what: "verdicts" },
  );
}

/** By category, the category with the worst finding first, and inside each the worst first. */
function feedback(brief: Brief, pen: Pen): Piece {
  const groups = new Map<string, Finding[]>();
  for (const finding of worstFirst(brief.required)) {
    const category = name(pen, finding.category) || "other";
    groups.set(category, [...(groups.get(category) ?? []), finding]);
  }
  const ordered = [...groups].sort(
    ([a, first], [b, second]) => worse(first[0]!.severity, second[0]!.severity) || byText(a, b),
  );
  let left = pen.room.items;
  const pieces: Piece[] = [];
  for (const [category, findings] of ordered) {
    if (left <= 0) break;
    pieces.push(
      `#### ${category}\n\n${bullets(pen, findings, (finding) => severityLine(finding, pen), { what: "findings", most: left })}`,
    );
    left -= findings.length;
  }
  pieces.push(...restOf(pen, ordered.length - pieces.length, "categories of findings"));
  return pieces.length === 0 ? "- none was listed; the result above is all there is" : together(pieces);
}

function severityLine(finding: Finding, pen: Pen): string {
  const criterion = finding.criterion === undefined ? "" : ` (criterion "${line(pen, finding.criterion)}")`;
  const fix = finding.suggestedFix === undefined ? "" : `\n  Suggested fix: ${line(pen, finding.suggestedFix)}`;
  return `[${finding.severity}] ${placeOf(finding, pen)}${line(pen, finding.message)} - ${name(pen, finding.source)}${criterion}${detailOf(finding, pen)}${fix}`;
}
