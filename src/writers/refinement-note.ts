import type { Finding } from "../domain/finding.ts";
import type { Phase } from "../domain/phase.ts";
import { issueLine } from "./briefs/findings.ts";
import { worstFirst } from "./briefs/parts.ts";
import { bullets, line, section, together, type ListPen } from "./briefs/pen.ts";
import { ALL_THE_ROOM } from "./briefs/room.ts";

/** What is added to a story's file when a phase is sent back (S4): which iteration, why, and what to do. */
export interface RefinementNote {
  readonly iteration: number;
  readonly iterations: number;
  readonly phase: Phase;
  readonly at: number;
  readonly summary: string;
  readonly findings: readonly Finding[];
  readonly context: readonly string[];
}

/** The note is markdown below the person's own text; every line of a reviewer's stays an item of a list. */
export function writeRefinementNote(note: RefinementNote): string {
  const pen: ListPen = { nonce: null, room: ALL_THE_ROOM, cuts: [] };
  return `${together([
    `### Refinement Iteration ${note.iteration} of ${note.iterations}: ${note.phase} (${new Date(note.at).toISOString().slice(0, 10)})`,
    note.summary === "" ? "" : `Result: ${line(pen, note.summary)}`,
    section(
      "#### Review Feedback",
      bullets(pen, worstFirst(note.findings), (finding) => issueLine(finding, pen), { what: "findings" }),
    ),
    section(
      "#### New Context",
      bullets(pen, note.context, (text) => line(pen, text), { what: "notes" }),
    ),
  ])}\n`;
}
