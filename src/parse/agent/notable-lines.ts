import { SIGNALS } from "../../core/stories/reading.ts";

/**
 * Finds the lines that may be a signal or a fence without copying any other line: a string search skips most of a long
 * log. If invisible characters could hide a signal's name from that search, each line's beginning is checked instead.
 */
export interface NotableLines {
  /** Whether the text contains no signal, inside or outside fences. */
  readonly none: boolean;
  /** Returns the start of the first notable line from here on, or the text's end. `from` is the start of a line. */
  next(from: number): number;
}

export function findNotableLines(text: string): NotableLines {
  if (UNSEEN_CHAR.test(text)) return { none: false, next: (from) => nextByLooking(text, from, false) };
  const names = BEGINNINGS.map((needle) => ({ needle, at: text.indexOf(needle) })).filter(({ at }) => at >= 0);
  const needles = [...names, { needle: "```", at: -1 }, { needle: "~~~", at: -1 }];
  return { none: names.length === 0, next: (from) => nextBySearching(text, from, needles) };
}

/** REVIEW_, AUDIT_ and so on: fewer searches than one for each name. */
const BEGINNINGS: readonly string[] = [...new Set(SIGNALS.map((name) => name.slice(0, name.indexOf("_") + 1)))];

/** Returns the next line that is notable or has no indent. */
export function nextOutdentedLine(text: string, from: number): number {
  return nextByLooking(text, from, true);
}

/** Returns the start of the next line. The first few characters are checked in a loop, because most lines are short. */
export function nextLine(text: string, from: number): number {
  let at = from;
  for (; at < from + 12; at++) {
    const code = text.charCodeAt(at);
    if (code === LF) return at + 1;
    if (Number.isNaN(code)) return text.length;
  }
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end + 1;
}

/** Of a longer line, only this many characters are read. */
export const LONGEST_LINE = 4096;

interface Needle {
  readonly needle: string;
  /** The position of its next occurrence; the text's end if there is none. */
  at: number;
}

function nextBySearching(text: string, from: number, needles: readonly Needle[]): number {
  let line = from;
  while (line < text.length) {
    let nearest = text.length;
    for (const each of needles) {
      if (each.at < line) {
        const at = text.indexOf(each.needle, line);
        each.at = at < 0 ? text.length : at;
      }
      if (each.at < nearest) nearest = each.at;
    }
    if (nearest === text.length) return nearest;
    const start = nearest === line ? line : Math.max(line, text.lastIndexOf("\n", nearest) + 1);
    if (isNotable(text, start)) return start;
    line = nextLine(text, nearest);
  }
  return text.length;
}

function nextByLooking(text: string, from: number, outdented: boolean): number {
  let at = from;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === LF) at++;
    else if (isNotable(text, at) || (outdented && !isSpace(code))) return at;
    else at = nextLine(text, at);
  }
  return text.length;
}

function isNotable(text: string, start: number): boolean {
  const at = behindColours(text, start);
  const kind = kindOf(text.charCodeAt(at));
  switch (kind) {
    case PLAIN:
      return false;
    case LETTER: {
      const second = text.charCodeAt(at + 1);
      return SECOND_LETTERS.includes(second) || kindOf(second) === UNSEEN;
    }
    case FENCE:
    case UNSEEN:
      return true;
    default:
      return leadsToFence(text, at);
  }
}

/** Skips color codes without a copy. They are the most common invisible characters: a log is full of them. */
function behindColours(text: string, start: number): number {
  let at = start;
  while (text.charCodeAt(at) === ESCAPE && text.charCodeAt(at + 1) === BRACKET && at - start < 99) {
    let end = at + 2;
    for (let code = text.charCodeAt(end); (code >= 48 && code <= 57) || code === 59;) code = text.charCodeAt(++end);
    if (text.charCodeAt(end) !== LETTER_M) return at;
    at = end + 1;
  }
  return at;
}

/** Whether a line starts with white space, a bullet, white space, then a fence. */
function leadsToFence(text: string, start: number): boolean {
  let at = start;
  const end = start + LONGEST_LINE;
  while (at < end && isSpace(text.charCodeAt(at))) at++;
  const bullet = at;
  while (at - bullet < 11 && kindOf(text.charCodeAt(at)) === BULLET) at++;
  if (at > bullet) while (at < end && isSpace(text.charCodeAt(at))) at++;
  if (at >= end) return true;
  const kind = kindOf(text.charCodeAt(at));
  return kind === FENCE || kind === UNSEEN;
}

const LF = 10;
const ESCAPE = 27;
const BRACKET = 91;
const LETTER_M = 109;

const PLAIN = 0;
const LETTER = 1;
const FENCE = 2;
const BULLET = 3;
const SPACE = 4;
const UNSEEN = 5;

/** Of READY, REVIEW, TASK, INFRA, AUDIT. */
const FIRST_LETTERS = "RTIA";
const SECOND_LETTERS: readonly number[] = [..."EANU"].map((letter) => letter.charCodeAt(0));

/** Characters that `plainText` removes, except the carriage return before a line feed. */
const UNSEEN_CHAR =
  // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
  /\r(?!\n)|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ufff9-\ufffb]/;

const KINDS: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code);
  if (FIRST_LETTERS.includes(char)) return LETTER;
  if (char === "`" || char === "~") return FENCE;
  if (/[-*+\d.)]/.test(char)) return BULLET;
  if (char === " " || char === "\t") return SPACE;
  return (code < 32 && code !== LF) || code === 127 ? UNSEEN : PLAIN;
});

function kindOf(code: number): number {
  if (code < 128) return KINDS[code]!;
  // These ranges hold every invisible character and a few visible ones, which only cost a check.
  const mayBeUnseen = code < 0xa0 || (code >= 0x2000 && code < 0x2070) || code >= 0xfe00;
  return mayBeUnseen ? UNSEEN : PLAIN;
}

const isSpace = (code: number): boolean => code === 32 || code === 9;
