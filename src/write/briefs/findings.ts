import { type Finding, toReviewScale, type TriedFinding, isOpenStatus } from "../../core/gates/finding.ts";
import type { Brief, BriefEvidence } from "../../core/stories/brief.ts";
import {
  type ListWriter,
  type BriefWriter,
  type BriefPiece,
  below,
  bullets,
  evidenceFence,
  line,
  name,
  path,
  restOf,
  joinPieces,
  section,
} from "./brief-writer.ts";
import type { GateName } from "../../core/gates/gate.ts";
import { withoutNoise } from "../../core/gates/check-output.ts";
import { GATE_REGISTRY } from "../../core/gates/registry.ts";

/** Writes an issue in the form of S2.16, `<file>:<line>: <description>`, followed by what else is known. */
export function issueLine(finding: Finding, pen: ListWriter): string {
  return `${placeOf(finding, pen)}${line(pen, finding.message)} (${labels(finding, finding.severity, pen)})${detailOf(finding, pen)}${fixOf(finding, pen)}`;
}

/** Writes an issue in the form of S1.10, with its own scale of severity in front. */
export function reviewScaleLine(finding: Finding, pen: ListWriter): string {
  const severity = toReviewScale(finding.severity);
  return `${severity} ${placeOf(finding, pen)}${line(pen, finding.message)} (${labels(finding, "", pen)})${detailOf(finding, pen)}${fixOf(finding, pen)}`;
}

export function placeOf(finding: Pick<Finding, "file" | "line" | "symbol">, pen: ListWriter): string {
  if (finding.file === undefined) return "";
  const at = finding.line === undefined ? "" : `:${finding.line}`;
  return `${path(pen, finding.file)}${at}: `;
}

