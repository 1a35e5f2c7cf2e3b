import { messageOf, tokensOf, type ModelAnswer, type ReadRequest, type Wire } from "./wire.ts";

interface GeminiBody {
  readonly contents: readonly Content[];
  readonly tools?: readonly { readonly functionDeclarations?: readonly { readonly name: string }[] }[];
  readonly generationConfig?: { readonly responseJsonSchema?: object; readonly responseSchema?: object };
}

interface Content {
  readonly role?: string;
  readonly parts: readonly GeminiPart[];
}

interface GeminiPart {
  readonly text?: string;
  readonly functionCall?: object;
  readonly functionResponse?: { readonly response?: unknown };
}

const PATH = /\/models\/([^/]+):(generateContent|streamGenerateContent)$/;

/** Google's Gemini API. */
export const geminiWire: Wire = {
  api: "gemini",
  takes: (path) => PATH.test(path),
  read,
  whole: answerOf,
  // A stream may consist of one piece.
  pieces: (answer, model) => [{ ...answerOf(answer, model) }],
  error: (failure) => ({
    error: { code: failure.fails, message: messageOf(failure), status: failure.type ?? statusOf(failure.fails) },
  }),
};

function read(body: unknown, path: string): ReadRequest {
  const [, model = "", method] = PATH.exec(path) ?? [];
  const { contents, tools = [], generationConfig: wanted } = body as GeminiBody;
  const prompts = contents.flatMap((content, at) => (isPrompt(content) ? [at] : []));
  const last = prompts.at(-1) ?? 0;
  const since = contents.slice(last + 1).flatMap(({ parts }) => parts);
  return {
    model: decodeURIComponent(model),
    isStreamed: method === "streamGenerateContent",
    prompt: (contents[last]?.parts ?? []).map(({ text }) => text ?? "").join("\n"),
    round: prompts.length,
    step: since.filter(({ functionCall }) => functionCall !== undefined).length,
    toolResults: since.flatMap(({ functionResponse: result }) =>
      result === undefined ? [] : [JSON.stringify(result.response ?? null)],
    ),
    tools: tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name)),
    form: wanted?.responseJsonSchema ?? wanted?.responseSchema ?? null,
  };
}

const isPrompt = ({ role, parts }: Content): boolean =>
  role !== "model" && !parts.some(({ functionResponse }) => functionResponse !== undefined);

function answerOf(answer: ModelAnswer, model: string): object {
  const { input, output } = tokensOf(answer);
  const parts =
    "says" in answer ? [{ text: answer.says }] : "calls" in answer ? [{ functionCall: callOf(answer) }] : [];
  const ending =
    "refuses" in answer ? { finishReason: "SAFETY", finishMessage: answer.refuses } : { finishReason: "STOP" };
  return {
    candidates: [{ index: 0, content: { role: "model", parts }, ...ending }],
    usageMetadata: { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output },
    modelVersion: model,
  };
}

const callOf = ({ calls, input }: Extract<ModelAnswer, { calls: string }>): object => ({
  name: calls,
  args: typeof input === "string" ? { input } : input,
});

function statusOf(fails: number): string {
  const known: Readonly<Record<number, string>> = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
    529: "UNAVAILABLE",
  };
  return known[fails] ?? "INTERNAL";
}
