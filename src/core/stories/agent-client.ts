/**
 * What the rest of the code asks about a kind of agent (`agents.<role>.use`). A new one is one row here, one in
 * `src/agents/registry.ts`, and its own folder.
 */
interface AgentClient {
  /** A provider's own program, found by its name: `use` alone is enough to start it. */
  readonly isProgram: boolean;
  /** What to write where `agents.<role>.command` is missing; `null` where it may be. */
  readonly commandHint: string | null;
  /** Can it change files? One that cannot can only review. */
  readonly changesFiles: boolean;
  /** What the doctor looks at: the client itself, with these of its settings, or only the program of its command. */
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

/** Those that Remand starts by their name, without a command of the user's. */
export const CLIENT_PROGRAMS = AGENT_CLIENT_NAMES.filter(
  (name): name is ClientProgram => AGENT_CLIENTS[name].isProgram,
);

export const isClientProgram = (name: string): name is ClientProgram =>
  CLIENT_PROGRAMS.some((program) => program === name);
