import type { AgentError } from "../../ports/agent.ts";

/** What Claude Code says about a request that failed. */
export interface ClaudeFailure {
  /** HTTP's number, where there was an answer at all. */
  readonly status: number | null;
  /** Its own word for it, such as `authentication_failed`. */
  readonly word: string;
  /** Why it stopped, such as `prompt_too_long` or `refusal`. */
  readonly reasons: readonly string[];
  readonly message: string;
  readonly retryAt?: number | undefined;
}

export function claudeError({ status, word, reasons, message, retryAt }: ClaudeFailure): AgentError {
  const kind = kindOf(status, word, reasons, message);
  const wait = retryAt === undefined || !WAITS.has(kind) ? {} : { retryAt };
  const fix = FIXES[kind];
  return { kind, message: `claude: ${shortened(message)}`, ...(fix === undefined ? {} : { fix }), ...wait };
}

function kindOf(status: number | null, word: string, reasons: readonly string[], message: string): AgentError["kind"] {
  if (reasons.includes("refusal")) return "refused";
  if (reasons.includes("prompt_too_long") || /prompt is too long/i.test(message)) return "context-length";
  if (word === "billing_error" || status === 402 || /credit balance/i.test(message)) return "credit";
  if (word === "authentication_failed" || status === 401 || status === 403) return "auth";
  if (/not logged in|please run \/login|invalid api key/i.test(message)) return "auth";
  if (word === "rate_limit" || status === 429) return "rate-limit";
  if (word === "server_error" || word === "overloaded" || (status !== null && status >= 500)) return "overloaded";
  // No answer at all: the network, most likely. Waiting is what helps.
  if (/unable to connect|connection (?:error|refused|reset)|econn|timed out|fetch failed/i.test(message))
    return "overloaded";
  if (status !== null && status >= 400) return "bad-request";
  return "crash";
}

const WAITS = new Set<AgentError["kind"]>(["rate-limit", "overloaded"]);

const FIXES: { readonly [K in AgentError["kind"]]?: string } = {
  auth: "run `claude` and log in, or set ANTHROPIC_API_KEY, then send the story back",
  credit: "add credit to the account that Claude Code uses, then send the story back",
  "bad-request": "look at the role's `model` and `args`, then send the story back",
  "context-length": "give the story less to read, or split it",
};

function shortened(message: string): string {
  const line = message.replaceAll(/\s+/g, " ").trim();
  return line.length > 500 ? `${line.slice(0, 500)}…` : line;
}
