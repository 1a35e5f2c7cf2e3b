import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentRequest } from "../../ports/agent.ts";
import { type ProcessControl, type ProcessResult, type ProcessSpec, runProcess } from "./run-process.ts";

/** How the programs of agents are run that are told everything at their start. */
export interface AgentProcesses {
  open(call: Pick<AgentRequest, "key" | "turn">): Promise<AgentDispatch>;
}

/** One call of an agent. It may take more than one program. */
export interface AgentDispatch {
  /** For the files that the agent and we hand to each other, outside of every worktree. */
  readonly folder: string;
  /** An engine that died made this call: its program is found instead of started, and the files are there. */
  readonly isResumed: boolean;
  run(spec: ProcessSpec, control: ProcessControl): Promise<ProcessResult>;
  close(): Promise<void>;
}

/** Programs that end with this process, or are left for `killLeftovers`. */
export function createPlainProcesses(tempFolder: string = tmpdir()): AgentProcesses {
  return {
    async open() {
      const folder = await mkdtemp(join(tempFolder, DISPATCH_PREFIX));
      return { folder, isResumed: false, run: runProcess, close: () => rm(folder, { recursive: true, force: true }) };
    },
  };
}

export const DISPATCH_PREFIX = "remand-agent-";
