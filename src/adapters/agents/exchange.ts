import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentRequest } from "../../ports/agent.ts";

/** The files by which a program is told what to do and says what it did. They are nobody else's to read. */
export interface Exchange {
  readonly promptFile: string;
  readonly resultFile: string;
  /** `null` when no form of answer is asked for. */
  readonly schemaFile: string | null;
  remove(): Promise<void>;
}

export async function createExchange(tempFolder: string, { prompt, outputSchema }: AgentRequest): Promise<Exchange> {
  const folder = await mkdtemp(join(tempFolder, "remand-agent-"));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const promptFile = join(folder, "prompt.md");
  const schemaFile = outputSchema === null ? null : join(folder, "schema.json");
  try {
    await writeFile(promptFile, prompt, { mode: 0o600 });
    if (schemaFile !== null) await writeFile(schemaFile, JSON.stringify(outputSchema), { mode: 0o600 });
  } catch (error) {
    await remove();
    throw error;
  }
  return { promptFile, resultFile: join(folder, "result.json"), schemaFile, remove };
}
