import { TOKENS_OF_ANSWER, type Failure, type ModelRequest, type Reply } from "./model.ts";

/** What a request says, before it is known from where it came. */
export type Asked = Omit<ModelRequest, "api" | "text" | "headers"> & { readonly isStreamed: boolean };

/** What every protocol can say by itself. */
export type Answer = Extract<Reply, { says: string } | { calls: string } | { refuses: string }>;

export type StreamEvent = Readonly<Record<string, unknown>>;

/** One protocol in which clients talk to models. */
export interface Wire {
  readonly api: ModelRequest["api"];
  takes(path: string): boolean;
  read(body: unknown, path: string): Asked;
  whole(answer: Answer, model: string): object;
  /** The same, in pieces. An event with a `type` is sent under that name. */
  pieces(answer: Answer, model: string): readonly StreamEvent[];
  /** What ends a stream, where it is more than silence. */
  readonly end?: string;
  error(failure: Failure): object;
}

export const tokensOf = ({ tokens = TOKENS_OF_ANSWER }: Answer): { readonly input: number; readonly output: number } =>
  tokens;

export const messageOf = ({ fails, message = `the script says ${fails}` }: Failure): string => message;

/** The word for a status, as providers have them. */
export function typeOf({ fails, type }: Failure): string {
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
