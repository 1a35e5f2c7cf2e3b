import { createInterface, type Interface } from "node:readline";
import type { ReadStream, WriteStream } from "node:tty";
import { RemandError } from "../../core/events/error.ts";

/**
 * Reads single keys by name: `up`, `down`, `page-up`, `page-down`, `enter`, `escape`, `backspace`, `ctrl-c`, or the
 * character. Restores the terminal when the listener stops, even if the program ends by an error.
 */
export function createKeyboard(input: ReadStream, output: WriteStream) {
  return {
    rows: () => output.rows ?? DEFAULT_ROWS,
    listen: (onKey: (key: string) => void, onResize: () => void): (() => void) => {
      const onData = (data: Buffer): void => keysIn(data.toString("utf8")).forEach(onKey);
      const restore = (): void => void input.setRawMode(false);
      input.setRawMode(true);
      input.on("data", onData);
      input.resume();
      output.on("resize", onResize);
      process.once("exit", restore);
      return () => {
        process.off("exit", restore);
        output.off("resize", onResize);
        input.off("data", onData);
        restore();
        // Otherwise the open input would keep the program from exiting.
        input.pause();
      };
    },
  };
}

const DEFAULT_ROWS = 24;

const NAMES: Readonly<Record<string, string>> = {
  "\u001b[A": "up",
  "\u001bOA": "up",
  "\u001b[B": "down",
  "\u001bOB": "down",
  "\u001b[5~": "page-up",
  "\u001b[6~": "page-down",
  "\r": "enter",
  "\n": "enter",
  "\u001b": "escape",
  "\u007f": "backspace",
  "\b": "backspace",
  "\u0003": "ctrl-c",
};

/** Returns the names of keys. Several keys may arrive at once; unnamed sequences are dropped. */
export function keysIn(text: string): readonly string[] {
  // oxlint-disable-next-line no-control-regex -- what a terminal sends for a key
  const pieces = text.match(/\u001b(?:\[[0-9;]*[A-Za-z~]|O[A-Z])?|[^\u001b]/gu) ?? [];
  return pieces.flatMap((piece) => NAMES[piece] ?? (piece >= " " ? piece : []));
}

/**
 * Asks a person for one line at a time. Lines typed ahead are kept for the next questions. The terminal edits the line
 * itself, so that Ctrl-C ends the program as usual.
 */
export function createLineAsker(
  input: NodeJS.ReadableStream,
  output: { write(text: string): unknown },
): (question: string) => Promise<string> {
  let lines: { readonly reader: Interface; readonly next: AsyncIterator<string> } | null = null;
  return async (question) => {
    if (lines === null) {
      const reader = createInterface({ input, terminal: false });
      lines = { reader, next: reader[Symbol.asyncIterator]() };
    }
    output.write(question);
    lines.reader.resume();
    const { done, value } = await lines.next.next();
    // Otherwise the open input would keep the program from exiting.
    lines.reader.pause();
    if (done !== true) return value;
    output.write("\n");
    throw new RemandError("usage", "no answer was given", "Run it again, or pass --yes to skip the questions.");
  };
}
