import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Agent, AgentControl, AgentRequest } from "../../ports/agent.ts";
import type {
  Client,
  ClientAgentOptions,
  ClientListener,
  ClientReport,
  Launch,
  LaunchContext,
} from "../client/client.ts";
import { createClientAgent } from "../client/client-agent.ts";
import { watchPlaceholders } from "../client/client-program.ts";
import type { ProcessResult } from "../../adapters/process/run-process.ts";
import {
  type UsedTokens,
  type WireEvent,
  amountIn,
  eventIn,
  listIn,
  shownLines,
  textIn,
  type TokenParts,
  partsIn,
} from "../client/client-wire.ts";
import { strictSchema, withoutNulls, codexError } from "./codex-wire.ts";
import { CODEX_PROGRAM } from "./codex-program.ts";
import type { Sandbox } from "../../ports/sandbox.ts";

/** Reads the output of `codex exec --json`. */
export function createCodexListener(
  outputSchema: object | null,
  onEvent: AgentControl["onEvent"],
  now: () => number,
): ClientListener {
  const progress: CodexProgress = {
    denied: [],
    session: null,
    lastText: "",
    conversation: null,
    parts: null,
    failure: null,
    isOver: false,
  };
  return {
    read(event) {
      readEvent(event, progress, onEvent);
      // The client retries for a few seconds only, so there is no need to end it.
      return null;
    },
    readError(line) {
      const [, reason] = REJECTED.exec(line) ?? [];
      if (reason !== undefined) progress.denied.push(reason.slice(0, 300));
    },
    report: (ended): ClientReport => ({
      isOver: progress.isOver,
      session: progress.session,
      text: progress.lastText,
      output:
        outputSchema === null || !progress.isOver || progress.failure !== null
          ? null
          : outputIn(progress.lastText, outputSchema),
      counted: { run: null, conversation: progress.conversation, leastTokens: 0 },
      parts: progress.parts,
      denied: progress.denied,
      error:
        progress.failure === null ? startError(ended, progress.isOver, now()) : codexError(progress.failure, now()),
      isUnknownSession: !progress.isOver && /no rollout found|thread\/resume failed/i.test(ended.stderr),
    }),
  };
}

interface CodexProgress {
  readonly denied: string[];
  session: string | null;
  lastText: string;
  conversation: UsedTokens | null;
  /** The tokens of the whole conversation, by kind. */
  parts: TokenParts | null;
  failure: string | null;
  isOver: boolean;
}

function readEvent(event: WireEvent, progress: CodexProgress, onEvent: AgentControl["onEvent"]): void {
  switch (event["type"]) {
    case "thread.started":
      progress.session = textIn(event["thread_id"]);
      if (progress.session !== null) onEvent({ type: "session", session: { agent: "codex", id: progress.session } });
      return;
    case "item.started":
    case "item.completed":
      for (const line of readItem(eventIn(event["item"]) ?? {}, event["type"] === "item.completed", progress))
        onEvent({ type: "output", line });
      return;
    case "turn.completed":
      progress.isOver = true;
      progress.failure = null;
      progress.conversation = usedIn(event["usage"]);
      progress.parts = partsIn(event["usage"], ["input_tokens"], "output_tokens", "cached_input_tokens");
      return;
    case "turn.failed":
      progress.isOver = true;
      progress.failure = textIn(eventIn(event["error"])?.["message"]) ?? "it did not say why";
      return;
    default:
      return;
  }
}

/** Reads an item and returns the lines to show for it. */
function readItem(item: WireEvent, isDone: boolean, progress: CodexProgress): readonly string[] {
  switch (item["type"]) {
    case "agent_message":
      if (!isDone) return [];
      progress.lastText = textIn(item["text"]) ?? "";
      return shownLines(progress.lastText);
    case "command_execution":
      return isDone ? [] : [`→ ${shownLines(textIn(item["command"]) ?? "")[0] ?? ""}`];
    case "file_change":
      return isDone ? [`→ ${item["status"] === "failed" ? "could not edit" : "edited"} ${pathsIn(item)}`] : [];
    default:
      return [];
  }
}

/** Refusals of its sandbox appear only on stderr. */
const REJECTED = /error=(patch rejected: .*|approval policy is Never.*|.*sandbox.*denied.*)$/i;

/** Returns an error before the first turn, which the client prints as a sentence on stderr. */
function startError(ended: ProcessResult, isOver: boolean, nowMs: number): ClientReport["error"] {
  const [, message] = isOver || ended.status !== "exited" ? [] : (/^Error: (.+)$/m.exec(ended.stderr) ?? []);
  return message === undefined ? null : codexError(message, nowMs);
}

function pathsIn(item: WireEvent): string {
  const paths = listIn(item["changes"]).flatMap((change) => textIn(eventIn(change)?.["path"]) ?? []);
  return paths.length > 5 ? `${paths.slice(0, 5).join(", ")} and ${paths.length - 5} more` : paths.join(", ");
}

/** Returns the tokens used. Cached tokens are part of the input, and reasoning tokens part of the output. */
function usedIn(usage: unknown): UsedTokens | null {
  const fields = eventIn(usage);
  if (fields === null) return null;
  const tokens = Math.round((amountIn(fields["input_tokens"]) ?? 0) + (amountIn(fields["output_tokens"]) ?? 0));
  // The client never reports a cost.
  return { tokens, costUsd: null };
}

function outputIn(text: string, schema: object): unknown {
  try {
    return withoutNulls(JSON.parse(text), schema);
  } catch {
    return null;
  }
}

/** Runs Codex through its command line client. */
export function createCodexAgent(options: ClientAgentOptions): Agent {
  return createClientAgent(CODEX, options);
}

const CODEX: Client = {
  ...CODEX_PROGRAM,
  install: "install Codex (npm install -g @openai/codex), or name it in the role's `command`",
  launch,
};

async function launch(scene: LaunchContext): Promise<Launch> {
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
      ...ACCESS[access === "edit" && isHeld(options.sandbox) ? "full" : access],
      ...nothingOfTheirs(request.cwd),
      ...settings({
        // No person can be asked during a dispatch.
        approval_policy: "never",
        "analytics.enabled": false,
        // The client needs the login, and the agent's programs must not get it.
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
 * Returns options that load no settings, hooks, servers, rules, skills or instructions, neither the worktree's nor the
 * user's. A project that the user once trusted is not trusted here, because an earlier agent may have written what
 * would be run.
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

/**
 * Returns the settings of the MCP server. `required` makes the client wait for its tools. They are approved here,
 * because no person can be asked later.
 */
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

/**
 * Whether Remand's sandbox protects files and processes. Then the client's own sandbox for editing is left out: it
 * cannot always be made inside, and Remand's allows no more writes.
 */
const isHeld = (sandbox: Sandbox | undefined): boolean =>
  sandbox !== undefined && (["files", "processes"] as const).every((each) => sandbox.level.held.includes(each));

const ACCESS: { readonly [A in AgentRequest["access"]]: readonly string[] } = {
  read: ["--sandbox", "read-only"],
  edit: [
    "--sandbox",
    "workspace-write",
    // Without these, every worktree below the system's temporary folder would be writable.
    ...settings({
      "sandbox_workspace_write.exclude_slash_tmp": true,
      "sandbox_workspace_write.exclude_tmpdir_env_var": true,
    }),
  ],
  full: ["--sandbox", "danger-full-access"],
};

/** Returns settings as arguments. JSON of these values is also valid TOML. */
function settings(values: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(values).flatMap(([name, value]) => ["-c", `${name}=${JSON.stringify(value)}`]);
}
