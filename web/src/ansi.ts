import { plainText } from "../../src/stdx/plain-text.ts";

/** A piece of a printed line with one style. */
export interface AnsiPart {
  readonly text: string;
  /** Names of CSS classes; empty for plain text. */
  readonly style: string;
}

/** Colors and weights, as terminals write them. Every other sequence is taken out. */
// oxlint-disable-next-line no-control-regex -- how a terminal is told a color
const STYLE = /\u001b\[([0-9;:]*)m/g;
const COLORS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;

/** A line as a terminal shows it in the end, as text and classes: none of it can become markup. */
export function ansiParts(line: string): readonly AnsiPart[] {
  const seen = lastDrawn(line);
  const parts: AnsiPart[] = [];
  let style: AnsiStyle = PLAIN;
  let from = 0;
  const add = (text: string): void => {
    const plain = plainText(text);
    if (plain !== "") parts.push({ text: plain, style: classesOf(style) });
  };
  for (const match of seen.matchAll(STYLE)) {
    add(seen.slice(from, match.index));
    style = styleAfter(style, match[1] ?? "");
    from = match.index + match[0].length;
  }
  add(seen.slice(from));
  return parts;
}

/** A progress bar redraws its line: only the last version counts. */
const lastDrawn = (line: string): string => line.replace(/\r+$/, "").split("\r").at(-1) ?? "";

interface AnsiStyle {
  readonly color: string;
  readonly isBold: boolean;
  readonly isFaint: boolean;
}

const PLAIN: AnsiStyle = { color: "", isBold: false, isFaint: false };

const classesOf = ({ color, isBold, isFaint }: AnsiStyle): string =>
  [color === "" ? "" : `ansi-${color}`, isBold ? "ansi-bold" : "", isFaint ? "ansi-faint" : ""]
    .filter((name) => name !== "")
    .join(" ");

function styleAfter(before: AnsiStyle, codes: string): AnsiStyle {
  let style = before;
  const numbers = codes.split(/[;:]/).map(Number);
  for (let at = 0; at < numbers.length; at++) {
    const code = numbers[at]!;
    if (code === 38 || code === 48) {
      // One of 256 colors, or one of millions; only the first sixteen have a class here.
      const isIndexed = numbers[at + 1] === 5;
      if (code === 38 && isIndexed) style = { ...style, color: colorOf(numbers[at + 2] ?? 99) };
      at += isIndexed ? 2 : 4;
      continue;
    }
    style = withCode(style, code);
  }
  return style;
}

const colorOf = (index: number): string => (index < 16 ? (COLORS[index % 8] ?? "") : "");

function withCode(style: AnsiStyle, code: number): AnsiStyle {
  if (code === 0) return PLAIN;
  if (code === 1) return { ...style, isBold: true };
  if (code === 2) return { ...style, isFaint: true };
  if (code === 22) return { ...style, isBold: false, isFaint: false };
  if (code === 39) return { ...style, color: "" };
  if (code >= 30 && code <= 37) return { ...style, color: colorOf(code - 30) };
  if (code >= 90 && code <= 97) return { ...style, color: colorOf(code - 90) };
  return style;
}

/** The text of a line for searches and summaries. */
export const shownText = (line: string): string => plainText(lastDrawn(line));
