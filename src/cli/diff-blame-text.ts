import { counted } from "../domain/counted.ts";
import { plainText } from "../stdx/plain-text.ts";
import type { DiffDocument, DiffFile, ShownLine } from "../views/diff-document.ts";
import { whoseText } from "../views/whose.ts";
import type { Paint } from "./terminal-kind.ts";

/** A diff in which each line says which attempt wrote it, what was found there, and what was blamed. */
export function diffBlameText({ files, leftOut, elsewhere }: DiffDocument, paint: Paint): string {
  const lines = files.flatMap((file) => [...fileLines(file, paint), ""]);
  if (leftOut > 0) lines.push(paint.dim(`… ${counted(leftOut, "more line")}`));
  if (elsewhere.length > 0) lines.push("Found elsewhere:", ...elsewhere.map((card) => `  ${plainText(card.message)}`));
  return lines.length === 0 ? "" : `${lines.join("\n").trimEnd()}\n`;
}

function fileLines(file: DiffFile, paint: Paint): string[] {
  const name = file.oldPath === file.path ? file.path : `${file.oldPath} → ${file.path}`;
  const title = `${paint.strong(plainText(name))}  +${file.added} −${file.removed}`;
  if (file.isBinary) return [title, paint.dim("  (binary)")];
  return [
    title,
    ...file.hunks.flatMap(({ lines }, at) => [
      ...(at === 0 ? [] : [paint.dim("    ⋯")]),
      ...lines.flatMap((line) => shown(line, paint)),
    ]),
  ];
}

const SIGNS = { same: " ", added: "+", removed: "-" } as const;

function shown(line: ShownLine, paint: Paint): string[] {
  const who = line.attempt === null ? "    " : `#${line.attempt}`.padStart(4);
  const text = `${SIGNS[line.kind]} ${plainText(line.text)}`;
  const colour = line.kind === "added" ? paint.good(text) : line.kind === "removed" ? paint.bad(text) : text;
  return [
    `${paint.dim(who)} ${colour}`,
    ...line.blames.map((mark) => {
      const whose = whoseText(mark);
      const by = whose === "" ? "" : ` (${plainText(whose)})`;
      return paint.warn(`     └ blamed by ${mark.gate}, ${mark.basis}: ${plainText(mark.explanation)}${by}`);
    }),
    ...line.findings.map((card) => paint.warn(`     └ ${card.severity}: ${plainText(card.message)}`)),
  ];
}
