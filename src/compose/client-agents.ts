import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentConfig } from "../config/config.ts";
import { RemandError } from "../domain/error.ts";
import type { Agent } from "../ports/agent.ts";
import { createAcpAgent } from "../adapters/agents/acp-agent.ts";
import { createClaudeAgent } from "../adapters/agents/claude-agent.ts";
import { createCodexAgent } from "../adapters/agents/codex-agent.ts";
import { COOKIE_VARIABLE } from "../adapters/process/leftovers.ts";
import { reportingAgent } from "./reporting-agent.ts";

/** The clients of providers, as a role's config wants them. */
export async function clientAgent(
  use: "claude" | "codex",
  root: string,
  config: AgentConfig,
  env: {
    readonly source: Readonly<Record<string, string | undefined>>;
    readonly sees: readonly string[];
  },
): Promise<Agent> {
  const options = {
    command: config.command,
    args: config.args,
    root,
    environment: { source: env.source, sees: [...env.sees, ...(config.env ?? []), COOKIE_VARIABLE] },
    edits: config.access,
    instructions: await instructionsOf(root, INSTRUCTIONS[use]),
  };
  return reportingAgent(use === "claude" ? createClaudeAgent(options) : createCodexAgent(options));
}

/** Any agent that speaks the Agent Client Protocol. */
export async function acpAgent(
  root: string,
  command: string,
  config: AgentConfig,
  env: {
    readonly source: Readonly<Record<string, string | undefined>>;
    readonly sees: readonly string[];
  },
): Promise<Agent> {
  return reportingAgent(
    createAcpAgent({
      command,
      args: config.args,
      environment: { source: env.source, sees: [...env.sees, ...(config.env ?? []), COOKIE_VARIABLE] },
      edits: config.access,
      instructions: await instructionsOf(root, INSTRUCTIONS.codex),
    }),
  );
}

/** The file each client would read by itself, and the one that stands in for it. */
const INSTRUCTIONS = { claude: ["CLAUDE.md", "AGENTS.md"], codex: ["AGENTS.md"] } as const;
const MAX_CHARS = 64 * 1024;

/**
 * What the project tells every agent. It is read in the checkout when the run begins, and not in a worktree: an agent
 * could write there what the next one is told.
 */
async function instructionsOf(root: string, names: readonly string[]): Promise<string | undefined> {
  for (const name of names) {
    const text = await readFile(join(root, name), "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return "";
      const hint = `Look at it: agents are told what it says.`;
      throw new RemandError("file-unreadable", `${name} cannot be read: ${error.message}`, hint, { cause: error });
    });
    if (text.trim() === "") continue;
    const cut = text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}\n(the rest of ${name} was left out)` : text;
    return `What this project tells everyone who works on it (${name}):\n\n${cut.trimEnd()}\n\nYour work:`;
  }
  return undefined;
}
