import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentDispatch, AgentProcesses } from "../../adapters/process/agent-processes.ts";
import type { AgentRequest } from "../../ports/agent.ts";

/** The files that hold a program's prompt and its result. Only the user who runs Remand may read them. */
export interface Exchange {
  readonly promptFile: string;
  readonly resultFile: string;
  /** `null` when no form of answer is asked for. */
  readonly schemaFile: string | null;
  readonly dispatch: AgentDispatch;
}

export async function createExchange(processes: AgentProcesses, request: AgentRequest): Promise<Exchange> {
  const { prompt, outputSchema } = request;
  const dispatch = await processes.open(request);
  const { folder, isResumed } = dispatch;
  const promptFile = join(folder, "prompt.md");
  const schemaFile = outputSchema === null ? null : join(folder, "schema.json");
  try {
    // A program that is at work may be reading them.
    if (!isResumed) await writeFile(promptFile, prompt, { mode: 0o600 });
    if (!isResumed && schemaFile !== null) await writeFile(schemaFile, JSON.stringify(outputSchema), { mode: 0o600 });
  } catch (error) {
    await dispatch.close();
    throw error;
  }
  return { promptFile, resultFile: join(folder, "result.json"), schemaFile, dispatch };
}
