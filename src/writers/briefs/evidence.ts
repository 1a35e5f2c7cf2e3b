import type { BriefEvidence } from "../../domain/brief.ts";
import { bullets, evidenceFence, name, restOf, together, type Pen, type Piece } from "./pen.ts";

/** Each piece of evidence in a fence of its own, with the place where the whole of it is kept. */
export function evidenceList(pen: Pen, evidence: readonly BriefEvidence[]): Piece {
  const shown = evidence.slice(0, pen.room.evidence);
  const pieces = shown.map(({ title, text, fullAt }) => {
    const fence = evidenceFence(pen, text, title);
    return fullAt === undefined ? fence : `${fence}\nThe whole of it: ${name(pen, fullAt)}`;
  });
  return together([...pieces, ...restOf(pen, evidence.length - shown.length, "pieces of evidence")]);
}

export function fileList(pen: Pen, files: readonly string[]): Piece {
  return files.length === 0 ? "- none recorded" : bullets(pen, files, (file) => name(pen, file), { what: "files" });
}
