/** A stretch of text that may be a JSON object. */
export interface JsonBlock {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** It is never closed: the text ends, or its fence does. */
  readonly open: boolean;
}

/**
 * Finds the outermost `{…}` of a text that are wanted, the last ones of them, wherever they stand: the whole of it, in a fence, between sentences. One pass,
 * with a stack of the braces that are open. A brace inside a string does not count; a string ends with its line at the
 * latest, because outside of JSON a single quotation mark means nothing. Lines quoted with `>` are somebody else's.
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

/** A fence's end, or the message's, is where an object ends that was never closed. Only the outermost few are worth it. */
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

/** Up to three spaces may stand before the mark of a quotation. */
function isQuoted(text: string, line: number): boolean {
  let at = line;
  while (at < line + 3 && text[at] === " ") at++;
  return text[at] === ">";
}
