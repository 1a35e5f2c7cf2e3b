import type { AgentRequest } from "../../src/ports/agent.ts";

/** Returns a plain request to work in this folder. A test sets only what it is about. */
export function agentRequest(cwd: string, changes: Partial<AgentRequest> = {}): AgentRequest {
  return {
    prompt: "do it",
    cwd,
    access: "edit",
    session: null,
    outputSchema: null,
    model: null,
    timeoutMs: 15_000,
    env: {},
    key: "s:1",
    turn: 0,
    ...changes,
  };
}
