import type { Tool } from "../ports/tool.ts";
import { serveStdio } from "../adapters/mcp/stdio.ts";

/** Offers tools to whoever started this program, until its input ends. */
export async function offer(
  tools: readonly Tool[],
  { version, signal }: { readonly version: string; readonly signal: AbortSignal },
): Promise<void> {
  await serveStdio(tools, { version, signal, input: process.stdin, output: process.stdout });
}
