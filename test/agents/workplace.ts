import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import type { Agent, AgentEvent, AgentRequest, AgentResult } from "../../src/ports/agent.ts";
import { agentRequest } from "../contract/agent-request.ts";

/** Where an agent works in one test, and its events. */
export interface Workplace {
  /** In place of a worktree. */
  readonly cwd: string;
  /** The agent's own folder, for its program and other files. */
  readonly folder: string;
  readonly events: readonly AgentEvent[];
  run(agent: Agent, changes: Partial<AgentRequest>): Promise<AgentResult>;
}

/** Creates a new one for each test. A process that still runs after a test fails that test. */
export function workplace(left: () => Promise<number>): Workplace {
  let cwd: string;
  let folder: string;
  let events: AgentEvent[];
  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), "remand-worktree-"));
    folder = mkdtempSync(join(tmpdir(), "remand-own-"));
    events = [];
  });
  afterEach(async () => {
    rmSync(cwd, { recursive: true, force: true });
    rmSync(folder, { recursive: true, force: true });
    if ((await left()) > 0) throw new Error("a process of the agent still runs after the test");
  });
  return {
    get cwd() {
      return cwd;
    },
    get folder() {
      return folder;
    },
    get events() {
      return events;
    },
    run: (agent, changes) =>
      agent.run(agentRequest(cwd, { prompt: "fix the parser", ...changes }), {
        signal: new AbortController().signal,
        onEvent: (event) => events.push(event),
      }),
  };
}
