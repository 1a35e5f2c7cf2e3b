import type { Finding } from "../../domain/finding.ts";
import { toReviewScale } from "../../domain/severity.ts";
import { below, line, name, type ListPen } from "./pen.ts";

/** S2's form of an issue, `<file>:<line>: <description>`, with what else is known behind it. */
export function issueLine(finding: Finding, pen: ListPen): string {
  return `${placeOf(finding, pen)}${line(pen, finding.message)} (${labels(finding, finding.severity, pen)})${detailOf(finding, pen)}${fixOf(finding, pen)}`;
}

/** S1's form: its own scale of severity in front. */
export function reviewScaleLine(finding: Finding, pen: ListPen): string {
  const severity = toReviewScale(finding.severity);
  return `${severity} ${placeOf(finding, pen)}${line(pen, finding.message)} (${labels(finding, "", pen)})${detailOf(finding, pen)}${fixOf(finding, pen)}`;
}

export function placeOf(finding: Pick<Finding, "file" | "line" | "symbol">, pen: ListPen): string {
  if (finding.file === undefined) return "";
  const at = finding.line === undefined ? "" : `:${finding.line}`;
  return `${name(pen, finding.file)}${at}: `;
}

function labels(finding: Finding, severity: string, pen: ListPen): string {
  return [
    severity,
    name(pen, finding.category),
    finding.stage === undefined ? "" : `stage ${name(pen, finding.stage)}`,
    finding.symbol === undefined ? "" : `in \`${name(pen, finding.symbol)}\``,
    finding.criterion === undefined ? "" : `criterion "${line(pen, finding.criterion)}"`,
    `said by ${name(pen, finding.source)}`,
    `id ${name(pen, finding.id)}`,
  ]
    .filter((label) => label !== "")
    .join(", ");
}

function fixOf({ suggestedFix }: Finding, pen: ListPen): string {
  return suggestedFix === undefined ? "" : `\n  Suggested fix: ${line(pen, suggestedFix)}`;
}

/** What this round adds to it: a sentence on a line that hangs under the finding, or lines below it. */
export function detailOf({ detail }: Pick<Finding, "detail">, pen: ListPen): string {
  if (detail === undefined || detail.trim() === "" || pen.room.detailChars === 0) return "";
  return detail.includes("\n") ? `\n  Seen now:${below(pen, detail)}` : `\n  Seen now: ${line(pen, detail)}`;
}
