import { resolve } from "node:path";
import type { AgentClientName } from "../core/stories/agent-client.ts";
import type { AgentProcesses } from "../adapters/process/agent-processes.ts";
import type { Agent } from "../ports/agent.ts";
import type { Clock } from "../ports/clock.ts";
import { createAcpAgent } from "./acp/acp-agent.ts";
import { acpProbe } from "./acp/acp-greeting.ts";
import { CLAUDE, createClaudeAgent } from "./claude/claude-agent.ts";
import type { AgentProbe, ClientAgentOptions } from "./client/client.ts";
import { clientProbe } from "./client/client-program.ts";
import { createCodexAgent } from "./codex/codex-agent.ts";
import { CODEX_PROGRAM } from "./codex/codex-program.ts";
import { createCommandAgent } from "./command/command-agent.ts";
import { createModelAgent } from "./model/model-agent.ts";
import { modelProbe } from "./model/model-provider.ts";
import { scriptedFromFile } from "./scripted/scripted-agent.ts";

/** How to create and probe a kind of agent. What other code needs to know is in `core/stories/agent-client.ts`. */
interface RegisteredClient {
  /** The project's files with instructions for the agent; the first existing one is used. */
  readonly instructions: readonly string[];
  /** Whether its client accepts tools, so that the agent can report by calling one. */
  readonly takesTools: boolean;
  create(options: AgentOptions): Agent | Promise<Agent>;
  /** Checks the client. Costs nothing. */
  probe(look: AgentLook): AgentProbe | Promise<AgentProbe> | null;
}

interface AgentOptions extends Pick<
  ClientAgentOptions,
  "root" | "args" | "environment" | "edits" | "instructions" | "sandbox"
> {
  readonly role: string;
  /** Empty if the client is found by its own name. */
  readonly command: string;
  readonly clock: Clock;
  /**
   * How programs are run that get all input at the start. An ACP agent is not one of them, because it exchanges
   * messages.
   */
  readonly processes: AgentProcesses | undefined;
}

interface AgentLook {
  readonly root: string;
  readonly source: Readonly<Record<string, string | undefined>>;
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  /** Names of the variables that it may see. */
  readonly env?: readonly string[] | undefined;
  readonly model?: string | undefined;
}

const named = ({ command, ...options }: AgentOptions): ClientAgentOptions => ({
  ...options,
  command: command === "" ? undefined : command,
});

/** One entry per kind of agent. */
export const AGENT_REGISTRY: { readonly [N in AgentClientName]: RegisteredClient } = {
  claude: {
    instructions: ["CLAUDE.md", "AGENTS.md"],
    takesTools: true,
    create: (options) => createClaudeAgent(named(options)),
    probe: ({ root, source, ...look }) => clientProbe(CLAUDE, root, look, source),
  },
  codex: {
    instructions: ["AGENTS.md"],
    takesTools: true,
    create: (options) => createCodexAgent(named(options)),
    probe: ({ root, source, ...look }) => clientProbe(CODEX_PROGRAM, root, look, source),
  },
  acp: {
    instructions: ["AGENTS.md"],
    takesTools: true,
    create: ({ command, args, environment, edits, instructions, sandbox }) =>
      createAcpAgent({ command, args, environment, edits, instructions, sandbox }),
    probe: ({ command = "", args, env, source }) => acpProbe({ command, args, env }, source),
  },
  model: {
    instructions: [],
    takesTools: false,
    create: ({ root, environment }) => createModelAgent({ root, source: environment.source }),
    probe: ({ root, model = null, source }) => modelProbe(root, model, source),
  },
  command: {
    instructions: [],
    takesTools: false,
    create: ({ role, command, environment, sandbox, processes }) =>
      createCommandAgent({ name: role, command, environment, sandbox, processes }),
    probe: () => null,
  },
  scripted: {
    instructions: [],
    takesTools: false,
    create: ({ root, command, role, clock }) => scriptedFromFile(resolve(root, command), role, clock),
    probe: () => null,
  },
};
