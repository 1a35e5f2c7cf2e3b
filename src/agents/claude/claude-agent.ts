import { randomUUID } from "node:crypto";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Agent, AgentRequest } from "../../ports/agent.ts";
import type { Client, ClientAgentOptions, Launch, LaunchContext } from "../client/client.ts";
import { createClientAgent } from "../client/client-agent.ts";
import { PLATFORM, namelessSchema, onPath, watchPlaceholders } from "../client/client-program.ts";
import { createClaudeListener } from "./claude-listener.ts";
import { readJson } from "../../parse/data/data-text.ts";

/** Runs Claude Code through its command line client. */
export function createClaudeAgent(options: ClientAgentOptions): Agent {
  return createClientAgent(CLAUDE, options);
}

export const CLAUDE: Client = {
  name: "claude",
  installCommand: "npm install -g @anthropic-ai/claude-code",
  needs: [
    "ANTHROPIC_*",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
  ],
  packaged: [
    join("@anthropic-ai", `claude-code-${PLATFORM}`, "claude"),
    join("@anthropic-ai", "claude-code", "bin", "claude.exe"),
  ],
  loginFix: "Run `claude` and log in, or set ANTHROPIC_API_KEY.",
  async login(ask) {
    const status = await ask("auth", "status");
    const data = readJson(status.stdout.trim());
    const fields = data.ok && typeof data.value === "object" && data.value !== null ? data.value : {};
    // An older version without this command.
    if (!("loggedIn" in fields)) return "login unknown: this version does not say";
    if (fields.loggedIn !== true) return null;
    return "authMethod" in fields && typeof fields.authMethod === "string"
      ? `login by ${fields.authMethod}`
      : "logged in";
  },
  async sandbox(env) {
    const hasBoth = (await onPath("bwrap", env)) !== null && (await onPath("socat", env)) !== null;
    return hasBoth ? ", sandbox for its commands" : ", no sandbox for its commands (install bubblewrap and socat)";
  },
  install: "install Claude Code (npm install -g @anthropic-ai/claude-code), or name it in the role's `command`",
  launch,
};

async function launch(scene: LaunchContext): Promise<Launch> {
  const { options, request, access, session, onEvent } = scene;
  // The id is chosen before the client starts, so that a crash cannot lose the conversation.
  const id = session?.id ?? randomUUID();
  onEvent({ type: "session", session: session ?? { agent: "claude", id } });
  const isBoxed = access === "edit" && (await hasSandbox(scene));
  const placeholders = isBoxed ? await watchPlaceholders(request.cwd) : null;
  return {
    args: [
      "-p",
      "--output-format",
      "stream-json",
      "--verbose",
      // Load no settings, hooks, servers, commands or skills, neither the worktree's nor the user's.
      "--setting-sources",
      "",
      "--strict-mcp-config",
      "--disable-slash-commands",
      ...(session === null ? ["--session-id", id] : ["--resume", id]),
      ...modeOf(access, request.tools),
      ...allowedTools(access, request),
      ...(await serverOf(scene)),
      ...(isBoxed ? ["--settings", JSON.stringify({ sandbox: sandboxFor(request.tools) })] : []),
      ...(request.model === null ? [] : ["--model", request.model]),
      ...(request.maxCostUsd === undefined ? [] : ["--max-budget-usd", Math.max(request.maxCostUsd, 1e-6).toFixed(6)]),
      ...(request.outputSchema === null ? [] : ["--json-schema", JSON.stringify(namelessSchema(request.outputSchema))]),
      ...(options.args ?? []),
    ],
    env: { ...scene.env, ...SWITCHES, CLAUDE_CODE_SHELL_PREFIX: await writePrefix(scene.folder) },
    listener: createClaudeListener(onEvent, scene.now),
    ...(placeholders === null ? {} : { after: placeholders.remove }),
  };
}

const LOOKS = ["Read", "Grep", "Glob"];
const CHANGES = [...LOOKS, "Edit", "Write", "NotebookEdit", "Bash", "Task", "TodoWrite"];
const EVERYTHING = [...CHANGES, "WebFetch", "WebSearch"];

