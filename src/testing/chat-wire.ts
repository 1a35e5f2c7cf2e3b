import { randomUUID } from "node:crypto";
import {
  messageOf,
  tokensOf,
  typeOf,
  type ModelAnswer,
  type ReadRequest,
  type StreamEvent,
  type Wire,
} from "./wire.ts";

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

/** OpenAI's Chat Completions API, which most other providers speak too. */
export const chatWire: Wire = {
  api: "openai-chat",
  takes: (path) => path.endsWith("/chat/completions"),
  read,
  whole: (answer, model) => ({
    ...envelope(model),
    object: "chat.completion",
    choices: [{ index: 0, message: { role: "assistant", ...messageIn(answer) }, finish_reason: endingOf(answer) }],
    usage: usageOf(answer),
  }),
  pieces,
  end: "[DONE]",
  error: (failure) => ({ error: { message: messageOf(failure), type: typeOf(failure), code: failure.type ?? null } }),
};

function read(body: unknown): ReadRequest {
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

function pieces(answer: ModelAnswer, model: string): readonly StreamEvent[] {
  const chunk = { ...envelope(model), object: "chat.completion.chunk" };
  const choice = (delta: object, finish_reason: string | null): object => ({ index: 0, delta, finish_reason });
  return [
    { ...chunk, choices: [choice({ role: "assistant", ...messageIn(answer) }, null)] },
    { ...chunk, choices: [choice({}, endingOf(answer))] },
    { ...chunk, choices: [], usage: usageOf(answer) },
  ];
}
