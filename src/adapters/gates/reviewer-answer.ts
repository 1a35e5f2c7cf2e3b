import type { AgentResult } from "../../ports/agent.ts";

/** Everything it said, for whoever wants to read it. */
export function wordsOf({ output, text }: AgentResult): string {
  const data = output === null || output === undefined ? "" : JSON.stringify(output, null, 2);
  return [text.trimEnd(), data].filter((part) => part !== "").join("\n\n");
}
