import type { Brief, BriefEvidence } from "../../domain/brief.ts";
import { bullets, evidenceFence, line, name, restOf, together, type Pen, type Piece } from "./pen.ts";

/**
 * What a check printed is worth its room only where nobody could read it: what was read out of it stands in the list of
 * failures, with its values and frames. Then the log is a path.
 */
export function evidenceOf(brief: Brief, pen: Pen): Piece {
  const { gate, required, evidence } = brief;
  // A check whose output named nothing has its last words only; beside such a one the log says more.
  const isRead = required.some(({ detail }) => !!detail) && required.every(({ category }) => category !== "check");
  if (!isRead || (gate !== "checks" && gate !== "tdd")) return evidenceList(pen, evidence);
  const logs = evidence.flatMap(({ title, fullAt }) => (fullAt === undefined ? [] : [{ title, fullAt }]));
  const others = evidence.filter(({ fullAt }) => fullAt === undefined);
  return together([
    bullets(pen, logs, ({ title, fullAt }) => `The whole of ${line(pen, title)}: ${name(pen, fullAt)}`, {
      what: "logs",
    }),
    evidenceList(pen, others),
  ]);
}

/** Each piece of evidence in a fence of its own, with the place where the whole of it is kept. */
export function evidenceList(pen: Pen, evidence: readonly BriefEvidence[]): Piece {
  const shown = evidence.slice(0, pen.room.evidence);
  const pieces = shown.map(({ title, text, fullAt }) => {
    const fence = evidenceFence(pen, text, title);
    return fullAt === undefined ? fence : `${fence}\nThe whole of it: ${name(pen, fullAt)}`;
  });
  return together([...pieces, ...restOf(pen, evidence.length - shown.length, "pieces of evidence")]);
}

export function fileList(pen: Pen, files: readonly string[], most = Infinity): Piece {
  if (files.length === 0) return "- none recorded";
  return bullets(pen, files, (file) => name(pen, file), { what: "files", most: Math.min(most, pen.room.items) });
}
