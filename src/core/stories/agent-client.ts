/**
 * What the rest of the code asks about an agent client (`agents.<role>.use`). A new client is one row here, one in
 * `src/agents/registry.ts`, and its own folder.
 */
interface AgentClient {
  /** Whether the client is a provider's own program, which `use` alone can start by its name. */
  readonly isProgram: boolean;
  /** What to write if `agents.<role>.command` is missing; `null` if it is not needed. */
  readonly commandHint: string | null;
  /** Whether the client can change files. A client that cannot can only review. */
  readonly changesFiles: boolean;
  /** What `remand doctor` checks: the client itself with these of its settings, or only the program of its command. */
  readonly probed: "program" | readonly ("command" | "args" | "env" | "model")[];
}

const ROWS = {
  claude: { isProgram: true, commandHint: null, changesFiles: true, probed: ["command", "args", "env"] },
  codex: { isProgram: true, commandHint: null, changesFiles: true, probed: ["command", "args", "env"] },
  acp: {
    isProgram: false,
    commandHint: "Name what speaks the Agent Client Protocol: `command: gemini --acp`.",
    changesFiles: true,
    probed: ["command", "args", "env"],
  },
  model: { isProgram: false, commandHint: null, changesFiles: false, probed: ["model"] },
  command: { isProgram: false, commandHint: "Give it the command to run.", changesFiles: true, probed: "program" },
  scripted: {
    isProgram: false,
    commandHint: "Name the script: `command: agent-script.yaml`.",
    changesFiles: true,
    probed: [],
  },
} as const satisfies Readonly<Record<string, AgentClient>>;

export type AgentClientName = keyof typeof ROWS;

export type ClientProgram = {
  [Name in AgentClientName]: (typeof ROWS)[Name]["isProgram"] extends true ? Name : never;
}[AgentClientName];

export const AGENT_CLIENTS: Readonly<Record<AgentClientName, AgentClient>> = ROWS;

export const AGENT_CLIENT_NAMES = Object.keys(ROWS) as readonly AgentClientName[];

/** Clients that Remand starts by their program's name, without a configured command. */
export const CLIENT_PROGRAMS = AGENT_CLIENT_NAMES.filter(
  (name): name is ClientProgram => AGENT_CLIENTS[name].isProgram,
);

export const isClientProgram = (name: string): name is ClientProgram =>
  CLIENT_PROGRAMS.some((program) => program === name);
