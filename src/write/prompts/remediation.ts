import type { HealthCheckRequest, RemediationRequest } from "../../core/stories/prompt.ts";
import { evidenceList } from "../briefs/findings.ts";
import { bullets, line, note, section, joinPieces, type BriefWriter, type BriefPiece } from "../briefs/brief-writer.ts";
import { indentLines } from "../briefs/report.ts";
import { commandList, promptPen, start } from "./prompt-parts.ts";

/** The prompt of the agent that repairs broken infrastructure while all new work waits. */
export function writeRemediationPrompt(request: RemediationRequest, options: { readonly nonce: string }): string {
  const pen = promptPen(options.nonce);
  return `${joinPieces([
    start(
      pen,
      request.rolePrompt,
      "## Remediation Assignment",
      `Issue: ${line(pen, request.issue)}`,
      `Attempt: ${request.attempt} of ${request.attempts}`,
    ),
    "No new work is handed out until this is repaired. Repair the infrastructure, not the stories' work.",
    section("### Evidence", evidenceList(pen, request.evidence)),
    section("### Earlier Attempts", history(request, pen)),
    section(
      "### Guidance From a Person",
      bullets(pen, request.guidance, (text) => note(pen, text), { what: "notes" }),
    ),
    section("### Commands That Must Work Again", commandList(pen, request.commands)),
    section(
      "### Instructions",
      [
        "1. Find the cause before you change anything.",
        "2. Repair it with the smallest change; delete no test and switch off no check to get there.",
        "3. Run every command above.",
        "4. Report. An independent health check follows.",
      ].join("\n"),
    ),
    section(
      "### Required Output Signal",
      "You MUST end with `REMEDIATION_COMPLETE`, at the very start of a line. In full, without the indentation:",
      indentLines([
        "REMEDIATION_COMPLETE",
        "",
        "Fixes Applied:",
        "- <what was repaired>",
        "",
        "Remaining Failures:",
        "- <what still fails, or none>",
      ]).join("\n"),
    ),
    "Begin remediation.",
  ])}\n`;
}

/** The prompt of the health check: another agent than the one that repaired judges the repair. */
export function writeHealthCheckPrompt(request: HealthCheckRequest, options: { readonly nonce: string }): string {
  const pen = promptPen(options.nonce);
  return `${joinPieces([
    start(pen, request.rolePrompt, "## Health Check Assignment", `Issue: ${line(pen, request.issue)}`),
    section("### Fixes Reported", bullets(pen, request.fixes, (fix) => line(pen, fix), { what: "fixes" }) || "- none"),
    section(
      "### Verification Commands",
      commandList(pen, request.commands),
      "Run each of them yourself, in every environment it is listed for. Change nothing.",
    ),
    section(
      "### Required Output Signal",
      [
        "You MUST end with one of these, at the very start of a line, outside quotes and code:",
        "- `HEALTH_AUDIT: HEALTHY` - if every command works",
        "- `HEALTH_AUDIT: UNHEALTHY` - if any does not; list each under `Failures:`, one `- ` line each",
        "",
        "Anything else counts as unhealthy.",
      ].join("\n"),
    ),
    "Begin health check.",
  ])}\n`;
}

function history(request: RemediationRequest, pen: BriefWriter): BriefPiece {
  return bullets(
    pen,
    request.history,
    ({ attempt, fixes, remaining }) => {
      const did =
        fixes
          .slice(0, 10)
          .map((fix) => line(pen, fix))
          .join("; ") || "nothing recorded";
      const left =
        remaining
          .slice(0, 10)
          .map((failure) => line(pen, failure))
          .join("; ") || "still unhealthy";
      return `Attempt ${attempt}: ${did} -> ${left}`;
    },
    { what: "attempts" },
  );
}
