import { randomUUID } from "node:crypto";
import {
  messageOf,
  tokensOf,
  type ModelAnswer,
  type ReadRequest,
  type StreamEvent,
  type Wire,
  typeOf,
} from "./wire.ts";

interface ResponsesBody {
  readonly model: string;
  readonly stream?: boolean;
  readonly input: string | readonly Item[];
  readonly tools?: readonly { readonly name?: string; readonly type: string }[];
  readonly text?: { readonly format?: { readonly schema?: object } };
}

interface Item {
  readonly type?: string;
  readonly role?: string;
  readonly content?: string | readonly { readonly text?: string }[];
  readonly output?: unknown;
}

/** OpenAI's Responses API. */
export const responsesWire: Wire = {
  api: "openai-responses",
  takes: (path) => path.endsWith("/responses"),
  read: readResponses,
  whole: responseOf,
  pieces: responsePieces,
  error: (failure) => ({
    error: { message: messageOf(failure), type: failure.type ?? "error", code: failure.type ?? null },
  }),
};

function readResponses(body: unknown): ReadRequest {
  const { model, stream = false, input: given, tools = [], text } = body as ResponsesBody;
  const input = typeof given === "string" ? [{ role: "user", content: given }] : given;
  const prompts = input.flatMap((item, at) => (isPrompt(item) ? [at] : []));
  const last = prompts.at(-1) ?? 0;
  const since = input.slice(last + 1);
  return {
    model,
    isStreamed: stream,
    prompt: itemText(input[last] ?? {}),
    round: prompts.length,
    step: since.filter(({ type }) => type === "function_call" || type === "custom_tool_call").length,
    toolResults: since
      .filter(({ type }) => type === "function_call_output" || type === "custom_tool_call_output")
      .map(({ output }) => (typeof output === "string" ? output : JSON.stringify(output))),
    tools: tools.map(({ name, type }) => name ?? type),
    form: text?.format?.schema ?? null,
  };
}

const itemText = ({ content = "" }: Item): string =>
  typeof content === "string" ? content : content.map(({ text }) => text ?? "").join("\n");

/** Codex sends its environment context as user messages, in tags. */
const isPrompt = (item: Item): boolean => item.role === "user" && !/^\s*<[a-z_]+>|^# AGENTS\.md/.test(itemText(item));

const newId = (kind: string): string => `${kind}_${randomUUID().replaceAll("-", "")}`;

function responseOf(answer: ModelAnswer, model: string, item = itemOf(answer)): object {
  const { input, output } = tokensOf(answer);
  return {
    id: newId("resp"),
    object: "response",
    created_at: 0,
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
}

function responsePieces(answer: ModelAnswer, model: string): readonly StreamEvent[] {
  const item = itemOf(answer);
  const response = responseOf(answer, model, item);
  return [
    { type: "response.created", response: { ...response, status: "in_progress", output: [], usage: null } },
    {
      type: "response.output_item.added",
      output_index: 0,
      item: { ...item, ...emptyAnswer(answer), status: "in_progress" },
    },
    { ...deltaOf(answer), item_id: item["id"], output_index: 0 },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response },
  ];
}

/** An item before its first piece of content. */
function emptyAnswer(answer: ModelAnswer): object {
  if (!("calls" in answer)) return { content: [] };
  return typeof answer.input === "string" ? { input: "" } : { arguments: "" };
}

function deltaOf(answer: ModelAnswer): StreamEvent {
  if ("says" in answer) return { type: "response.output_text.delta", content_index: 0, delta: answer.says };
  if ("refuses" in answer) return { type: "response.refusal.delta", content_index: 0, delta: answer.refuses };
  return typeof answer.input === "string"
    ? { type: "response.custom_tool_call_input.delta", delta: answer.input }
    : { type: "response.function_call_arguments.delta", delta: JSON.stringify(answer.input) };
}

