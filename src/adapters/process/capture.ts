export type OutputStream = "stdout" | "stderr";
export type OnLine = (line: string, stream: OutputStream) => void;

/** The output of a program: each stream alone, and both in the order of their lines. */
export interface Capture {
  readonly stdout: string;
  readonly stderr: string;
  readonly output: string;
  readonly truncated: boolean;
}

export interface Collector {
  push(stream: OutputStream, bytes: Buffer): void;
  /** Passes on the text after the last line end, and returns everything that was kept. */
  finish(): Capture;
}

const LINE_END = 0x0a;

/**
 * Collects output without ever making the program wait. Lines of the two streams are interleaved only as whole lines; a
 * line longer than the limit is passed on in pieces, cut between characters.
 */
export function createCollector(maxBytes: number, onLine: OnLine | undefined): Collector {
  const texts = { stdout: createCappedText(maxBytes), stderr: createCappedText(maxBytes) };
  const both = createCappedText(maxBytes);
  const open = { stdout: createGrowingBytes(), stderr: createGrowingBytes() };

  function handOn(stream: OutputStream, bytes: Buffer): void {
    both.push(bytes);
    if (onLine !== undefined) eachLine(bytes, (line) => onLine(line, stream));
  }

  function finishLine(stream: OutputStream, end: Uint8Array): void {
    const line = open[stream];
    line.push(end);
    handOn(stream, line.peek());
    line.clear();
  }

  return {
    push(stream, bytes) {
      texts[stream].push(bytes);
      const line = open[stream];
      const lastEnd = bytes.lastIndexOf(LINE_END);
      let rest = bytes;
      if (lastEnd !== -1) {
        const firstEnd = bytes.indexOf(LINE_END);
        finishLine(stream, bytes.subarray(0, firstEnd + 1));
        if (lastEnd > firstEnd) handOn(stream, bytes.subarray(firstEnd + 1, lastEnd + 1));
        rest = bytes.subarray(lastEnd + 1);
      }
      line.push(rest);
      if (line.size > maxBytes) {
        const long = line.peek();
        const whole = wholeCharacters(long);
        const half = Buffer.from(long.subarray(whole));
        handOn(stream, long.subarray(0, whole));
        line.clear();
        line.push(half);
      }
    },
    finish() {
      for (const stream of ["stdout", "stderr"] as const) {
        if (open[stream].size > 0) finishLine(stream, Buffer.alloc(0));
      }
      return captureOf(texts.stdout, texts.stderr, both);
    },
  };
}

function captureOf(stdout: CappedText, stderr: CappedText, both: CappedText): Capture {
  return {
    stdout: stdout.text(),
    stderr: stderr.text(),
    output: both.text(),
    truncated: stdout.truncated || stderr.truncated || both.truncated,
  };
}

function eachLine(bytes: Buffer, onLine: (line: string) => void): void {
  let start = 0;
  while (start < bytes.length) {
    const end = bytes.indexOf(LINE_END, start);
    const stop = end === -1 ? bytes.length : end;
    const line = bytes.toString("utf8", start, stop);
    onLine(line.endsWith("\r") ? line.slice(0, -1) : line);
    start = stop + 1;
  }
}

/**
 * Bytes that arrive in small pieces, in one block that doubles: a Buffer per piece would be too much for a program that
 * prints single letters.
 */
export interface GrowingBytes {
  readonly size: number;
  push(bytes: Uint8Array): void;
  /** Returns the bytes without a copy, valid until the next `push`. */
  peek(): Buffer;
  clear(): void;
}

function createGrowingBytes(): GrowingBytes {
  let block = Buffer.allocUnsafe(0);
  let size = 0;
  return {
    get size() {
      return size;
    },
    push(bytes) {
      if (size + bytes.length > block.length) {
        const larger = Buffer.allocUnsafe(Math.max(1024, block.length * 2, size + bytes.length));
        larger.set(block.subarray(0, size));
        block = larger;
      }
      block.set(bytes, size);
      size += bytes.length;
    },
    peek: () => block.subarray(0, size),
    clear() {
      // Free a large block: the next line is rarely as long as the longest.
      if (block.length > 1024 * 1024) block = Buffer.allocUnsafe(0);
      size = 0;
    },
  };
}

/** The beginning and the end of a text of any length, in bounded memory. */
export interface CappedText {
  readonly truncated: boolean;
  push(bytes: Uint8Array): void;
  /** Returns the text, with a line that states how much was cut, if any. */
  text(): string;
}

/** Keeps the first half of `maxBytes` as it comes, and the newest bytes in a ring of the other half. */
function createCappedText(maxBytes: number): CappedText {
  const headLimit = Math.ceil(maxBytes / 2);
  const tailLimit = maxBytes - headLimit;
  const head = createGrowingBytes();
  let ring: Buffer | null = null;
  let tailSeen = 0;

  function pushTail(bytes: Uint8Array): void {
    tailSeen += bytes.length;
    if (tailLimit === 0) return;
    ring ??= Buffer.allocUnsafe(tailLimit);
    const fresh = bytes.length > tailLimit ? bytes.subarray(bytes.length - tailLimit) : bytes;
    const start = (tailSeen - fresh.length) % tailLimit;
    const room = Math.min(fresh.length, tailLimit - start);
    ring.set(fresh.subarray(0, room), start);
    ring.set(fresh.subarray(room), 0);
  }

  function tail(): Buffer {
    if (ring === null) return Buffer.alloc(0);
    if (tailSeen <= tailLimit) return ring.subarray(0, tailSeen);
    const oldest = tailSeen % tailLimit;
    return Buffer.concat([ring.subarray(oldest), ring.subarray(0, oldest)]);
  }

  return {
    get truncated() {
      return tailSeen > tailLimit;
    },
    push(bytes) {
      const room = headLimit - head.size;
      if (room > 0) head.push(bytes.subarray(0, room));
      if (bytes.length > room) pushTail(bytes.subarray(Math.max(0, room)));
    },
    text() {
      const last = tail();
      if (tailSeen <= tailLimit) return Buffer.concat([head.peek(), last]).toString("utf8");
      const first = head.peek();
      const kept = wholeLines(first);
      const skipped = firstLine(last);
      const cut = tailSeen - tailLimit + (first.length - kept) + skipped;
      const [begin, end] = [first.subarray(0, kept), last.subarray(skipped)];
      const gap = begin.at(-1) === LINE_END ? "" : "\n";
      return `${begin.toString("utf8")}${gap}[${cut} bytes were cut here]\n${end.toString("utf8")}`;
    },
  };
}

/**
 * Returns where to cut. Half of a line could be half of a secret, which no redactor recognizes, so the cut is at a line
 * end unless the line has many kilobytes.
 */
function wholeLines(bytes: Buffer): number {
  const end = bytes.lastIndexOf(LINE_END) + 1;
  return bytes.length - end < LONG_LINE ? end : wholeCharacters(bytes);
}

function firstLine(bytes: Buffer): number {
  const end = bytes.indexOf(LINE_END);
  return end !== -1 && end < LONG_LINE ? end + 1 : firstCharacter(bytes);
}

const LONG_LINE = 4096;

/** Returns how many bytes make whole UTF-8 characters, so that no cut splits one. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if ((byte & 0b1100_0000) === 0b1000_0000) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function firstCharacter(bytes: Uint8Array): number {
  let start = 0;
  while (start < Math.min(3, bytes.length) && (bytes[start]! & 0b1100_0000) === 0b1000_0000) start++;
  return start;
}
