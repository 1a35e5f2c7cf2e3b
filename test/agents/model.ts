import type { IncomingMessage } from "node:http";

/** What a request asks, in words that hold for every protocol. */
export interface ModelRequest {
  readonly api: "anthropic" | "openai";
  readonly model: string;
  /** The newest thing the user said: a prompt, and never a tool's result. */
  readonly prompt: string;
  /** How many prompts there are, with this one. What came before it is the conversation. */
  readonly round: number;
  /** How many tools were called since that prompt. */
  readonly step: number;
  /** What the newest tools answered, the last one last. */
  readonly toolResults: readonly string[];
  readonly tools: readonly string[];
  /** The whole body, for whoever looks for a word in it. */
  readonly text: string;
  readonly headers: IncomingMessage["headers"];
}

/** What the model does next. */
export type Reply =
  | { readonly says: string; readonly stops?: "refusal" }
  /** Calls a tool of the client's by its own name; `input` is text for a tool that takes no JSON. */
  | { readonly calls: string; readonly input: object | string }
  | { readonly fails: number; readonly type?: string; readonly message?: string; readonly retryAfterSeconds?: number }
  /** Never answers. */
  | { readonly hangs: true };

/** Every answer costs the same: what a run used is then the number of its answers times this. */
export const TOKENS_OF_ANSWER = { input: 900, output: 100 };
