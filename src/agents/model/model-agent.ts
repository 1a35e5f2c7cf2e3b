import { setTimeout as pause } from "node:timers/promises";
import type { Agent, AgentControl, AgentError, AgentRequest, AgentResult } from "../../ports/agent.ts";
import { isRecord } from "../../stdx/assert.ts";
import { failedResult, messageOf } from "../client/client.ts";
import { type TokenParts, partsIn, usageOfParts } from "../client/client-wire.ts";
import { hasPackage, loadPackage, makerIn, packagesFor, providerIn, settingsFor } from "./model-provider.ts";

export interface ModelAgentOptions {
  /** The project, whose packages `ai` and `@ai-sdk/<provider>` are used. */
  readonly root: string;
  /** Remand's own environment, for the provider's key and address only. */
  readonly source: Readonly<Record<string, string | undefined>>;
}

/**
 * Calls a model through its provider's API, with the AI SDK of the project. It has no tools and sees only the prompt,
 * so it can only review. The packages are loaded at the first call, and are never Remand's own.
 */
export function createModelAgent({ root, source }: ModelAgentOptions): Agent {
  return {
    name: "model",
    seesPromptAlone: true,
    async run(request, control) {
      const beganAt = performance.now();
      const took = (): number => performance.now() - beganAt;
      if (control.signal.aborted) return { ...failedResult(NO_ERROR, took()), status: "cancelled", error: null };
      const wrong = refusal(request);
      if (wrong !== null) return failedResult(wrong, took());
      try {
        const { ai, model } = loadModel(root, source, request.model!);
        return { ...(await askModel(ai, model, request, control)), durationMs: took() };
      } catch (error) {
        return { ...failedResult(errorIn(error), took()), tokens: tokensIn(error) };
      }
    },
  };
}

/** Returns the error: an already classified one unchanged, others after classification. */
function errorIn(error: unknown): AgentError {
  if (!(error instanceof Error) || !("kind" in error)) return modelError(error, Date.now());
  const { kind, message, fix } = error as Error & AgentError;
  return { kind, message, ...(fix === undefined ? {} : { fix }) };
}

const NO_ERROR: AgentError = { kind: "crash", message: "" };

function refusal({ access, model }: AgentRequest): AgentError | null {
  const bad = (message: string, fix: string): AgentError => ({
    kind: "bad-request",
    message: `model: ${message}`,
    fix,
  });
  if (access !== "read") return bad("a model can only review: it changes no files", "give this role to another agent");
  if (providerIn(model) === null)
    return bad("the model is missing", "name it with its provider: `model: anthropic/claude-opus-4-5`");
  return null;
}

interface Ai {
  generateText(options: object): Promise<unknown>;
  readonly Output: { object(options: object): unknown };
  jsonSchema(schema: object): unknown;
}

function loadModel(
  root: string,
  source: ModelAgentOptions["source"],
  name: string,
): { readonly ai: Ai; readonly model: unknown } {
  const provider = providerIn(name) ?? "";
  const [sdk, library] = packagesFor(provider);
  for (const each of [sdk, library]) {
    if (hasPackage(root, each)) continue;
    const fix = `install it in the project: npm install --save-dev ${sdk} ${library}`;
    throw errorOf({ kind: "launch", message: `model: the package ${each} is not installed`, fix });
  }
  const make = makerIn(loadPackage(root, library));
  if (make === null) throw new Error(`${library} makes no provider`);
  const model = make(settingsFor(provider, source))(name.slice(provider.length + 1));
  return { ai: loadPackage(root, sdk) as unknown as Ai, model };
}

async function askModel(ai: Ai, model: unknown, request: AgentRequest, control: AgentControl): Promise<AgentResult> {
  const { prompt, outputSchema, timeoutMs } = request;
  const late = AbortSignal.timeout(timeoutMs);
  const abortSignal = AbortSignal.any([control.signal, late]);
  const output = outputSchema === null ? {} : { output: ai.Output.object({ schema: ai.jsonSchema(outputSchema) }) };
  // No retries by the SDK: it would wait as long as the provider says and hold a slot. The engine waits instead.
  const generate = (): Promise<unknown> => ai.generateText({ model, prompt, abortSignal, maxRetries: 0, ...output });
  const stopped = new Promise<null>((resolve) => abortSignal.addEventListener("abort", () => resolve(null)));
  const result = await Promise.race([twice(generate, abortSignal), stopped]);
  if (result === null) {
    const status = control.signal.aborted ? "cancelled" : "timeout";
    return { ...failedResult(NO_ERROR, 0), status, error: null };
  }
  const { text, finishReason } = isRecord(result) ? result : {};
  const words = typeof text === "string" ? text : "";
  const tokens = tokensIn(result);
  if (finishReason === "content-filter") {
    const message = `model: the provider refused to answer: ${words.slice(0, 300)}`.replace(/: $/, "");
    return { ...failedResult({ kind: "refused", message }, 0), text: words, tokens };
  }
  for (const line of words.split("\n")) control.onEvent({ type: "output", line });
  return {
    ...failedResult(NO_ERROR, 0),
    status: "completed",
    error: null,
    text: outputSchema === null ? words : "",
    output: outputSchema === null ? null : ((result as { output?: unknown }).output ?? null),
    tokens,
    ...usageOfParts(partsOf(result), tokens),
  };
}

/** Calls the model again, once and after a moment, if the provider is overloaded. */
async function twice(ask: () => Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  try {
    return await ask();
  } catch (error) {
    if (modelError(error, Date.now()).kind !== "overloaded") return ignoreIfAborted(error, signal);
  }
  await pause(ONE_MOMENT_MS, undefined, { signal }).catch(() => undefined);
  return ask().catch((error: unknown) => ignoreIfAborted(error, signal));
}

const ONE_MOMENT_MS = 1000;

/** Returns `null` for an error after an abort, even if the error is reported before the abort is. */
async function ignoreIfAborted(error: unknown, signal: AbortSignal): Promise<null> {
  await pause(0);
  if (signal.aborted) return null;
  throw error;
}

/** An already classified error, thrown with its fields, so that the handler does not classify it again. */
const errorOf = (error: AgentError): Error => Object.assign(new Error(error.message), error);

/** Returns the tokens of an answer, which count even if the answer cannot be parsed. */
function tokensIn(said: unknown): number | null {
  const usage = isRecord(said) ? said["usage"] : null;
  const total = isRecord(usage) ? usage["totalTokens"] : null;
  return typeof total === "number" ? total : null;
}

/** Returns the tokens by kind, and the model that the provider names. */
function partsOf(said: unknown): TokenParts | null {
  if (!isRecord(said)) return null;
  const { response } = said;
  const model = isRecord(response) && typeof response["modelId"] === "string" ? response["modelId"] : null;
  return { ...partsIn(said["usage"], ["inputTokens"], "outputTokens"), model };
}

/** Classifies a provider's error. The SDK wraps it in an error about its retries. */
function modelError(error: unknown, nowMs: number): AgentError {
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

/** Returns when the provider allows the next call, if it says so. */
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
