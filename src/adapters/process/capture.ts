import { createCappedText, createGrowingBytes, wholeCharacters, type CappedText } from "./byte-store.ts";

export type OutputStream = "stdout" | "stderr";
export type OnLine = (line: string, stream: OutputStream) => void;

/** What a program printed: each stream by itself, and both in the order of their lines. */
export interface Capture {
  readonly stdout: string;
  readonly stderr: string;
  readonly output: string;
  readonly truncated: boolean;
}

export interface Collector {
  push(stream: OutputStream, bytes: Buffer): void;
  /** Hands on what stands after the last line end, and gives everything that was kept. */
  finish(): Capture;
}

const LINE_END = 0x0a;

/**
 * Collects without ever making the program wait. Lines of the two streams are mixed as wholes, never in their middle;
 * only a "line" longer than the cap is handed on in pieces, cut between characters.
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
      return captured(texts.stdout, texts.stderr, both);
    },
  };
}

function captured(stdout: CappedText, stderr: CappedText, both: CappedText): Capture {
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
