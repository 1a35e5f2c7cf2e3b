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

interface AnthropicBody {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: readonly AnthropicMessage[];
  readonly tools?: readonly { readonly name: string; readonly input_schema?: object }[];
  readonly output_config?: { readonly format?: { readonly schema?: object } };
}

interface AnthropicMessage {
  readonly role: string;
  readonly content: string | readonly AnthropicBlock[];
}

interface AnthropicBlock {
  readonly type: string;
  readonly text?: string;
  readonly content?: string | readonly AnthropicBlock[];
}

/** The Messages API. */
export const anthropicWire: Wire = {
  api: "anthropic",
  takes: (path) => path.endsWith("/messages"),
  read,
  whole: (answer, model) => ({
    ...messageIn(answer, model),
    content: [contentOf(answer)],
    stop_reason: stopOf(answer),
    usage: usageOf(answer),
  }),
  pieces,
  error: (failure) => ({ type: "error", error: { type: typeOf(failure), message: messageOf(failure) } }),
};

/** Reads a request. Reminders with a role of their own may follow the prompt; they are not prompts. */
function read(body: unknown): ReadRequest {
  const { model, stream = false, messages, tools = [], output_config: wanted } = body as AnthropicBody;
  const prompts = messages.flatMap((message, at) => (isPrompt(message) ? [at] : []));
  const last = prompts.at(-1) ?? 0;
  const since = messages.slice(last + 1).flatMap(({ content }) => blocks(content));
  return {
    model,
    isStreamed: stream,
    prompt: blocks(messages[last]?.content ?? "")
      .map(blockText)
      .join("\n"),
    round: prompts.length,
    step: since.filter(({ type }) => type === "tool_use").length,
    toolResults: since.filter(({ type }) => type === "tool_result").map(blockText),
    tools: tools.map(({ name }) => name),
    form: wanted?.format?.schema ?? tools.find(({ name }) => name === "StructuredOutput")?.input_schema ?? null,
  };
}

const blocks = (content: string | readonly AnthropicBlock[]): readonly AnthropicBlock[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : content;

const blockText = ({ text, content }: AnthropicBlock): string =>
  text ??
  blocks(content ?? [])
    .map(blockText)
    .join("\n");

const isPrompt = ({ role, content }: AnthropicMessage): boolean =>
  role === "user" && !blocks(content).some(({ type }) => type === "tool_result");

const newId = (kind: string): string => `${kind}_${randomUUID().replaceAll("-", "")}`;

const messageIn = (answer: ModelAnswer, model: string): object => ({
  id: newId("msg"),
  type: "message",
  role: "assistant",
  model,
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: { ...usageOf(answer), output_tokens: 1 },
});

function usageOf(answer: ModelAnswer): object {
  const { input, output } = tokensOf(answer);
  return {
    input_tokens: input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: output,
  };
}

const stopOf = (answer: ModelAnswer): string =>
  "calls" in answer ? "tool_use" : "refuses" in answer ? "refusal" : "end_turn";

function contentOf(answer: ModelAnswer): object {
  if ("calls" in answer) return { type: "tool_use", id: newId("toolu"), name: answer.calls, input: answer.input };
  return { type: "text", text: "says" in answer ? answer.says : answer.refuses };
}

function pieces(answer: ModelAnswer, model: string): readonly StreamEvent[] {
  const content = contentOf(answer);
  const [block, delta] =
    "calls" in answer
      ? [
          { ...content, input: {} },
          { type: "input_json_delta", partial_json: JSON.stringify(answer.input) },
        ]
      : [
          { type: "text", text: "" },
          { ...content, type: "text_delta" },
        ];
  return [
    { type: "message_start", message: messageIn(answer, model) },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: stopOf(answer), stop_sequence: null },
      usage: usageOf(answer),
    },
    { type: "message_stop" },
  ];
}
