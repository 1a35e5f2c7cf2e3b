import type { Tool, ToolAnswer } from "../../ports/agent.ts";
import { isRecord } from "../../stdx/assert.ts";
import { ownRedactor } from "../process/own-secrets.ts";

/**
 * The part of the Model Context Protocol that tools need: `initialize`, `ping`, `tools/list`, `tools/call`, and the
 * notification that cancels a call. The only state is the running calls.
 */
export interface McpSession {
  /** Returns the response to a message or a batch; `null` if none is due. Never rejects. */
  answer(message: unknown): Promise<object | null>;
  /** Cancels all running calls. */
  close(): void;
}

export interface McpOptions {
  readonly version: string;
}

export function createMcpSession(tools: readonly Tool[], options: McpOptions): McpSession {
  const calls: Calls = new Map();
  const one = async (message: unknown): Promise<object | null> =>
    ownRedactor().texts(await answerTo(message, { tools, options, calls }));
  return {
    async answer(message) {
      if (!Array.isArray(message)) return one(message);
      if (message.length === 0 || message.length > MOST_AT_ONCE) return fault(null, INVALID_REQUEST, "an odd batch");
      const answers = (await Promise.all(message.map(one))).filter((each) => each !== null);
      return answers.length === 0 ? null : answers;
    },
    close: () => calls.forEach((stop) => stop.abort()),
  };
}

type Id = string | number;
type Params = Readonly<Record<string, unknown>>;
type Calls = Map<unknown, AbortController>;

interface Context {
  readonly tools: readonly Tool[];
  readonly options: McpOptions;
  readonly calls: Calls;
}

async function answerTo(message: unknown, context: Context): Promise<object | null> {
  if (!isRecord(message) || message["jsonrpc"] !== "2.0")
    return fault(idOf(message), INVALID_REQUEST, "this is no JSON-RPC 2.0");
  const { method } = message;
  const params = isRecord(message["params"]) ? message["params"] : {};
  const id = idOf(message);
  if (typeof method !== "string") {
    // A message without a method is a response to a request that was never sent; ignore it.
    const isAnswer = "result" in message || "error" in message;
    return isAnswer ? null : fault(id, INVALID_REQUEST, "it names no method");
  }
  if (!("id" in message)) {
    if (method === "notifications/cancelled") context.calls.get(params["requestId"])?.abort();
    return null;
  }
  if (id === null) return fault(null, INVALID_REQUEST, "an id is a text or a number");
  try {
    return { jsonrpc: "2.0", id, result: await resultOf(method, params, id, context) };
  } catch (error) {
    return fault(id, error instanceof JsonRpcError ? error.code : INTERNAL, messageOf(error));
  }
}

async function resultOf(method: string, params: Params, id: Id, context: Context): Promise<object> {
  switch (method) {
    case "initialize":
      return welcome(params, context.options);
    case "ping":
      return {};
    case "tools/list":
      return { tools: context.tools.map(describeTool) };
    case "tools/call":
      return callTool(params, id, context);
    default:
      throw new JsonRpcError(NO_METHOD, `there is no method ${method.slice(0, 100)}`);
  }
}

/** Newest first: it is offered to a client that requests an unknown version. */
const VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

function welcome({ protocolVersion: wanted }: Params, { version }: McpOptions): object {
  return {
    protocolVersion: VERSIONS.find((known) => known === wanted) ?? VERSIONS[0],
    capabilities: { tools: { listChanged: false } },
    serverInfo: { name: "remand", version },
  };
}

function describeTool({ name, description, inputSchema, isReading }: Tool): object {
  return {
    name,
    description,
    inputSchema,
    annotations: { readOnlyHint: isReading, destructiveHint: false, openWorldHint: false },
    // Without it, Claude Code hides the tool behind a tool search.
    _meta: { "anthropic/alwaysLoad": true },
  };
}

async function callTool({ name, arguments: input }: Params, id: Id, { tools, calls }: Context): Promise<object> {
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined) {
    const asked = typeof name === "string" ? name.slice(0, 100) : "without a name";
    throw new JsonRpcError(
      INVALID_PARAMS,
      `there is no tool ${asked}; there are ${tools.map((each) => each.name).join(", ")}`,
    );
  }
  if (calls.has(id)) throw new JsonRpcError(INVALID_REQUEST, "that id is in use");
  const stop = new AbortController();
  calls.set(id, stop);
  try {
    return toolResult(await tool.call(input ?? {}, stop.signal));
  } catch (error) {
    // Return the error as a result, so that the model sees it too: it can fix most of them.
    return toolResult({ isError: true, text: messageOf(error) });
  } finally {
    calls.delete(id);
  }
}

function toolResult({ isError, text, data, isLast }: ToolAnswer): object {
  return {
    content: [{ type: "text", text }],
    isError,
    ...(data === undefined ? {} : { structuredContent: data }),
    ...(isLast === true ? { _meta: { "claude/endTurn": true } } : {}),
  };
}

class JsonRpcError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export const PARSE_FAULT = -32700;
const INVALID_REQUEST = -32600;
const NO_METHOD = -32601;
const INVALID_PARAMS = -32602;
const INTERNAL = -32603;
const MOST_AT_ONCE = 50;

export function fault(id: Id | null, code: number, message: string): object {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function idOf(message: unknown): Id | null {
  const id = isRecord(message) ? message["id"] : null;
  return typeof id === "string" || (typeof id === "number" && Number.isFinite(id)) ? id : null;
}
