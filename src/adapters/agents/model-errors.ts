import type { AgentError } from "../../ports/agent.ts";
import { isRecord } from "../../stdx/is-record.ts";
import { messageOf } from "./failed-result.ts";

/** What a provider's refusal means. The SDK wraps it in an error about its own tries, so that is looked through. */
export function modelError(error: unknown, nowMs: number): AgentError {
  const inner = isRecord(error) && isRecord(error["lastError"]) ? error["lastError"] : error;
  const status = isRecord(inner) && typeof inner["statusCode"] === "number" ? inner["statusCode"] : null;
  const message = messageOf(inner).replaceAll(/\s+/g, " ").slice(0, 500);
  const kind = kindOf(status, message, inner instanceof Error ? inner.name : "");
  const fix = FIXES[kind];
  const retryAt = kind === "rate-limit" || kind === "overloaded" ? retryAtOf(inner, nowMs) : null;
  return {
    kind,
    message: `model: ${message}`,
    ...(fix === undefined ? {} : { fix }),
    ...(retryAt === null ? {} : { retryAt }),
  };
}

/** Where the provider says for how long to stay away. */
function retryAtOf(error: unknown, nowMs: number): number | null {
  const headers = isRecord(error) && isRecord(error["responseHeaders"]) ? error["responseHeaders"] : {};
  const seconds = Number.parseInt(String(headers["retry-after"]), 10);
  return Number.isFinite(seconds) && seconds >= 0 ? nowMs + seconds * 1000 : null;
}

function kindOf(status: number | null, message: string, name: string): AgentError["kind"] {
  if (/credit balance|insufficient_quota|exceeded your current quota/i.test(message) || status === 402) return "credit";
  if (/prompt is too long|context (?:length|window)/i.test(message)) return "context-length";
  if (status === 401 || status === 403 || /LoadAPIKey/.test(name)) return "auth";
  if (status === 429) return "rate-limit";
  if (status !== null && status >= 500) return "overloaded";
  if (/fetch failed|ECONN|ETIMEDOUT|cannot connect/i.test(message)) return "overloaded";
  return status !== null && status >= 400 ? "bad-request" : "crash";
}

const FIXES: { readonly [K in AgentError["kind"]]?: string } = {
  auth: "set the provider's key, such as ANTHROPIC_API_KEY, then send the story back",
  credit: "add credit to the provider's account, then send the story back",
  "bad-request": "look at the role's `model`, then send the story back",
  "context-length": "give the story less to read, or split it",
};
