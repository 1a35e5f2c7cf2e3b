/**
 * Text as a person would see it: no colours, no terminal commands, no invisible or direction-changing
 * characters, LF line ends. One pass, linear in the size of the input, whatever the input is.
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

/** A carriage return is a line end: it separates words, as a line feed does. */
const HIDDEN = new RegExp(`${ESCAPES.source}|(?!\\r)${INVISIBLE.source}`, "g");

/** The cheap test that lets clean text through untouched. */
export const SUSPICIOUS =
  // oxlint-disable-next-line no-control-regex -- the same, for looking only
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ufff9-\ufffb]/;

export interface VisibleText {
  readonly text: string;
  /** Where a character of it stands in the whole text. */
  placeOf(at: number): number;
}

/** A text without what no reader sees, and where each character stood; `null` where every character is seen. */
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

/** `1 story`, `2 stories`: how many of what, in words that fit the number. */
export const countText = (count: number, one: string, many?: string): string => `${count} ${plural(count, one, many)}`;

/** The word alone, where the number is written in another way or elsewhere. */
export const plural = (count: number, one: string, many = `${one}s`): string => (count === 1 ? one : many);