function itemOf(answer: ModelAnswer): Readonly<Record<string, unknown>> {
  if (!("calls" in answer)) {
    const content =
      "says" in answer
        ? { type: "output_text", text: answer.says, annotations: [] }
        : { type: "refusal", refusal: answer.refuses };
    return { type: "message", id: newId("msg"), role: "assistant", status: "completed", content: [content] };
  }
  const call = { call_id: newId("call"), status: "completed" };
  if (typeof answer.input === "string")
    return { type: "custom_tool_call", id: newId("ctc"), ...call, name: answer.calls, input: answer.input };
  // The tools of an MCP server are in a namespace of their own.
  const [, namespace, name = answer.calls] = /^(mcp__[a-z]+)__(.+)$/.exec(answer.calls) ?? [];
  const place = namespace === undefined ? { name } : { name, namespace };
  return { type: "function_call", id: newId("fc"), ...call, ...place, arguments: JSON.stringify(answer.input) };
}

interface ChatBody {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly { readonly function?: { readonly name: string } }[];
  readonly response_format?: { readonly json_schema?: { readonly schema?: object } };
}

interface ChatMessage {
  readonly role: string;
  readonly content?: string | null | readonly { readonly text?: string }[];
  readonly tool_calls?: readonly object[];
}

/** OpenAI's Chat Completions API, which most other providers also support. */
export const chatWire: Wire = {
  api: "openai-chat",
  takes: (path) => path.endsWith("/chat/completions"),
  read: readChat,
  whole: (answer, model) => ({
    ...envelope(model),
    object: "chat.completion",
    choices: [{ index: 0, message: { role: "assistant", ...messageIn(answer) }, finish_reason: endingOf(answer) }],
    usage: usageOf(answer),
  }),
  pieces: chatPieces,
  end: "[DONE]",
  error: (failure) => ({ error: { message: messageOf(failure), type: typeOf(failure), code: failure.type ?? null } }),
};

function readChat(body: unknown): ReadRequest {
  const { model, stream = false, messages, tools = [], response_format: wanted } = body as ChatBody;
  const prompts = messages.flatMap(({ role }, at) => (role === "user" ? [at] : []));
  const last = prompts.at(-1) ?? 0;
  const since = messages.slice(last + 1);
  return {
    model,
    isStreamed: stream,
    prompt: textOf(messages[last]),
    round: prompts.length,
    step: since.reduce((count, { tool_calls: calls = [] }) => count + calls.length, 0),
    toolResults: since.filter(({ role }) => role === "tool").map(textOf),
    tools: tools.flatMap((tool) => tool.function?.name ?? []),
    form: wanted?.json_schema?.schema ?? null,
  };
}

function textOf(message: ChatMessage | undefined): string {
  const content = message?.content ?? "";
  return typeof content === "string" ? content : content.map(({ text }) => text ?? "").join("\n");
}

const envelope = (model: string): { readonly id: string } & Readonly<Record<string, unknown>> => ({
  id: `chatcmpl-${randomUUID()}`,
  created: 0,
  model,
});

function messageIn(answer: ModelAnswer): object {
  if ("says" in answer) return { content: answer.says };
  if ("refuses" in answer) return { content: null, refusal: answer.refuses };
  const text = typeof answer.input === "string" ? answer.input : JSON.stringify(answer.input);
  const call = { index: 0, id: `call_${randomUUID()}`, type: "function" };
  return { content: null, tool_calls: [{ ...call, function: { name: answer.calls, arguments: text } }] };
}

const endingOf = (answer: ModelAnswer): string =>
  "calls" in answer ? "tool_calls" : "refuses" in answer ? "content_filter" : "stop";

function usageOf(answer: ModelAnswer): object {
  const { input, output } = tokensOf(answer);
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

function chatPieces(answer: ModelAnswer, model: string): readonly StreamEvent[] {
  const chunk = { ...envelope(model), object: "chat.completion.chunk" };
  const choice = (delta: object, finish_reason: string | null): object => ({ index: 0, delta, finish_reason });
  return [
    { ...chunk, choices: [choice({ role: "assistant", ...messageIn(answer) }, null)] },
    { ...chunk, choices: [choice({}, endingOf(answer))] },
    { ...chunk, choices: [], usage: usageOf(answer) },
  ];
}
