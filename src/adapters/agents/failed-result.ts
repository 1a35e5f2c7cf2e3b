import type { AgentError, AgentResult } from "../../ports/agent.ts";

/** The result of a dispatch that came to nothing before the agent could say a word. */
export function failed(error: AgentError, durationMs: number): AgentResult {
  return {
    status: "failed",
    session: null,
    text: "",
    output: null,
    tokens: null,
    costUsd: null,
    denied: [],
    error,
    durationMs,
  };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