/**
 * The tools per access. A tool that is not listed does not exist, for subagents neither. Read access has no shell,
 * because a command's text does not show what it writes.
 */
const TOOLS: { readonly [A in AgentRequest["access"]]: readonly string[] } = {
  read: LOOKS,
  edit: CHANGES,
  full: EVERYTHING,
};

/** Returns the mode and tools. The role's own list can only remove tools, so a role file cannot add a shell. */
function modeOf(access: AgentRequest["access"], named: AgentRequest["tools"]): readonly string[] {
  const tools = TOOLS[access].filter((tool) => named === undefined || named.some((each) => bareName(each) === tool));
  return ["--permission-mode", access === "read" ? "dontAsk" : "acceptEdits", "--tools", tools.join(",")];
}

/** `Bash(git log:*)` → `Bash` */
const bareName = (tool: string): string => tool.replace(/\([^]*$/, "").trim();

/** Returns the only commands that a role allows; `null` if it allows all. */
function commandsIn(named: AgentRequest["tools"]): readonly string[] | null {
  const shells = (named ?? ["Bash"]).filter((tool) => bareName(tool) === "Bash");
  return shells.includes("Bash") ? null : shells;
}

/** Returns the tools that the agent may use without permission from a person, in addition to those its mode allows. */
function allowedTools(
  access: AgentRequest["access"],
  { mcpServer: server, tools: named }: Pick<AgentRequest, "mcpServer" | "tools">,
): readonly string[] {
  const commands = access === "read" ? [] : (commandsIn(named) ?? (access === "full" ? ["Bash"] : []));
  const names = [
    ...commands,
    ...(access === "full" ? ["WebFetch", "WebSearch"] : []),
    ...(server?.tools ?? []).map((tool) => `mcp__${server!.name}__${tool}`),
  ];
  return names.length === 0 ? [] : ["--allowedTools", names.join(",")];
}

/** Passes the server by a file, because other users of the machine can read arguments. */
async function serverOf({ request: { mcpServer }, folder }: LaunchContext): Promise<readonly string[]> {
  if (mcpServer === undefined) return [];
  const { name, url, token } = mcpServer;
  const headers = { Authorization: `Bearer ${token}` };
  const path = join(folder, "mcp.json");
  await writeFile(path, JSON.stringify({ mcpServers: { [name]: { type: "http", url, headers, alwaysLoad: true } } }), {
    mode: 0o600,
  });
  return ["--mcp-config", path];
}

/** Runs every command in a sandbox that can write only in the worktree and has no network. */
const SANDBOX = {
  enabled: true,
  autoAllowBashIfSandboxed: true,
  allowUnsandboxedCommands: false,
  failIfUnavailable: true,
};

/** If a role names its commands, the sandbox must not approve others. */
function sandboxFor(named: AgentRequest["tools"]): object {
  return commandsIn(named) === null ? SANDBOX : { ...SANDBOX, autoAllowBashIfSandboxed: false };
}

async function hasSandbox({ env }: LaunchContext): Promise<boolean> {
  if (process.platform !== "linux") return false;
  return (await onPath("bwrap", env)) !== null && (await onPath("socat", env)) !== null;
}

const SWITCHES = {
  // The client retries for a while; long waits are left to the engine (see the listener).
  CLAUDE_CODE_MAX_RETRIES: "3",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
  // Notes of one role must not reach another.
  CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1",
};

/**
 * Writes the program with which the client starts each command of the agent, with the command as its only argument. It
 * removes the login's variables: the client needs them, and the agent's programs must not get them.
 */
async function writePrefix(folder: string): Promise<string> {
  const path = join(folder, "run-without-login");
  const secrets = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS", "CLAUDE_CODE_OAUTH_TOKEN"];
  // The client writes commands for the user's shell if it knows that shell, otherwise for bash.
  const shell = 'case "${SHELL##*/}" in bash|zsh) exec "$SHELL" -c "$1" ;; *) exec bash -c "$1" ;; esac';
  await writeFile(path, `#!/bin/sh\nunset ${secrets.join(" ")}\n${shell}\n`);
  await chmod(path, 0o700);
  return path;
}
