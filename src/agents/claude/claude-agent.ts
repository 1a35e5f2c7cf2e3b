import { randomUUID } from "node:crypto";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Agent, AgentRequest } from "../../ports/agent.ts";
import type { Client, ClientAgentOptions, Launch, LaunchContext } from "../client/client.ts";
import { createClientAgent } from "../client/client-agent.ts";
import { PLATFORM, namelessSchema, onPath, watchPlaceholders } from "../client/client-program.ts";
import { createClaudeListener } from "./claude-listener.ts";
import { readJson } from "../../parse/data/data-text.ts";

/** Claude Code, by its command line client. */
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
    // An older version has no such command.
    if (!("loggedIn" in fields)) return "login not known: this version does not say";
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
  // The conversation has its name before the client is started: a crash cannot lose it.
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
      // Neither the worktree's settings, hooks, servers, commands and skills, nor the user's.
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
 * What is not in a list of tools is not there at all, for helpers of the agent's own neither. Who may only look has
 * no shell: what a command would write cannot be told from its text.
 */
const TOOLS: { readonly [A in AgentRequest["access"]]: readonly string[] } = {
  read: LOOKS,
  edit: CHANGES,
  full: EVERYTHING,
};

/** The role's own list only ever takes away: an access that has no shell does not get one by a file. */
function modeOf(access: AgentRequest["access"], named: AgentRequest["tools"]): readonly string[] {
  const tools = TOOLS[access].filter((tool) => named === undefined || named.some((each) => bareName(each) === tool));
  return ["--permission-mode", access === "read" ? "dontAsk" : "acceptEdits", "--tools", tools.join(",")];
}

/** `Bash(git log:*)` → `Bash` */
const bareName = (tool: string): string => tool.replace(/\([^]*$/, "").trim();

/** Commands that a role is content with, where it does not want them all. */
function commandsIn(named: AgentRequest["tools"]): readonly string[] | null {
  const shells = (named ?? ["Bash"]).filter((tool) => bareName(tool) === "Bash");
  return shells.includes("Bash") ? null : shells;
}

/** The tools that the agent may use without permission from a person, in addition to those its mode allows. */
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

/** By a file and not by an argument: other users of the machine can read those. */
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

/** Every command in a sandbox that lets it write in the worktree alone and reach no network; none outside of it. */
const SANDBOX = {
  enabled: true,
  autoAllowBashIfSandboxed: true,
  allowUnsandboxedCommands: false,
  failIfUnavailable: true,
};

/** Where a role names its commands, the sandbox is no reason to run others. */
function sandboxFor(named: AgentRequest["tools"]): object {
  return commandsIn(named) === null ? SANDBOX : { ...SANDBOX, autoAllowBashIfSandboxed: false };
}

async function hasSandbox({ env }: LaunchContext): Promise<boolean> {
  if (process.platform !== "linux") return false;
  return (await onPath("bwrap", env)) !== null && (await onPath("socat", env)) !== null;
}

const SWITCHES = {
  // It tries again by itself for a while; long waits are the engine's (see the listener).
  CLAUDE_CODE_MAX_RETRIES: "3",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
  // What one role notes for itself must not reach another.
  CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1",
};

/**
 * The client starts each command of the agent's by this, with the command as its only argument. So the client has its
 * login, and the programs that the agent runs have not.
 */
async function writePrefix(folder: string): Promise<string> {
  const path = join(folder, "run-without-login");
  const secrets = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS", "CLAUDE_CODE_OAUTH_TOKEN"];
  // The command is written for the user's own shell where the client knows that one, else for bash.
  const shell = 'case "${SHELL##*/}" in bash|zsh) exec "$SHELL" -c "$1" ;; *) exec bash -c "$1" ;; esac';
  await writeFile(path, `#!/bin/sh\nunset ${secrets.join(" ")}\n${shell}\n`);
  await chmod(path, 0o700);
  return path;
}
