import { randomUUID } from "node:crypto";
import { TOKENS_OF_ANSWER, type ModelRequest, type Reply } from "./model.ts";

type Read = Omit<ModelRequest, "api" | "text" | "headers">;
type Event = { readonly type: string } & Readonly<Record<string, unknown>>;

interface Item {
  readonly type?: string;
  readonly role?: string;
  readonly content?: string | readonly { readonly text?: string }[];
  readonly output?: unknown;
}

/** A request of the Responses API. */
export function readOpenAi(body: unknown): Read {
  const {
    model,
    input,
    tools = [],
  } = body as {
    model: string;
    input: readonly Item[];
    tools?: readonly { name?: string; type: string }[];
  };
  // What the client says about the surroundings comes as the user's word, in tags.
  const prompts = input.flatMap((item, at) => (isPrompt(item) ? [at] : []));
  const last = prompts.at(-1) ?? 0;
  const since = input.slice(last + 1);
  return {
    model,
    prompt: itemText(input[last] ?? {}),
    round: prompts.length,
    step: since.filter(({ type }) => type === "function_call" || type === "custom_tool_call").length,
    toolResults: since
      .filter(({ type }) => type === "function_call_output" || type === "custom_tool_call_output")
      .map(({ output }) => (typeof output === "string" ? output : JSON.stringify(output))),
    tools: tools.map(({ name, type }) => name ?? type),
  };
}

const itemText = ({ content = "" }: Item): string =>
  typeof content === "string" ? content : content.map(({ text }) => text ?? "").join("\n");

const isPrompt = (item: Item): boolean => item.role === "user" && !/^\s*<[a-z_]+>|^# AGENTS\.md/.test(itemText(item));

export function openAiReply(
  { model }: ModelRequest,
  reply: Extract<Reply, { says: string } | { calls: string }>,
): Event[] {
  const id = `resp_${randomUUID().replaceAll("-", "")}`;
  const item = itemOf(reply);
  const { input, output } = TOKENS_OF_ANSWER;
  const response = {
    id,
    object: "response",
    model,
    status: "completed",
    output: [item],
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    },
  };
  return [
    { type: "response.created", response: { id, object: "response", model, status: "in_progress", output: [] } },
    { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress" } },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response },
  ];
}

function itemOf(reply: Extract<Reply, { says: string } | { calls: string }>): object {
  const id = randomUUID().replaceAll("-", "");
  if ("says" in reply)
    return {
      type: "message",
      id: `msg_${id}`,
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: reply.says, annotations: [] }],
    };
  if (typeof reply.input === "string")
    return { type: "custom_tool_call", id: `ctc_${id}`, call_id: `call_${id}`, name: reply.calls, input: reply.input };
  const args = JSON.stringify(reply.input);
  // A server's tools are in a namespace of their own.
  const [, namespace, name = reply.calls] = /^(mcp__[a-z]+)__(.+)$/.exec(reply.calls) ?? [];
  const place = namespace === undefined ? { name } : { name, namespace };
  return { type: "function_call", id: `fc_${id}`, call_id: `call_${id}`, ...place, arguments: args };
}

export function openAiError({ fails, type, message }: Extract<Reply, { fails: number }>): object {
  return { error: { message: message ?? `the script says ${fails}`, type: type ?? "error", code: type ?? null } };
}
