import { plural } from "../../stdx/plain-text.ts";
import {
  charactersLeftOut,
  fenceText,
  groupDigits,
  hanging,
  oneLine,
  quotedPath,
  trustedText,
} from "../untrusted-text.ts";

/**
 * The settings with which the parts of a brief are written: the nonce of its fences, the size limits, and the recorded
 * cuts.
 */
export interface BriefWriter extends ListWriter {
  readonly nonce: string;
}

/** The subset for lists, which also appear in texts for people, without fences. */
export interface ListWriter {
  readonly nonce: string | null;
  readonly limits: TextLimits;
  /** One sentence per cut; the text also marks the place of the cut. */
  readonly cuts: string[];
}

/** A piece of a brief; empty pieces are dropped when the brief is assembled. */
export type BriefPiece = string;

export function joinPieces(pieces: readonly BriefPiece[]): string {
  return pieces.filter((piece) => piece !== "").join("\n\n");
}

/** A heading with a body; empty if the body is empty. */
export function section(heading: string, ...body: readonly BriefPiece[]): BriefPiece {
  const text = joinPieces(body);
  return text === "" ? "" : `${heading}\n\n${text}`;
}

export function line(pen: ListWriter, text: string): string {
  return noteShortened(pen, oneLine(text, pen.nonce, pen.limits.itemChars), text);
}

/** Lines indented below an item of a list. */
export function below(pen: ListWriter, text: string): string {
  const { detailChars } = pen.limits;
  const cut = `details longer than ${groupDigits(detailChars)} characters shortened`;
  if (text.length > detailChars && !pen.cuts.includes(cut)) pen.cuts.push(cut);
  const lines = hanging(text, pen.nonce, detailChars);
  return lines === "" ? "" : `\n${lines}`;
}

/** A file name or pattern, quoted where it could be mistaken for text. */
export function path(pen: ListWriter, text: string): string {
  return quotedPath(text, pen.nonce, Math.min(300, pen.limits.itemChars));
}

/** The name of a role or stage, with a shorter limit than a sentence. */
export function name(pen: ListWriter, text: string): string {
  return oneLine(text, pen.nonce, Math.min(300, pen.limits.itemChars));
}

/** A person's note. It keeps its lines, indented below the first. */
export function note(pen: ListWriter, text: string): string {
  return instruction(pen, text, pen.limits.itemChars * 4, "a person's note").replaceAll("\n", "\n  ");
}

/** Writes a list. Items that do not fit are counted at its end and among the cuts. */
export function bullets<T>(
  pen: ListWriter,
  items: readonly T[],
  write: (item: T, index: number) => string,
  options: { readonly what: string; readonly most?: number } = { what: "items" },
): BriefPiece {
  const shown = items.slice(0, options.most ?? pen.limits.items);
  const lines = shown.map((item, index) => `- ${write(item, index)}`);
  return [...lines, ...restOf(pen, items.length - shown.length, options.what)].join("\n");
}

export function numberItems(pen: ListWriter, items: readonly string[], what: string): BriefPiece {
  const shown = items.slice(0, pen.limits.items);
  const lines = shown.map((item, index) => `${index + 1}. ${line(pen, item)}`);
  return [...lines, ...restOf(pen, items.length - shown.length, what)].join("\n");
}

export function evidenceFence(pen: BriefWriter, text: string, label: string): BriefPiece {
  noteCut(pen, charactersLeftOut(text, pen.limits.evidenceChars), `evidence "${oneLine(label, pen.nonce, 80)}"`);
  return fenceText(text, pen.nonce, { maxChars: pen.limits.evidenceChars, label });
}

export function instruction(pen: ListWriter, text: string, maxChars: number, what: string): BriefPiece {
  noteCut(pen, charactersLeftOut(text, maxChars), what);
  return trustedText(text, pen.nonce, maxChars);
}

/** The last item of a shortened list: how many items are missing. Empty if none are. */
export function restOf(pen: ListWriter, count: number, what: string): string[] {
  return count > 0 ? [`- … ${cutOf(pen, count, what)} …`] : [];
}

/** States how many items are left out, and records the cut. */
export function cutOf(pen: ListWriter, count: number, what: string): string {
  const cut = `${groupDigits(count)} more ${what} left out`;
  pen.cuts.push(cut);
  return cut;
}

function noteCut(pen: ListWriter, leftOut: number, what: string): void {
  if (leftOut > 0) pen.cuts.push(`${what}: ${groupDigits(leftOut)} ${plural(leftOut, "character")} left out`);
}

/** Records that a line was shortened: it ends in an ellipsis that the original did not have. */
function noteShortened(pen: ListWriter, written: string, text: string): string {
  const cut = `lines longer than ${groupDigits(pen.limits.itemChars)} characters shortened`;
  if (written.endsWith("…") && !text.trimEnd().endsWith("…") && !pen.cuts.includes(cut)) pen.cuts.push(cut);
  return written;
}

/** The maximum size of each part of a brief. Lists are counted in items, texts in characters. */
export interface TextLimits {
  readonly information: number;
  readonly earlier: number;
  readonly earlierChars: number;
  /** The maximum number of findings per earlier attempt. */
  readonly earlierFindings: number;
  readonly evidence: number;
  readonly evidenceChars: number;
  readonly suspects: number;
  readonly items: number;
  readonly itemChars: number;
  /** The maximum size of the detail below a finding: values, a diff, the nearest frames. */
  readonly detailChars: number;
  readonly goalChars: number;
  readonly roleChars: number;
}

/** The initial limits of every brief: larger than a reader needs, so that nothing useful is lost. */
export const FULL_LIMITS: TextLimits = {
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
 * Which limits are reduced, in this order, while a brief is too long: first what the agent needs least, last what says
 * why the work failed. Suspects, and the head and tail of the failing output, are kept to the end.
 */
const GIVEN_UP: readonly Partial<TextLimits>[] = [
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

/** The limits to try, each smaller than the one before. */
export const SHRINKING_LIMITS: readonly TextLimits[] = GIVEN_UP.reduce<TextLimits[]>(
  (rooms, less) => [...rooms, { ...rooms.at(-1)!, ...less }],
  [FULL_LIMITS],
);
