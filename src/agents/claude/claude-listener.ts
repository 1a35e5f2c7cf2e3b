import type { AgentControl, AgentError } from "../../ports/agent.ts";
import type { ClientListener, ClientReport } from "../client/client.ts";
import {
  type UsedTokens,
  type WireEvent,
  amountIn,
  eventIn,
  listIn,
  shownCall,
  shownLines,
  textIn,
  addUsage,
  type TokenParts,
  partsByModel,
  partsIn,
  partsTogether,
} from "../client/client-wire.ts";

/** For a longer wait the client is ended: the engine waits instead, without holding a slot. */
const LONGEST_WAIT_MS = 30_000;

/** Reads the output of `claude -p --output-format stream-json`. */
export function createClaudeListener(onEvent: AgentControl["onEvent"], now: () => number): ClientListener {
  const show = (line: string): void => onEvent({ type: "output", line });
  const progress: ClaudeProgress = {
    denied: [],
    calls: new Map(),
    uses: new Map(),
    runs: null,
    parts: null,
    result: null,
    session: null,
    lastText: "",
    word: "",
  };
  return {
    read(event) {
      progress.session = textIn(event["session_id"]) ?? progress.session;
      switch (event["type"]) {
        case "assistant":
          readMessage(event, progress, show);
          readUsage(event, progress, onEvent);
          return null;
        case "user":
          readToolResults(event, progress);
          return null;
        case "system":
          return event["subtype"] === "api_retry" ? readRetry(event, now(), show) : null;
        case "rate_limit_event": {
          const info = eventIn(event["rate_limit_info"]);
          const seconds = amountIn(info?.["resetsAt"]);
          if (info?.["status"] === "rejected" && seconds !== null) progress.resetsAt = seconds * 1000;
          return null;
        }
        case "result":
          progress.result = event;
          progress.runs = addUsage(progress.runs, usedIn(event["model_usage_since_last_result"]));
          progress.parts = bothParts(
            progress.parts,
            partsByModel(event["model_usage_since_last_result"], INPUT, "outputTokens", CACHED),
          );
          return null;
        default:
          return null;
      }
    },
    readError: (line) => shownLines(line).forEach(show),
    report: () => reportOf(progress),
  };
}

interface ClaudeProgress {
  readonly denied: string[];
  /** The names of the called tools, by call id. */
  readonly calls: Map<string, string>;
  /** The usage of each message, by message id. A message in several pieces repeats its usage in each. */
  readonly uses: Map<string, TokenParts>;
  /** With background work there are several results, each with the usage since the previous one. */
  runs: UsedTokens | null;
  parts: TokenParts | null;
  result: WireEvent | null;
  session: string | null;
  lastText: string;
  word: string;
  resetsAt?: number;
}

function readMessage(event: WireEvent, progress: ClaudeProgress, show: (line: string) => void): void {
  progress.word = textIn(event["error"]) ?? progress.word;
  for (const block of listIn(eventIn(event["message"])?.["content"]).map(eventIn)) {
    if (block?.["type"] === "text") {
      progress.lastText = textIn(block["text"]) ?? "";
      shownLines(progress.lastText).forEach(show);
    }
    if (block?.["type"] !== "tool_use") continue;
    const call = shownCall(textIn(block["name"]) ?? "tool", block["input"]);
    progress.calls.set(textIn(block["id"]) ?? "", call);
    show(`→ ${call}`);
  }
}

/** Reads a message's usage. The client reports tokens per message, and the cost only at the end. */
function readUsage(event: WireEvent, { uses }: ClaudeProgress, onEvent: AgentControl["onEvent"]): void {
  const message = eventIn(event["message"]);
  const id = textIn(message?.["id"]);
  if (message === null || id === null || eventIn(message["usage"]) === null) return;
  const parts = partsIn(message["usage"], MAIN_LOOP_INPUT, "output_tokens", "cache_read_input_tokens");
  uses.set(id, { ...parts, model: textIn(message["model"]) });
  const byModel = new Map<string | null, TokenParts>();
  for (const each of uses.values()) {
    const known = byModel.get(each.model);
    byModel.set(each.model, known === undefined ? each : partsTogether(known, each));
  }
  const all = [...byModel.values()];
  onEvent({
    type: "usage",
    costUsd: null,
    tokens: all.reduce((sum, { input, output }) => sum + input + output, 0),
    parts: all.map(({ model, input, output, cached = 0 }) => ({
      ...(model === null ? {} : { model }),
      inputTokens: input,
      outputTokens: output,
      cachedTokens: cached,
    })),
  });
}

/** Records calls of tools that the access does not include, which the client does not report as denied. */
function readToolResults(event: WireEvent, { calls, denied }: ClaudeProgress): void {
  for (const block of listIn(eventIn(event["message"])?.["content"]).map(eventIn)) {
    if (block?.["type"] !== "tool_result" || block["is_error"] !== true) continue;
    if (/No such tool available/.test(textIn(block["content"]) ?? ""))
      denied.push(calls.get(textIn(block["tool_use_id"]) ?? "") ?? "a tool");
  }
}

function readRetry(event: WireEvent, nowMs: number, show: (line: string) => void): AgentError | null {
  const status = amountIn(event["error_status"]);
  const delayMs = amountIn(event["retry_delay_ms"]) ?? 0;
  const word = textIn(event["error"]) ?? "";
  const message = `the provider answered ${status ?? "nothing"} (${word === "" ? "no reason" : word})`;
  if (status === 401 || status === 403 || delayMs > LONGEST_WAIT_MS)
    return claudeError({ status, word, reasons: [], message, retryAt: nowMs + delayMs });
  show(`${message}: again in ${Math.ceil(delayMs / 1000)} s`);
  return null;
}

