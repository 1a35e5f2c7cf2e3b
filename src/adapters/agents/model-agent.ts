import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Agent, AgentControl, AgentError, AgentRequest, AgentResult } from "../../ports/agent.ts";
import { isRecord } from "../../stdx/is-record.ts";
import { failed, messageOf } from "./failed-result.ts";
import { modelError } from "./model-errors.ts";

export interface ModelAgentOptions {
  /** The project, whose packages `ai` and `@ai-sdk/<provider>` are used. */
  readonly root: string;
  /** Our own environment: the provider's key and address are taken from it, and nothing else. */
  readonly source: Readonly<Record<string, string | undefined>>;
}

/**
 * A model by its provider's API, through the AI SDK of the project. It has no tools and sees the prompt alone, so it
 * reviews and does nothing else. The packages are loaded when it is first asked, and are never Remand's own.
 */
export function createModelAgent({ root, source }: ModelAgentOptions): Agent {
  return {
    name: "model",
    async run(request, control) {
      const beganAt = performance.now();
      const took = (): number => performance.now() - beganAt;
      if (control.signal.aborted) return { ...failed(NO_ERROR, took()), status: "cancelled", error: null };
      const wrong = refusal(request);
      if (wrong !== null) return failed(wrong, took());
      try {
        const { ai, model } = loaded(root, source, request.model!);
        return { ...(await answered(ai, model, request, control)), durationMs: took() };
      } catch (error) {
        return failed(errorIn(error), took());
      }
    },
  };
}

/** What was told apart already, or else what can be told of it now. */
function errorIn(error: unknown): AgentError {
  if (!(error instanceof Error) || !("kind" in error)) return modelError(error);
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
  if (model === null || !/^[\w-]+\/.+$/.test(model))
    return bad("it is not said which model", "name it with its provider: `model: anthropic/claude-opus-4-5`");
  return null;
}

interface Ai {
  generateText(options: object): Promise<unknown>;
  readonly Output: { object(options: object): unknown };
  jsonSchema(schema: object): unknown;
}

type Provider = (options: object) => (model: string) => unknown;

function loaded(
  root: string,
  source: ModelAgentOptions["source"],
  name: string,
): { readonly ai: Ai; readonly model: unknown } {
  const [provider = ""] = name.split("/");
  const ai = packageOf(root, "ai", provider) as unknown as Ai;
  const library = packageOf(root, `@ai-sdk/${provider}`, provider);
  // Each of these packages makes its provider by one function: `createAnthropic`, `createOpenAI`, `createGoogleGenerativeAI`.
  const make = Object.entries(library).find(([key, value]) => /^create[A-Z]/.test(key) && typeof value === "function");
  if (make === undefined) throw new Error(`@ai-sdk/${provider} makes no provider`);
  const prefix = provider.replaceAll("-", "_").toUpperCase();
  const apiKey = source[`${prefix}_API_KEY`];
  const baseURL = source[`${prefix}_BASE_URL`];
  const options = { ...(apiKey === undefined ? {} : { apiKey }), ...(baseURL === undefined ? {} : { baseURL }) };
  return { ai, model: (make[1] as Provider)(options)(name.slice(provider.length + 1)) };
}

/** As the project itself would load it. */
function packageOf(root: string, name: string, provider: string): Readonly<Record<string, unknown>> {
  const load = createRequire(join(root, "package.json"));
  try {
    load.resolve(name);
  } catch {
    const fix = `install it in the project: npm install --save-dev ai @ai-sdk/${provider}`;
    // Thrown as a value of ours: whoever catches it has nothing to find out.
    throw Object.assign(new Error(`model: the package ${name} is not installed`), { kind: "launch", fix });
  }
  return load(name) as Readonly<Record<string, unknown>>;
}

async function answered(ai: Ai, model: unknown, request: AgentRequest, control: AgentControl): Promise<AgentResult> {
  const { prompt, outputSchema, timeoutMs } = request;
  const late = AbortSignal.timeout(timeoutMs);
  const abortSignal = AbortSignal.any([control.signal, late]);
  const output = outputSchema === null ? {} : { output: ai.Output.object({ schema: ai.jsonSchema(outputSchema) }) };
  // Long waits are the engine's: one more try is all that is made here.
  const asked = ai.generateText({ model, prompt, abortSignal, maxRetries: 1, ...output });
  const stopped = new Promise<null>((resolve) => abortSignal.addEventListener("abort", () => resolve(null)));
  const result = await Promise.race([asked.catch((error: unknown) => settled(error, abortSignal)), stopped]);
  if (result === null) {
    const status = control.signal.aborted ? "cancelled" : "timeout";
    return { ...failed(NO_ERROR, 0), status, error: null };
  }
  const { text, usage } = isRecord(result) ? result : {};
  const words = typeof text === "string" ? text : "";
  for (const line of words.split("\n")) control.onEvent({ type: "output", line });
  const total = isRecord(usage) ? usage["totalTokens"] : null;
  return {
    ...failed(NO_ERROR, 0),
    status: "completed",
    error: null,
    text: outputSchema === null ? words : "",
    output: outputSchema === null ? null : ((result as { output?: unknown }).output ?? null),
    tokens: typeof total === "number" ? total : null,
  };
}

/** What was stopped by us is no error, whichever of the two is told first. */
async function settled(error: unknown, signal: AbortSignal): Promise<null> {
  await pause(0);
  if (signal.aborted) return null;
  throw modelThrown(error);
}

function modelThrown(error: unknown): Error {
  return Object.assign(new Error(messageOf(error)), modelError(error));
}
