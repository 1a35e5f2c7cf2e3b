import { countText } from "../../stdx/plain-text.ts";
import {
  type Escalation,
  type EscalationReason,
  type TriedAndFailed,
  answerCommand,
  reasonText,
} from "../../core/stories/escalation.ts";
import { locationText, statusText } from "../../core/gates/finding.ts";
import { oneLine } from "../untrusted-text.ts";

/**
 * The summary that a person reads first: the exact form of S1.39, then what that form lacks: the reason, the question,
 * and what each answer does and costs.
 */
export function writeEscalation(
  escalation: Escalation,
  story: { readonly id: string; readonly title: string },
): string {
  const attempts = escalation.attempts.flatMap((each) => [
    `Attempt ${each.attempt}: ${toLine(each.tried).replaceAll("->", "→")} -> ${toLine(each.failed)}`,
    ...findingLines(each),
  ]);
  return [
    headline(escalation, story.id),
    "",
    `Slice: ${toLine(story.title)}`,
    `Gate: ${escalation.gate ?? "none"}`,
    "",
    ...(attempts.length === 0 ? ["No attempt was made."] : attempts),
    "",
    `Current state: ${toLine(escalation.branch)}, ${toLine(escalation.commit)}`,
    `Recommendation: ${recommendation(escalation)}`,
    "",
    ...ourPart(escalation),
    "",
  ].join("\n");
}

/** What the attempt was rejected for, with the current status of each finding. */
function findingLines({ findings = [], findingsLeftOut = 0 }: TriedAndFailed): string[] {
  const lines = findings.map((finding) => {
    const place = finding.file === undefined ? "" : `${toLine(locationText(finding))}: `;
    return `  ${statusText(finding)}: ${place}${toLine(finding.title)} (${toLine(finding.gate)})`;
  });
  return findingsLeftOut === 0 ? lines : [...lines, `  … ${countText(findingsLeftOut, "more finding")}`];
}

/** The first line of S1.39 for a gate that failed too often; for every other reason, a line of the same form. */
function headline(escalation: Escalation, storyId: string): string {
  const { reason, gate } = escalation;
  const slice = `ESCALATION: Slice ${toLine(storyId)}`;
  if (reason.type === "budget" && gate !== null && reason.budget === `failures:${gate}`) {
    return `${slice} failed ${gate} gate ${countText(reason.used, "time")}`;
  }
  return `${slice} stopped ${gate === null ? "before any gate" : `at ${gate} gate`}: ${reasonInWords(escalation)}`;
}

/** The reason with its details. */
export function reasonInWords({ reason, gate }: Pick<Escalation, "reason" | "gate">): string {
  const [text, detail] = [toLine(reasonText(reason, gate)), toLine(detailOf(reason))];
  if (detail.startsWith(text)) return detail;
  return detail === "" ? text : `${text} (${detail})`;
}

function detailOf(reason: EscalationReason): string {
  switch (reason.type) {
    case "budget":
      return `${reason.used} of ${reason.limit}`;
    case "scope-too-broad":
      return reason.files.join(", ");
    case "incomplete":
      return `${reason.blocker}; needed: ${reason.needed}`;
    case "dispute":
      return `${reason.finding}: ${reason.detail}`;
    case "failing-base":
      return reason.tests.join(", ");
    case "target-not-failing":
      return reason.targets.join(", ");
    case "infrastructure":
      return reason.issue;
    default:
      return "detail" in reason ? (reason.detail ?? "") : "";
  }
}

function ourPart(escalation: Escalation): string[] {
  const kind = { decision: "a decision", authorisation: "an authorisation", manual: "work by hand" }[escalation.kind];
  const answers = escalation.options.flatMap(({ verb, does, cost }) => [
    `  ${verb}: ${toLine(does).replace(/\.$/, "")}. Costs: ${toLine(cost)}`,
    `    ${answerCommand(toLine(escalation.id), verb)}`,
  ]);
  return [
    `Why now: ${reasonInWords(escalation)}`,
    `Needed: ${kind}`,
    `Question: ${toLine(escalation.question)}`,
    ...(answers.length === 0 ? [] : ["", "Answers:", ...answers]),
  ];
}

/** S1.36 asks for an assessment of the root cause here; the recommendation follows from it. */
function recommendation(escalation: Escalation): string {
  const parts = [toLine(escalation.assessment), toLine(escalation.recommendation)].filter((part) => part !== "");
  return parts.map((part, index) => (index < parts.length - 1 && !/[.!?…]$/.test(part) ? `${part}.` : part)).join(" ");
}

/** Text on one line of a terminal: text of agents must not move the cursor or start a line. */
const toLine = (text: string): string => oneLine(text, null, 600);