function reportOf({ result, runs, parts, session, lastText, word, denied, resetsAt }: ClaudeProgress): ClientReport {
  const errors = listIn(result?.["errors"]).flatMap((error) => textIn(error) ?? []);
  const isUnknownSession = errors.some((error) => /No conversation found/i.test(error));
  const text = textIn(result?.["result"]);
  const isError = result !== null && result["is_error"] !== false;
  const refusals = listIn(result?.["permission_denials"]).flatMap((each) => {
    const refusal = eventIn(each);
    return refusal === null ? [] : shownCall(textIn(refusal["tool_name"]) ?? "tool", refusal["tool_input"]);
  });
  return {
    isOver: result !== null,
    // The client reports an id even for a conversation it could not find; that id cannot be resumed.
    session: isUnknownSession ? null : session,
    text: text ?? lastText,
    output: result?.["structured_output"] ?? null,
    counted: {
      run: runs,
      conversation: usedIn(result?.["modelUsage"]),
      leastTokens: runs?.tokens ?? mainLoopTokens(result),
    },
    parts: parts ?? mainLoopParts(result),
    denied: [...denied, ...refusals],
    error: isError ? failureIn(result, word, text ?? (errors.join("; ") || "it did not say why"), resetsAt) : null,
    isUnknownSession,
  };
}

function failureIn(result: WireEvent, word: string, message: string, retryAt: number | undefined): AgentError {
  const reasons = ["terminal_reason", "stop_reason", "subtype"].flatMap((field) => textIn(result[field]) ?? []);
  return claudeError({ status: amountIn(result["api_error_status"]), word, reasons, message, retryAt });
}

/** Returns the tokens of this run's main loop, which every version reports. */
function mainLoopTokens(result: WireEvent | null): number {
  const usage = eventIn(result?.["usage"]) ?? {};
  return MAIN_LOOP_TOKENS.reduce((sum, field) => sum + Math.round(amountIn(usage[field]) ?? 0), 0);
}

function mainLoopParts(result: WireEvent | null): TokenParts | null {
  if (result === null) return null;
  const { model = null } = partsByModel(result["modelUsage"], INPUT, "outputTokens") ?? {};
  return { ...partsIn(result["usage"], MAIN_LOOP_INPUT, "output_tokens", "cache_read_input_tokens"), model };
}

function bothParts(first: TokenParts | null, second: TokenParts | null): TokenParts | null {
  return first === null || second === null ? (first ?? second) : partsTogether(first, second);
}

const MAIN_LOOP_INPUT = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
const MAIN_LOOP_TOKENS = [...MAIN_LOOP_INPUT, "output_tokens"];

/** Returns the usage by model. A price that the client estimated is ignored. */
function usedIn(byModel: unknown): UsedTokens | null {
  const models = eventIn(byModel);
  if (models === null) return null;
  let used: UsedTokens = { tokens: 0, costUsd: 0 };
  for (const each of Object.values(models)) {
    const model = eventIn(each) ?? {};
    const tokens = TOKENS.reduce((sum, field) => sum + Math.round(amountIn(model[field]) ?? 0), 0);
    const costUsd = model["costBasis"] === "unknown" ? null : amountIn(model["costUSD"]);
    used = addUsage(used, { tokens, costUsd })!;
  }
  return used;
}

const CACHED = "cacheReadInputTokens";
const INPUT = ["inputTokens", CACHED, "cacheCreationInputTokens"];
const TOKENS = [...INPUT, "outputTokens"];

/** A failed request, as Claude Code reports it. */
export interface ClaudeFailure {
  /** The HTTP status, if there was a response. */
  readonly status: number | null;
  /** The client's error code, such as `authentication_failed`. */
  readonly word: string;
  /** Reasons for stopping, such as `prompt_too_long` or `refusal`. */
  readonly reasons: readonly string[];
  readonly message: string;
  readonly retryAt?: number | undefined;
}

function claudeError({ status, word, reasons, message, retryAt }: ClaudeFailure): AgentError {
  const kind = kindOf(status, word, reasons, message);
  const wait = retryAt === undefined || !WAITS.has(kind) ? {} : { retryAt };
  const fix = FIXES[kind];
  return { kind, message: `claude: ${shorten(message)}`, ...(fix === undefined ? {} : { fix }), ...wait };
}

function kindOf(status: number | null, word: string, reasons: readonly string[], message: string): AgentError["kind"] {
  if (reasons.includes("refusal")) return "refused";
  if (reasons.includes("prompt_too_long") || /prompt is too long/i.test(message)) return "context-length";
  if (word === "billing_error" || status === 402 || /credit balance/i.test(message)) return "credit";
  if (word === "authentication_failed" || status === 401 || status === 403) return "auth";
  if (/not logged in|please run \/login|invalid api key/i.test(message)) return "auth";
  if (word === "rate_limit" || status === 429) return "rate-limit";
  if (word === "server_error" || word === "overloaded" || (status !== null && status >= 500)) return "overloaded";
  // No response, most likely a network problem: waiting helps.
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

function shorten(message: string): string {
  const line = message.replaceAll(/\s+/g, " ").trim();
  return line.length > 500 ? `${line.slice(0, 500)}…` : line;
}
