import { fitText, padText, textWidth, wrapText } from "../stdx/plain-text.ts";
import { type BoardRow, stateText } from "../views/board/board.ts";
import type { Glyphs, LineMark } from "../views/text/words.ts";
import type { World } from "../app/command.ts";
import { glyphsFor, type Paint, paintFor } from "./terminal-kind.ts";

/** What the output of lines depends on: a terminal has a width, a pipe has none. */
export type Output = Pick<World, "color" | "columns" | "terminal" | "env">;

export interface Column {
  readonly title: string;
  readonly align?: "right";
  /** The smallest width. A column with one is shortened first where the line is too long. */
  readonly least?: number;
  /** Such a column is left out where the line is still too long, the highest number first. */
  readonly extra?: number;
}

export interface PaintedCell {
  readonly text: string;
  readonly paint: keyof Paint;
}
export type Cell = string | PaintedCell;

/**
 * Formats a table, for all commands: a header, and columns two spaces apart. On a terminal each row takes one line, so
 * texts are cut and columns are left out; elsewhere nothing is cut, no width matters, and an empty cell is a dash.
 */
export function tableLines(output: Output, columns: readonly Column[], rows: readonly (readonly Cell[])[]): string[] {
  if (rows.length === 0) return [];
  const { ellipsis } = glyphsFor(output.env);
  const paint = paintFor(output.color);
  const texts = [columns.map(({ title }) => title), ...rows.map((row) => row.map((cell) => shownText(output, cell)))];
  const natural = columns.map((_, at) => Math.max(...texts.map((row) => textWidth(row[at]!))));
  const widths = output.terminal ? fittingWidths(columns, natural, output.columns()) : natural;
  const last = widths.findLastIndex((width) => width > 0);
  return texts.map((row, line) =>
    row
      .map((text, at) => {
        const width = widths[at]!;
        if (width === 0) return null;
        const cut = fitText(text, width, ellipsis);
        const gap = " ".repeat(width - textWidth(cut));
        const cell = line === 0 ? undefined : rows[line - 1]![at];
        const name = line === 0 ? "dim" : typeof cell === "object" ? cell.paint : null;
        const shown = name === null || cut === "" ? cut : paint[name](cut);
        if (columns[at]!.align === "right") return gap + shown;
        return at === last ? shown : shown + gap;
      })
      .filter((cell) => cell !== null)
      .join("  ")
      .trimEnd(),
  );
}

function shownText({ terminal }: Output, cell: Cell): string {
  const text = typeof cell === "string" ? cell : cell.text;
  return text === "" && !terminal ? "-" : text;
}

/** The widths that fit the line; 0: the column is left out. */
function fittingWidths(columns: readonly Column[], natural: readonly number[], most: number): readonly number[] {
  const widths = [...natural];
  const tooMuch = (): number =>
    widths.reduce((sum, width) => sum + (width === 0 ? 0 : width + GAP), -GAP) - Math.max(most, NARROWEST);
  const shrink = (): void => {
    // Shortens the column with the most room first: a long sentence is cut before a name is.
    const most = columns.map(({ least }, at) => ({
      at,
      least: least ?? Infinity,
      spare: widths[at]! - (least ?? Infinity),
    }));
    for (const { at, least, spare } of most.toSorted((a, b) => b.spare - a.spare))
      if (spare > 0) widths[at] = Math.max(least, widths[at]! - Math.max(0, tooMuch()));
  };
  const extras = columns
    .map(({ extra = 0 }, at) => ({ extra, at }))
    .filter(({ extra }) => extra > 0)
    .sort((a, b) => b.extra - a.extra);
  for (const { at } of extras) {
    const saved = [...widths];
    shrink();
    if (tooMuch() <= 0) return widths;
    widths.splice(0, widths.length, ...saved);
    widths[at] = 0;
  }
  shrink();
  const widest = columns.reduce((most, { least = 0 }, at) => (least > (columns[most]?.least ?? 0) ? at : most), 0);
  widths[widest] = Math.max(NARROWEST_CELL, widths[widest]! - Math.max(0, tooMuch()));
  return widths;
}

/** A story's state, with its mark and color. */
export function stateCell(row: BoardRow, glyphs: Glyphs): Cell {
  const { mark, word } = stateText(row);
  const text = `${glyphs.marks[mark]} ${word}`;
  const paint = STATE_PAINT[mark];
  return paint === undefined ? text : { text, paint };
}

const STATE_PAINT: { readonly [M in LineMark]?: keyof Paint } = {
  person: "warn",
  accepted: "good",
  failed: "bad",
  note: "dim",
};

const GAP = 2;
const NARROWEST = 40;
const NARROWEST_CELL = 10;

/** Formats `  why   text`: on a terminal the text wraps and is indented; elsewhere it is one line, however long. */
export function labeledLines(output: Output, label: string, text: string): string[] {
  if (!output.terminal) return [`${label}${text}`];
  const indent = textWidth(label);
  const [first = "", ...more] = wrapText(text, Math.max(NARROWEST - indent, output.columns() - indent));
  return [`${label}${first}`, ...more.map((line) => `${padText("", indent)}${line}`)];
}
