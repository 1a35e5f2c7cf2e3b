import type { IncomingHttpHeaders } from "node:http";

/** What a client asks of the model, in words that hold for every protocol. */
export interface ModelRequest {
  readonly api: "anthropic" | "openai-responses" | "openai-chat" | "gemini";
  readonly model: string;
  /** The newest thing the user said: a prompt, and never a tool's result. */
  readonly prompt: string;
  /** How many prompts there are, with this one. What came before it is the conversation. */
  readonly round: number;
  /** How many tools were called since that prompt. */
  readonly step: number;
  /** What the tools answered since that prompt, the last one last. */
  readonly toolResults: readonly string[];
  /** The names of the tools that may be called. */
  readonly tools: readonly string[];
  /** The form in which the answer is wanted, as JSON Schema; `null` where none is asked for. */
  readonly form: object | null;
  /** The whole body, for text searches. */
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
}

/** What the model does next. */
export type Reply =
  | ({ readonly says: string } & TokenCount)
  /** Calls a tool of the client's by its own name; `input` is text for a tool that takes no JSON. */
  | ({ readonly calls: string; readonly input: object | string } & TokenCount)
  /** Answers in the form that was asked for, by whatever way the client has for it. */
  | ({ readonly answers: object } & TokenCount)
  /** Ends the answer as a provider does that will not have it. */
  | ({ readonly refuses: string } & TokenCount)
  | ModelFailure
  /** Sends this instead of an answer, with a status of success. */
  | { readonly garbles: string }
  /** Never answers. */
  | { readonly hangs: true };

/** An answer with an error's status: 401, 429, 529 and so on. */
export interface ModelFailure {
  readonly fails: number;
  /** The provider's own word for it; without it, the usual one for the status. */
  readonly type?: string;
  readonly message?: string;
  readonly retryAfterSeconds?: number;
}

interface TokenCount {
  /** What the answer is said to have used; without it, `TOKENS_OF_ANSWER`. */
  readonly tokens?: { readonly input: number; readonly output: number };
}

/** Every answer uses the same: what a run used is then the number of its answers times this. */
export const TOKENS_OF_ANSWER = { input: 900, output: 100 };

/** What a request says, before it is known from where it came. */
export type ReadRequest = Omit<ModelRequest, "api" | "text" | "headers"> & { readonly isStreamed: boolean };

/** What every protocol can say by itself. */
export type ModelAnswer = Extract<Reply, { says: string } | { calls: string } | { refuses: string }>;

export type StreamEvent = Readonly<Record<string, unknown>>;

/** One protocol in which clients talk to models. */
export interface Wire {
  readonly api: ModelRequest["api"];
  takes(path: string): boolean;
  read(body: unknown, path: string): ReadRequest;
  whole(answer: ModelAnswer, model: string): object;
  /** The same, in pieces. An event with a `type` is sent under that name. */
  pieces(answer: ModelAnswer, model: string): readonly StreamEvent[];
  /** What ends a stream, where it is more than silence. */
  readonly end?: string;
  error(failure: ModelFailure): object;
}

export const tokensOf = ({
  tokens = TOKENS_OF_ANSWER,
}: ModelAnswer): { readonly input: number; readonly output: number } => tokens;

export const messageOf = ({ fails, message = `the script says ${fails}` }: ModelFailure): string => message;

/** The word for a status, as providers have them. */
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
