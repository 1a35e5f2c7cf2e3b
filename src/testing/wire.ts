import type { IncomingHttpHeaders } from "node:http";

/** A client's request to the model, independent of the protocol. */
export interface ModelRequest {
  readonly api: "anthropic" | "openai-responses" | "openai-chat" | "gemini";
  readonly model: string;
  /** The user's newest prompt, never a tool's result. */
  readonly prompt: string;
  /** The number of prompts including this one. Earlier ones are the conversation. */
  readonly round: number;
  /** The number of tool calls since that prompt. */
  readonly step: number;
  /** The results of the tools since that prompt, the last one last. */
  readonly toolResults: readonly string[];
  /** The names of the available tools. */
  readonly tools: readonly string[];
  /** The JSON Schema of the requested output; `null` where none is requested. */
  readonly form: object | null;
  /** The full body, for text searches. */
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
}

/** The model's next reply. */
export type Reply =
  | ({ readonly says: string } & TokenCount)
  /** Calls a tool of the client by its own name; `input` is a text for a tool that takes no JSON. */
  | ({ readonly calls: string; readonly input: object | string } & TokenCount)
  /** Answers in the requested structure, in the way that the client supports. */
  | ({ readonly answers: object } & TokenCount)
  /** Ends the answer with a refusal, as a provider does. */
  | ({ readonly refuses: string } & TokenCount)
  | ModelFailure
  /** Sends this text instead of an answer, with a status of success. */
  | { readonly garbles: string }
  /** Never answers. */
  | { readonly hangs: true };

/** An answer with an error status: 401, 429, 529 and so on. */
export interface ModelFailure {
  readonly fails: number;
  /** The provider's own error type; absent: the usual one for the status. */
  readonly type?: string;
  readonly message?: string;
  readonly retryAfterSeconds?: number;
}

interface TokenCount {
  /** The usage that the answer reports; absent: `TOKENS_OF_ANSWER`. */
  readonly tokens?: { readonly input: number; readonly output: number };
}

/** The default usage of every answer, so that a run's usage is the number of its answers times this. */
export const TOKENS_OF_ANSWER = { input: 900, output: 100 };

/** The content of a request, before its origin is added. */
export type ReadRequest = Omit<ModelRequest, "api" | "text" | "headers"> & { readonly isStreamed: boolean };

/** Replies that every protocol can express. */
export type ModelAnswer = Extract<Reply, { says: string } | { calls: string } | { refuses: string }>;

export type StreamEvent = Readonly<Record<string, unknown>>;

/** A protocol between clients and models. */
export interface Wire {
  readonly api: ModelRequest["api"];
  takes(path: string): boolean;
  read(body: unknown, path: string): ReadRequest;
  whole(answer: ModelAnswer, model: string): object;
  /** The answer in pieces. An event with a `type` is sent under that name. */
  pieces(answer: ModelAnswer, model: string): readonly StreamEvent[];
  /** The marker at the end of a stream, if the protocol has one. */
  readonly end?: string;
  error(failure: ModelFailure): object;
}

export const tokensOf = ({
  tokens = TOKENS_OF_ANSWER,
}: ModelAnswer): { readonly input: number; readonly output: number } => tokens;

export const messageOf = ({ fails, message = `the script says ${fails}` }: ModelFailure): string => message;

/** The provider's error type for a status. */
export function typeOf({ fails, type }: ModelFailure): string {
  const known: Readonly<Record<number, string>> = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
  };
  return type ?? known[fails] ?? "api_error";
}
