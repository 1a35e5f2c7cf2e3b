import type { Finding } from "../../core/gates/finding.ts";
import { SEVERITIES, type Severity } from "../../core/gates/severity.ts";
import { issueLine } from "../briefs/findings.ts";
import { ALL_THE_ROOM, type ListPen, bullets, together } from "../briefs/pen.ts";
import { worstFirst } from "../briefs/parts.ts";

/** Findings for a person to read, as markdown: by severity, the worst first, each with its place and its fix. */
export function writeFindingList(findings: readonly Finding[]): string {
  const pen: ListPen = { nonce: null, room: { ...ALL_THE_ROOM, items: 1000 }, cuts: [] };
  if (findings.length === 0) return "No findings.\n";
  const groups = SEVERITIES.map((severity) => group(severity, findings, pen));
  return `${together(groups)}\n`;
}

function group(severity: Severity, findings: readonly Finding[], pen: ListPen): string {
  const chosen = worstFirst(findings.filter((finding) => finding.severity === severity));
  if (chosen.length === 0) return "";
  return `**${severity}** (${chosen.length})\n\n${bullets(pen, chosen, (finding) => issueLine(finding, pen), { what: "findings" })}`;
}
