import type { AgentResult } from "../../src/ports/agent.ts";

/** What an agent gives back that has done its work and says nothing special. A test says only what it is about. */
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
