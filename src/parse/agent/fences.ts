/**
 * Tracks whether a line is inside a code fence. Without a full Markdown grammar that is ambiguous: an indented fence
 * may belong to a list item (and end with it), stand alone, or be indented code and not a fence. All three readings are
 * followed, and a line is outside only if all of them agree, so that an author cannot use the ambiguity to hide a
 * signal in a fence.
 */
export interface FenceWatch {
  outside: boolean;
  /** Some open fence would end with its list item: then every line without an indent matters, not only fences. */
  endsWithItem: boolean;
  /** Nothing after a fence that is too long to read counts as outside. */
  shut: boolean;
  /** The open fence in each of the readings. */
  readonly open: (FenceMark | null)[];
}

interface Rules {
  /** A deeper indented fence is not a fence. */
  readonly deepest: number;
  readonly endsWithItem: boolean;
}

const READINGS: readonly Rules[] = [
  { deepest: Number.POSITIVE_INFINITY, endsWithItem: false },
  { deepest: Number.POSITIVE_INFINITY, endsWithItem: true },
  { deepest: 3, endsWithItem: false },
];

export interface FenceMark {
  readonly char: string;
  readonly length: number;
  readonly indent: number;
  readonly inItem: boolean;
  readonly rest: string;
}

export function watchFences(): FenceWatch {
  return { outside: true, endsWithItem: false, shut: false, open: READINGS.map(() => null) };
}

/** Processes the next line, in plain text, and returns whether it opened or closed a fence. */
export function takeFence(watch: FenceWatch, line: string, mark: FenceMark | null = fenceMarkOf(line)): boolean {
  if (mark === null && !watch.endsWithItem) return false;
  const isOutdented = line !== "" && !SPACES.includes(line[0]!);
  let changed = false;
  watch.outside = !watch.shut;
  watch.endsWithItem = false;
  for (let at = 0; at < READINGS.length; at++) {
    const rules = READINGS[at]!;
    const before = watch.open[at] ?? null;
    const next = after(before !== null && isOutdented && endsHere(rules, before) ? null : before, rules, mark);
    if (next !== before && mark !== null) changed = true;
    watch.open[at] = next;
    if (next === null) continue;
    watch.outside = false;
    if (endsHere(rules, next)) watch.endsWithItem = true;
  }
  return changed;
}

function after(open: FenceMark | null, rules: Rules, mark: FenceMark | null): FenceMark | null {
  if (mark === null) return open;
  if (open !== null) return closes(open, mark) ? null : open;
  return mark.indent <= rules.deepest && opens(mark) ? mark : null;
}

const endsHere = (rules: Rules, mark: FenceMark): boolean => rules.endsWithItem && (mark.inItem || mark.indent > 0);

/** Text after the opening backticks must contain no backtick; otherwise it is inline code. */
const opens = (mark: FenceMark): boolean => mark.char === "~" || !mark.rest.includes("`");

const closes = (open: FenceMark, mark: FenceMark): boolean =>
  mark.char === open.char &&
  mark.length >= open.length &&
  !mark.inItem &&
  mark.indent <= open.indent + 3 &&
  mark.rest.trim() === "";

/** Returns the fence of a line, if it is one. The result for a repeated line can be cached. */
export function fenceMarkOf(line: string): FenceMark | null {
  const match = FENCE_AHEAD.test(line) ? FENCE.exec(line) : null;
  if (match === null) return null;
  const [, indent = "", bullet = "", ticks = "", rest = ""] = match;
  const before = indent + bullet;
  return {
    char: ticks[0]!,
    length: ticks.length,
    indent: before.includes("\t") ? before.replaceAll("\t", "    ").length : before.length,
    inItem: bullet !== "",
    rest,
  };
}

const SPACES = " \t\n";
const FENCE_AHEAD = /^[ \t]*(?:[-*+\d`~])/;
const FENCE = /^([ \t]*)((?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})([^\n]*)$/;

/** A part of the text that may be a JSON object. */
export interface JsonBlock {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** The object is never closed: the text or its fence ends first. */
  readonly open: boolean;
}

/**
 * Finds the last few outermost `{…}` of a text that are wanted, anywhere: the whole text, in a fence, between
 * sentences. One pass, with a stack of the open braces. A brace inside a string does not count; a string ends with its
 * line at the latest, because outside JSON a single quotation mark means nothing. Lines quoted with `>` are not the
 * author's.
 */
export function findJsonBlocks(text: string, isWanted: (block: string) => boolean, most: number): readonly JsonBlock[] {
  const opened: number[] = [];
  const pairs: { readonly start: number; readonly end: number }[] = [];
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === LF || at === 0) {
      inString = false;
      const line = char === LF ? at + 1 : 0;
      if (isQuoted(text, line)) {
        const end = text.indexOf("\n", line);
        at = end < 0 ? text.length : end - 1;
        continue;
      }
    }
    if (inString) {
      if (char === BACKSLASH) at++;
      else if (char === QUOTE) inString = false;
    } else if (char === QUOTE) inString = opened.length > 0;
    else if (char === OPEN) opened.push(at);
    else if (char === CLOSE) {
      const start = opened.pop();
      if (start === undefined) continue;
      while (pairs.length > 0 && pairs.at(-1)!.start > start) pairs.pop();
      pairs.push({ start, end: at + 1 });
    }
  }
  const blocks = openBlocks(text, opened).filter((block) => isWanted(block.text));
  for (let pair = pairs.pop(); pair !== undefined && blocks.length < most; pair = pairs.pop()) {
    const block = text.slice(pair.start, pair.end);
    if (isWanted(block)) blocks.push({ ...pair, text: block, open: false });
  }
  return blocks.sort((a, b) => a.start - b.start);
}

/**
 * Returns objects that were never closed: they end with their fence or the message. Only the outermost few are read.
 */
function openBlocks(text: string, opened: readonly number[]): JsonBlock[] {
  return opened
    .slice(0, MOST_LOOKED_AT)
    .filter((start) => LIKE_AN_OBJECT.test(text.slice(start, start + 200)))
    .slice(0, MOST_OPEN)
    .map((start) => {
      const fence = FENCE_END.exec(text.slice(start));
      const end = fence === null ? text.length : start + fence.index;
      return { text: text.slice(start, end), start, end, open: true };
    });
}

const MOST_LOOKED_AT = 1000;
const MOST_OPEN = 3;
const LIKE_AN_OBJECT = /^\{\s*["'“]?[\w$-]+["'”]?\s*:/;
const FENCE_END = /\n {0,3}(?:```|~~~)/;

const LF = 10;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Whether a line is a quotation: up to three spaces may precede its mark. */
function isQuoted(text: string, line: number): boolean {
  let at = line;
  while (at < line + 3 && text[at] === " ") at++;
  return text[at] === ">";
}
