/**
 * Returns text as a person sees it: no colors, no terminal commands, no invisible or direction-changing characters, LF
 * line ends. One pass, linear in the size of any input.
 */
export function plainText(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  return text.replace(ESCAPES, "").replace(/\r\n?/g, "\n").replace(INVISIBLE, "");
}

/*
 * Escape sequences in their 7-bit and 8-bit forms: CSI; OSC, DCS, SOS, PM and APC up to their terminator (or to
 * the end of the line, since an unterminated one must not swallow the message); and the short ones.
 */
const ESCAPES =
  // oxlint-disable-next-line no-control-regex -- control characters are what this removes
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c\n]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]?/g;

const INVISIBLE =
  // oxlint-disable-next-line no-control-regex -- control characters are what this removes
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ufff9-\ufffb]/g;

/** Without the carriage return, because as a line end it separates words like a line feed. */
const HIDDEN = new RegExp(`${ESCAPES.source}|(?!\\r)${INVISIBLE.source}`, "g");

/** A quick test, so that clean text is returned unchanged. */
export const SUSPICIOUS =
  // oxlint-disable-next-line no-control-regex -- the same, for looking only
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ufff9-\ufffb]/;

export interface VisibleText {
  readonly text: string;
  /** Returns the position of a visible character in the whole text. */
  placeOf(at: number): number;
}

/** Returns the visible part of a text, with the position of each character; `null` if all of it is visible. */
export function visibleText(text: string): VisibleText | null {
  if (!SUSPICIOUS.test(text)) return null;
  const places = new Uint32Array(text.length);
  const parts: string[] = [];
  let length = 0;
  let from = 0;
  const keep = (until: number): void => {
    if (until > from) parts.push(text.slice(from, until));
    for (let at = from; at < until; at++) places[length++] = at;
  };
  for (const { index, 0: hidden } of text.matchAll(HIDDEN)) {
    keep(index);
    from = index + hidden.length;
  }
  keep(text.length);
  if (length === text.length) return null;
  return { text: parts.join(""), placeOf: (at) => places[at]! };
}

// oxlint-disable-next-line no-control-regex -- how a terminal is told a color
const COLOR_CHANGE = /(\u001b\[[0-9;:]*m)/;

/**
 * Removes everything that controls a terminal, except colors: cursor movements, titles and hidden text. The line ends
 * without a color.
 */
export function coloredText(line: string): string {
  if (!SUSPICIOUS.test(line)) return line;
  const parts = line.split(COLOR_CHANGE).map((part, at) => (at % 2 === 1 ? colorChange(part) : plainText(part)));
  return parts.some((part, at) => at % 2 === 1 && part !== "") ? `${parts.join("")}\u001b[0m` : parts.join("");
}

/** Returns a color sequence, or nothing if it does more: blinking, reversed and concealed text can mislead. */
function colorChange(sequence: string): string {
  const codes = sequence.slice(2, -1).split(/[;:]/).map(Number);
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at]!;
    if (code === 38 || code === 48) at += codes[at + 1] === 2 ? 4 : 2;
    else if (!(code <= 4 || (code >= 22 && code <= 24) || (code >= 30 && code <= 49) || (code >= 90 && code <= 107)))
      return "";
  }
  return sequence;
}

/** Formats a count with its noun: `1 story`, `2 stories`. */
export const countText = (count: number, one: string, many?: string): string => `${count} ${plural(count, one, many)}`;

/** Returns the noun alone, for a number that is formatted differently. */
export const plural = (count: number, one: string, many = `${one}s`): string => (count === 1 ? one : many);

/*
 * Two cells of a terminal: East Asian wide characters and emoji. None: marks above or below others, and joiners.
 */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{17000}-\u{18dff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const NO_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/u;
const ASCII_ONLY = /^[ -~]*$/;

const charWidth = (char: string): number => (NO_WIDTH.test(char) ? 0 : WIDE.test(char) ? 2 : 1);

/** Returns how many terminal cells a line takes. The line must have no escape sequences. */
export function textWidth(text: string): number {
  if (ASCII_ONLY.test(text)) return text.length;
  let width = 0;
  for (const char of text) width += charWidth(char);
  return width;
}

/** Cuts a line to a number of cells; an ellipsis shows the cut. */
export function fitText(text: string, width: number, ellipsis = "…"): string {
  if (textWidth(text) <= width) return text;
  if (width <= ellipsis.length) return ellipsis.slice(0, Math.max(0, width));
  return `${startOf(text, width - ellipsis.length).trimEnd()}${ellipsis}`;
}

/** Returns the beginning of a line that fits into a number of cells. */
function startOf(text: string, width: number): string {
  let used = 0;
  let end = 0;
  for (const char of text) {
    used += charWidth(char);
    if (used > width) break;
    end += char.length;
  }
  return text.slice(0, end);
}

export const padText = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - textWidth(text)));

/** Wraps a text to lines of a number of cells, between words if possible. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (textWidth(longer) <= width) {
      line = longer;
      continue;
    }
    if (line !== "") lines.push(line);
    line = word;
    while (textWidth(line) > width) {
      const start = startOf(line, Math.max(2, width));
      lines.push(start);
      line = line.slice(start.length);
    }
  }
  return [...lines, line];
}

/** For a terminal, where code is not set in backticks. */
export const withoutBackticks = (text: string): string => text.replaceAll(/`([^`\n]+)`/g, "$1");

/**
 * Returns the known word that a person most likely meant, or `undefined` if none is similar. Similar is one edit in a
 * short word, two or three in a long one; of equally similar words, the first.
 */
export function nearMiss(word: string, known: Iterable<string>): string | undefined {
  const target = foldWord(word);
  let best: string | undefined;
  let bestDistance = 1 + Math.min(3, Math.max(1, Math.floor(word.length / 3)));
  if (word.length > LONGEST_WORD) return undefined;
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) > 4) continue;
    const distance = slips(target, foldWord(candidate));
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Longer words are not typos, and comparing them is slow. */
const LONGEST_WORD = 100;

/** `max_refinement` and `maxRefinement` count as the same word. */
const foldWord = (word: string): string => word.toLowerCase().replace(/[_\s-]/g, "");

/** Levenshtein distance, with a swap of two neighbors counted as one edit. */
function slips(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) cost = Math.min(cost, beforeLast[j - 2]! + 1);
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}

/** Returns the text with a capital first letter. */
export const upperFirst = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
