import type { Finding } from "../domain/finding.ts";
import { issueLine } from "./briefs/findings.ts";
import { worstFirst } from "./briefs/parts.ts";
import { bullets, line, together, type ListPen } from "./briefs/pen.ts";
import { ALL_THE_ROOM } from "./briefs/room.ts";

/** What a review said, for the note that a story's file gets when a phase is sent back (S4). */
export interface RefinementFeedback {
  readonly summary: string;
  readonly findings: readonly Finding[];
  readonly context: readonly string[];
}

/** Markdown without headings: the note it goes into has its own. */
export function writeRefinementFeedback(feedback: RefinementFeedback): string {
  const pen: ListPen = { nonce: null, room: ALL_THE_ROOM, cuts: [] };
  const findings = bullets(pen, worstFirst(feedback.findings), (finding) => issueLine(finding, pen), {
    what: "findings",
  });
  const context = bullets(pen, feedback.context, (text) => line(pen, text), { what: "notes" });
  return together([
    feedback.summary === "" ? "" : `Result: ${line(pen, feedback.summary)}`,
    findings === "" ? "" : `**Review feedback**\n\n${findings}`,
    context === "" ? "" : `**New context**\n\n${context}`,
  ]);
}
