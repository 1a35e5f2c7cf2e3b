import type { AgentResult } from "../../src/ports/agent.ts";

/** Returns the plain result of an agent that has done its work. A test sets only what it is about. */
export function agentResult(changes: Partial<AgentResult> = {}): AgentResult {
  return {
    status: "completed",
    session: null,
    text: "",
    output: null,
    tokens: null,
    costUsd: null,
    denied: [],
    error: null,
    durationMs: 1,
    ...changes,
  };
}
