import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Agent, AgentRequest } from "../../ports/agent.ts";
import type { Client, ClientAgentOptions, Launch, Scene } from "./client.ts";
import { createClientAgent } from "./client-agent.ts";
import { watchPlaceholders } from "./client-placeholders.ts";
import { createCodexListener } from "./codex-listener.ts";
import { strictSchema } from "./codex-schema.ts";

/** Codex, by its command line client. */
export function createCodexAgent(options: ClientAgentOptions): Agent {
  return createClientAgent(CODEX, options);
}

const CODEX: Client = {
  name: "codex",
  install: "install Codex (npm install -g @openai/codex), or name it in the role's `command`",
  launch,
};

async function launch(scene: Scene): Promise<Launch> {
  const { options, request, access, session, onEvent } = scene;
  if (session !== null) onEvent({ type: "session", session });
  const schemaFile = request.outputSchema === null ? null : join(scene.folder, "schema.json");
  if (schemaFile !== null)
    await writeFile(schemaFile, JSON.stringify(strictSchema(request.outputSchema!)), { mode: 0o600 });
  return {
    args: [
      "exec",
      "--json",
      "--skip-git-repo-check",
      "--cd",
      request.cwd,
      ...ACCESS[access],
      ...nothingOfTheirs(request.cwd),
      ...settings({
        // Nobody is there to be asked.
        approval_policy: "never",
        "analytics.enabled": false,
        // The client has its login, and the programs that the agent runs have not.
        "shell_environment_policy.inherit": "all",
        "shell_environment_policy.exclude": ["OPENAI_*", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN", TOKEN_VARIABLE],
      }),
      ...serverOf(request.mcpServer),
      ...(request.model === null ? [] : ["--model", request.model]),
      ...(schemaFile === null ? [] : ["--output-schema", schemaFile]),
      ...(options.args ?? []),
      ...(session === null ? [] : ["resume", session.id]),
      "-",
    ],
    env: request.mcpServer === undefined ? scene.env : { ...scene.env, [TOKEN_VARIABLE]: request.mcpServer.token },
    listener: createCodexListener(request.outputSchema, onEvent, scene.now),
    after: (await watchPlaceholders(request.cwd)).remove,
  };
}

/**
 * Neither the worktree's settings, hooks, servers, rules, skills and instructions, nor the user's. A project that the
 * user once trusted is not trusted here: the agent before may have written what would be run now.
 */
function nothingOfTheirs(cwd: string): readonly string[] {
  return [
    "--ignore-user-config",
    "--ignore-rules",
    ...["hooks", "plugins", "apps"].flatMap((feature) => ["--disable", feature]),
    ...settings({ project_doc_max_bytes: 0, "skills.include_instructions": false }),
    "-c",
    `projects={${JSON.stringify(cwd)}={trust_level="untrusted"}}`,
  ];
}

const TOKEN_VARIABLE = "REMAND_MCP_TOKEN";

/** Without `required` it would begin before the tools are there; and nobody could be asked whether it may call them. */
function serverOf(server: AgentRequest["mcpServer"]): readonly string[] {
  if (server === undefined) return [];
  const { name, url, tools } = server;
  return settings({
    [`mcp_servers.${name}.url`]: url,
    [`mcp_servers.${name}.bearer_token_env_var`]: TOKEN_VARIABLE,
    [`mcp_servers.${name}.enabled_tools`]: tools,
    [`mcp_servers.${name}.default_tools_approval_mode`]: "approve",
    [`mcp_servers.${name}.required`]: true,
  });
}

const ACCESS: { readonly [A in AgentRequest["access"]]: readonly string[] } = {
  read: ["--sandbox", "read-only"],
  edit: [
    "--sandbox",
    "workspace-write",
    // Else a sandbox in which every worktree below the place for temporary files can be written.
    ...settings({
      "sandbox_workspace_write.exclude_slash_tmp": true,
      "sandbox_workspace_write.exclude_tmpdir_env_var": true,
    }),
  ],
  full: ["--sandbox", "danger-full-access"],
};

/** What is JSON for these values is TOML too. */
function settings(values: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(values).flatMap(([name, value]) => ["-c", `${name}=${JSON.stringify(value)}`]);
}
