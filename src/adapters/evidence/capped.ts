/**
 * The text as bytes, no more than so many. What is too long keeps its beginning, where a run says what it does, and its
 * end, where it says how that went; between them stands how much was cut, in a line of its own.
 */
export function capped(text: string, maxBytes: number): Buffer {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= maxBytes) return bytes;
  const room = Math.max(0, maxBytes - NOTE_BYTES);
  const headEnd = lineBreakBefore(bytes, characterStart(bytes, Math.floor(room / 2)));
  const tailStart = lineBreakAfter(bytes, characterStart(bytes, bytes.length - (room - Math.floor(room / 2))));
  const head = bytes.subarray(0, headEnd);
  const tail = bytes.subarray(tailStart);
  const note = `[${tailStart - headEnd} of ${bytes.length} bytes were cut here: the first ${head.length} and the last ${tail.length} are kept]`;
  const isOnItsOwn = head.length === 0 || head.at(-1) === NEWLINE;
  return Buffer.concat([head, Buffer.from(`${isOnItsOwn ? "" : "\n"}${note}\n`), tail]);
}

/** Enough for the note with the largest figures. */
const NOTE_BYTES = 160;
const NEWLINE = 0x0a;
/** A line is kept whole where its break is near; where lines are longer than this they are cut in the middle. */
const NEAR = 2000;

/** A character of UTF-8 is cut before it or after it, never inside. */
function characterStart(bytes: Buffer, at: number): number {
  let start = Math.max(0, Math.min(at, bytes.length));
  while (start > 0 && start < bytes.length && (bytes[start]! & 0xc0) === 0x80) start--;
  return start;
}

function lineBreakBefore(bytes: Buffer, at: number): number {
  const found = bytes.subarray(Math.max(0, at - NEAR), at).lastIndexOf(NEWLINE);
  return found === -1 ? at : Math.max(0, at - NEAR) + found + 1;
}

function lineBreakAfter(bytes: Buffer, at: number): number {
  const found = bytes.subarray(at, at + NEAR).indexOf(NEWLINE);
  return found === -1 ? at : at + found + 1;
}
