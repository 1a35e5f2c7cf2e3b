import { plural } from "../../stdx/plain-text.ts";
import { charactersLeftOut, fenced, grouped, hanging, oneLine, trustedText } from "../untrusted-text.ts";

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

/** How much each part of a brief may take. Lists are counted in items, texts in characters. */
export interface Room {
  readonly information: number;
  readonly earlier: number;
  readonly earlierChars: number;
  /** Findings told of each earlier attempt. */
  readonly earlierFindings: number;
  readonly evidence: number;
  readonly evidenceChars: number;
  readonly suspects: number;
  readonly items: number;
  readonly itemChars: number;
  /** What is told of a finding below its line: values, a difference, the nearest frames. */
  readonly detailChars: number;
  readonly goalChars: number;
  readonly roleChars: number;
}

/** Where every brief starts. A field of this size is more than anybody reads; nothing useful is lost here. */
export const ALL_THE_ROOM: Room = {
  information: 50,
  earlier: 10,
  earlierChars: 800,
  earlierFindings: 20,
  evidence: 8,
  evidenceChars: 12_000,
  suspects: 8,
  items: 100,
  itemChars: 1200,
  detailChars: 1500,
  goalChars: 20_000,
  roleChars: 30_000,
};

/**
 * What is given up, in this order, while a brief is too long: first what the agent could do without, last what
 * says why it failed. Suspects and the head and tail of the failing output stay to the end.
 */
const GIVEN_UP: readonly Partial<Room>[] = [
  { information: 10 },
  { information: 0 },
  { earlierChars: 300 },
  { earlierFindings: 8, earlierChars: 150 },
  { earlier: 4, earlierFindings: 4 },
  { evidenceChars: 6000 },
  { detailChars: 500 },
  { evidenceChars: 3000 },
  { goalChars: 6000 },
  { roleChars: 10_000 },
  { items: 40, itemChars: 500, detailChars: 200 },
  { goalChars: 2000 },
  { roleChars: 3000 },
  { evidence: 4, evidenceChars: 1500 },
  { items: 15, itemChars: 240, detailChars: 120 },
  { earlier: 2, earlierChars: 80, earlierFindings: 2, suspects: 4 },
  { roleChars: 1000, goalChars: 600 },
  { items: 6, itemChars: 120, detailChars: 0 },
  { evidence: 1, evidenceChars: 600, suspects: 2 },
  {
    items: 2,
    itemChars: 80,
    roleChars: 200,
    goalChars: 200,
    evidenceChars: 300,
    suspects: 1,
    earlier: 1,
    earlierFindings: 1,
  },
  { items: 1, itemChars: 50 },
];

/** The rooms to try, each smaller than the one before. */
export const ROOMS: readonly Room[] = GIVEN_UP.reduce<Room[]>(
  (rooms, less) => [...rooms, { ...rooms.at(-1)!, ...less }],
  [ALL_THE_ROOM],
);
