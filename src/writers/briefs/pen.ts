import { plural } from "../../domain/counted.ts";
import { charactersLeftOut, fenced, grouped, hanging, oneLine, trustedText } from "../untrusted-text.ts";
import type { Room } from "./room.ts";

/** What everything in a brief is written with: the nonce of its fences, the room there is, and a list of the cuts. */
export interface Pen extends ListPen {
  readonly nonce: string;
}

/** Enough for lists; they also stand in texts for people, which have no fences. */
export interface ListPen {
  readonly nonce: string | null;
  readonly room: Room;
  /** Each cut that was made, in words; the text says it at its place too. */
  readonly cuts: string[];
}

/** A piece of a brief; empty pieces are dropped when the brief is put together. */
export type Piece = string;

export function together(pieces: readonly Piece[]): string {
  return pieces.filter((piece) => piece !== "").join("\n\n");
}

/** A heading with a body; nothing at all where there is nothing to say. */
export function section(heading: string, ...body: readonly Piece[]): Piece {
  const text = together(body);
  return text === "" ? "" : `${heading}\n\n${text}`;
}

export function line(pen: ListPen, text: string): string {
  return noteShortened(pen, oneLine(text, pen.nonce, pen.room.itemChars), text);
}

/** Lines that hang below an item of a list. */
export function below(pen: ListPen, text: string): string {
  const { detailChars } = pen.room;
  const cut = `details longer than ${grouped(detailChars)} characters shortened`;
  if (text.length > detailChars && !pen.cuts.includes(cut)) pen.cuts.push(cut);
  const lines = hanging(text, pen.nonce, detailChars);
  return lines === "" ? "" : `\n${lines}`;
}

/** A name (of a file, a role, a stage): shorter than a sentence ever is. */
export function name(pen: ListPen, text: string): string {
  return oneLine(text, pen.nonce, Math.min(300, pen.room.itemChars));
}

/** What a person wrote keeps its lines; they hang under the first. */
export function note(pen: ListPen, text: string): string {
  return instruction(pen, text, pen.room.itemChars * 4, "a person's note").replaceAll("\n", "\n  ");
}

/** A list. What does not fit is counted at its end and among the cuts. */
export function bullets<T>(
  pen: ListPen,
  items: readonly T[],
  write: (item: T, index: number) => string,
  options: { readonly what: string; readonly most?: number } = { what: "items" },
): Piece {
  const shown = items.slice(0, options.most ?? pen.room.items);
  const lines = shown.map((item, index) => `- ${write(item, index)}`);
  return [...lines, ...restOf(pen, items.length - shown.length, options.what)].join("\n");
}

export function numbered(pen: ListPen, items: readonly string[], what: string): Piece {
  const shown = items.slice(0, pen.room.items);
  const lines = shown.map((item, index) => `${index + 1}. ${line(pen, item)}`);
  return [...lines, ...restOf(pen, items.length - shown.length, what)].join("\n");
}

export function evidenceFence(pen: Pen, text: string, label: string): Piece {
  noteCut(pen, charactersLeftOut(text, pen.room.evidenceChars), `evidence "${oneLine(label, pen.nonce, 80)}"`);
  return fenced(text, pen.nonce, { maxChars: pen.room.evidenceChars, label });
}

export function instruction(pen: ListPen, text: string, maxChars: number, what: string): Piece {
  noteCut(pen, charactersLeftOut(text, maxChars), what);
  return trustedText(text, pen.nonce, maxChars);
}

/** The last item of a list that was cut: how many more there are. None where there are no more. */
export function restOf(pen: ListPen, count: number, what: string): string[] {
  return count > 0 ? [`- … ${cutOf(pen, count, what)} …`] : [];
}

/** Says that something is left out, and remembers it. */
export function cutOf(pen: ListPen, count: number, what: string): string {
  const cut = `${grouped(count)} more ${what} left out`;
  pen.cuts.push(cut);
  return cut;
}

function noteCut(pen: ListPen, leftOut: number, what: string): void {
  if (leftOut > 0) pen.cuts.push(`${what}: ${grouped(leftOut)} ${plural(leftOut, "character")} left out`);
}

/** A line that was cut ends in an ellipsis that it did not end in before. */
function noteShortened(pen: ListPen, written: string, text: string): string {
  const cut = `lines longer than ${grouped(pen.room.itemChars)} characters shortened`;
  if (written.endsWith("…") && !text.trimEnd().endsWith("…") && !pen.cuts.includes(cut)) pen.cuts.push(cut);
  return written;
}
