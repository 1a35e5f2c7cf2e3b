import { randomUUID } from "node:crypto";
import { TOKENS_OF_ANSWER, type ModelRequest, type Reply } from "./model.ts";

type Read = Omit<ModelRequest, "api" | "text" | "headers">;
type Event = { readonly type: string } & Readonly<Record<string, unknown>>;

interface Message {
  readonly role: string;
  readonly content: string | readonly Block[];
}

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly content?: string | readonly Block[];
}

/** A request of the Messages API. Reminders may stand after the prompt with a role of their own: they are no prompts. */
export function readAnthropic(body: unknown): Read {
  const {
    model,
    messages,
    tools = [],
  } = body as {
    model: string;
    messages: readonly Message[];
    tools?: readonly { name: string }[];
  };
  const prompts = messages.flatMap((message, at) => (isPrompt(message) ? [at] : []));
  const last = prompts.at(-1) ?? 0;
  const since = messages.slice(last + 1).flatMap(({ content }) => blocks(content));
  return {
    model,
    prompt: blocks(messages[last]?.content ?? "")
      .map(blockText)
      .join("\n"),
    round: prompts.length,
    step: since.filter(({ type }) => type === "tool_use").length,
    toolResults: since.filter(({ type }) => type === "tool_result").map(blockText),
    tools: tools.map(({ name }) => name),
  };
}

const blocks = (content: string | readonly Block[]): readonly Block[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : content;

const blockText = ({ text, content }: Block): string =>
  text ??
  blocks(content ?? [])
    .map(blockText)
    .join("\n");

const isPrompt = ({ role, content }: Message): boolean =>
  role === "user" && !blocks(content).some(({ type }) => type === "tool_result");

export function anthropicReply(
  { model }: ModelRequest,
  reply: Extract<Reply, { says: string } | { calls: string }>,
): Event[] {
  const usage = { input_tokens: TOKENS_OF_ANSWER.input, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  const calls = "calls" in reply;
  const stop = calls ? "tool_use" : (reply.stops ?? "end_turn");
  const block = calls
    ? { type: "tool_use", id: `toolu_${randomUUID().replaceAll("-", "")}`, name: reply.calls, input: {} }
    : { type: "text", text: "" };
  const delta = calls
    ? { type: "input_json_delta", partial_json: JSON.stringify(reply.input) }
    : { type: "text_delta", text: reply.says };
  return [
    {
      type: "message_start",
      message: {
        id: `msg_${randomUUID().replaceAll("-", "")}`,
        type: "message",
        role: "assistant",
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...usage, output_tokens: 1 },
      },
    },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: stop, stop_sequence: null },
      usage: { ...usage, output_tokens: TOKENS_OF_ANSWER.output },
    },
    { type: "message_stop" },
  ];
}

export function anthropicError({ fails, type, message }: Extract<Reply, { fails: number }>): object {
  const known: Readonly<Record<number, string>> = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
  };
  return {
    type: "error",
    error: { type: type ?? known[fails] ?? "api_error", message: message ?? `the script says ${fails}` },
  };
}
