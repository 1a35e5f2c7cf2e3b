import { createInterface, type Interface } from "node:readline";
import { RemandError } from "../../core/events/error.ts";

/**
 * Asks a person for one line at a time. Lines that were typed ahead are kept for the questions that follow. The
 * terminal edits the line itself, so that Ctrl-C ends the program as it ends every other one.
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
    // An open input that is not read must not keep the program from ending.
    lines.reader.pause();
    if (done !== true) return value;
    output.write("\n");
    throw new RemandError("usage", "no answer was given", "Run it again, or with --yes: then nothing is asked.");
  };
}