function labels(finding: Finding, severity: string, pen: ListWriter): string {
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

function fixOf({ suggestedFix }: Finding, pen: ListWriter): string {
  return suggestedFix === undefined ? "" : `\n  Suggested fix: ${line(pen, suggestedFix)}`;
}

/** Details of this round, on lines below the finding: values, a diff, the nearest frames. */
export function detailOf({ detail, message }: Pick<Finding, "detail" | "message">, pen: ListWriter): string {
  if (detail === undefined || detail.trim() === "" || pen.limits.detailChars === 0) return "";
  const lines = withoutNoise(detail.split("\n"));
  // The message is shown on one line above. Short lines occur in any message, so they are not compared.
  const isSaid = (text: string): boolean => text === "" || (text.length >= SHORT_LINE && message.includes(text));
  const first = lines.findIndex((text) => !isSaid(text.trim()));
  return first === -1 ? "" : below(pen, lines.slice(first).join("\n"));
}

const SHORT_LINE = 8;

/**
 * Shows the raw output only if failures could not be parsed from it. Otherwise the list of failures has values and
 * frames, and the output is referenced as a file.
 */
export function evidenceOf(brief: Brief, pen: BriefWriter): BriefPiece {
  const { gate, required, evidence } = brief;
  if (gate === "person" || !isRead(gate, required)) return evidenceList(pen, evidence);
  const logs = evidence.flatMap(({ title, fullAt }) => (fullAt === undefined ? [] : [{ title, fullAt }]));
  const others = evidence.filter(({ fullAt }) => fullAt === undefined);
  return joinPieces([
    bullets(pen, logs, ({ title, fullAt }) => `The whole of ${line(pen, title)}: ${name(pen, fullAt)}`, {
      what: "logs",
    }),
    evidenceList(pen, others),
  ]);
}

/**
 * Whether failures were parsed from the output. A check without parsed failures has only its last lines as detail, and
 * its log shows more.
 */
function isRead(gate: GateName, required: readonly Finding[]): boolean {
  const { refusesByRule, runsTests } = GATE_REGISTRY[gate];
  // The output of rules that read the diff is the list of findings, once more.
  if (refusesByRule && required.length > 0) return true;
  return (
    runsTests &&
    required.some(({ detail, category, file }) => !!detail || (file !== undefined && TOOLS.has(category))) &&
    required.every(({ category }) => category !== "check")
  );
}

/** Messages of compilers and linters fit on the line with their location. */
const TOOLS: ReadonlySet<string> = new Set(["build", "type", "lint"]);

/** Quotes each piece of evidence in its own fence, with the file that contains all of it. */
export function evidenceList(pen: BriefWriter, evidence: readonly BriefEvidence[]): BriefPiece {
  const shown = evidence.slice(0, pen.limits.evidence);
  const pieces = shown.map(({ title, text, fullAt }) => {
    if (fullAt === undefined) return evidenceFence(pen, text, title);
    const limits = { ...pen.limits, evidenceChars: Math.min(LOG_CHARS, pen.limits.evidenceChars) };
    const excerpt = withoutNoise(text.split("\n"))
      .join("\n")
      .replace(/\n(?:\s*\n)+/g, "\n\n");
    return `${evidenceFence({ ...pen, limits }, excerpt, title)}\nThe whole of it: ${name(pen, fullAt)}`;
  });
  return joinPieces([...pieces, ...restOf(pen, evidence.length - shown.length, "pieces of evidence")]);
}

/** About one screen. The rest is in the file that the brief names. */
const LOG_CHARS = 3000;

export function fileList(pen: BriefWriter, files: readonly string[], most = Infinity): BriefPiece {
  if (files.length === 0) return "- none recorded";
  return bullets(pen, files, (file) => path(pen, file), { what: "files", most: Math.min(most, pen.limits.items) });
}

/** A finding of this brief or of an earlier attempt, with its history. */
type Issue = Pick<Finding, "file" | "line"> & { readonly text: string };

/**
 * S0.36: from the second failure on, lists the issues of all attempts together: which persist, which came back, which
 * are new, and which are fixed and must stay fixed. Empty for the first failure.
 */
export function accumulatedFeedback(brief: Brief, pen: BriefWriter): BriefPiece {
  const past = pastFindings(brief);
  if (past.size === 0) return "";
  const now = [...new Map([...brief.required, ...brief.stillOpen].map((each) => [each.id as string, each])).values()];
  const known = now.map((finding) => ({ finding, first: past.get(finding.id) }));
  const open = new Set<string>(now.map(({ id }) => id));
  const fixed = [...past.values()].filter(({ tried }) => !open.has(tried.id) && !isOpenStatus(tried.status));
  const group = (title: string, issues: readonly Issue[]): BriefPiece => {
    const list = bullets(pen, issues, (each) => `${placeOf(each, pen)}${line(pen, each.text)}`, { what: "issues" });
    return list === "" ? "" : `${title}\n${list}`;
  };
  return section(
    "### Accumulated Feedback",
    joinPieces([
      group(
        "Still open from before:",
        known.flatMap(({ finding, first }) =>
          first === undefined || first.tried.fixedIn !== undefined
            ? []
            : [{ ...finding, text: `${finding.message} (since attempt ${first.attempt})` }],
        ),
      ),
      group(
        "Came back:",
        known.flatMap(({ finding, first }) =>
          first?.tried.fixedIn === undefined
            ? []
            : [{ ...finding, text: `${finding.message} (attempt ${first.tried.fixedIn} had fixed it)` }],
        ),
      ),
      group(
        "New:",
        known.flatMap(({ finding, first }) => (first === undefined ? [{ ...finding, text: finding.message }] : [])),
      ),
      group(
        "Settled, and to be kept so:",
        fixed.map(({ tried, attempt }) => ({
          ...tried,
          text: `${tried.title} (${settledText(tried)}; found in attempt ${attempt})`,
        })),
      ),
    ]),
  );
}

const settledText = ({ status, seenIn }: TriedFinding): string =>
  status === "fixed" ? `fixed in attempt ${seenIn}` : status === "lighter" ? "no longer blocking" : status;

/** Each finding of the earlier attempts once, with the attempt in which it was first found. */
function pastFindings({ earlier }: Brief): Map<string, { readonly tried: TriedFinding; readonly attempt: number }> {
  const past = new Map<string, { tried: TriedFinding; attempt: number }>();
  for (const { attempt, findings = [] } of earlier)
    for (const tried of findings) if (!past.has(tried.id)) past.set(tried.id, { tried, attempt });
  return past;
}
