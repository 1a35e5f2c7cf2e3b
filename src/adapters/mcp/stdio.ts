import type { Readable, Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { Tool } from "../../ports/tool.ts";
import { createMcpSession, fault, PARSE_FAULT, type McpOptions } from "./session.ts";

export interface StdioOptions extends McpOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}

/** One message per line, both ways. It resolves when the input ends and everything that was asked is answered. */
export async function serveStdio(tools: readonly Tool[], options: StdioOptions): Promise<void> {
  const { input, output, signal } = options;
  const session = createMcpSession(tools, options);
  const pending = new Set<Promise<void>>();
  const reply = async (line: string): Promise<void> => {
    const message = parseJson(line);
    const answer = message === undefined ? fault(null, PARSE_FAULT, "this is no JSON") : await session.answer(message);
    if (answer !== null) output.write(`${JSON.stringify(answer)}\n`);
  };
  const hear = (line: string): void => {
    if (line.trim() === "") return;
    const answered = reply(line);
    pending.add(answered);
    void answered.finally(() => pending.delete(answered));
  };
  const end = (): void => {
    session.close();
    input.destroy();
  };
  signal.addEventListener("abort", end, { once: true });
  try {
    for await (const line of linesOf(input)) {
      if (line === null) output.write(`${JSON.stringify(fault(null, PARSE_FAULT, "a message is too long"))}\n`);
      else hear(line);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener("abort", end);
  }
  await Promise.all(pending);
}

/** `undefined` where it is no JSON. */
function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

const LONGEST_CHARS = 8 * 1024 * 1024;

/** Lines of the input; `null` for one that is too long to be held. */
async function* linesOf(input: Readable): AsyncGenerator<string | null> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  let isTooLong = false;
  for await (const chunk of input) {
    const pieces = decoder.write(chunk as Buffer).split("\n");
    for (const piece of pieces.slice(0, -1)) {
      yield isTooLong || rest.length + piece.length > LONGEST_CHARS ? null : rest + piece;
      rest = "";
      isTooLong = false;
    }
    rest = isTooLong ? "" : rest + pieces.at(-1)!;
    if (rest.length > LONGEST_CHARS) {
      rest = "";
      isTooLong = true;
    }
  }
  if (isTooLong) yield null;
  else if (rest !== "") yield rest;
}
