import { createRequire } from "node:module";
import { join } from "node:path";
import type * as Otel from "@opentelemetry/api";

export type OtelApi = typeof Otel;

/** The symbol under which an OpenTelemetry SDK registers itself; every copy of the API looks there. */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");

/** Whether an SDK is registered in this process. Telemetry is on only then. */
export function isSdkRegistered(scope: object = globalThis): boolean {
  const known = (scope as Record<symbol, unknown>)[REGISTERED];
  return typeof known === "object" && known !== null && ("trace" in known || "metrics" in known);
}

/** Loads the API: Remand's own copy, or else the project's. All copies use the one SDK. `null`: there is none. */
export async function loadApi(
  root: string,
  load: () => Promise<OtelApi> = () => import("@opentelemetry/api"),
): Promise<OtelApi | null> {
  try {
    return await load();
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  try {
    return createRequire(join(root, "package.json"))("@opentelemetry/api") as OtelApi;
  } catch (error) {
    if (!isMissing(error)) throw error;
    return null;
  }
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND";
}

/**
 * Sends pending telemetry. An SDK that batches would lose its last batch when the process ends. The API has no function
 * for it, but every SDK has one. Neither fails nor waits long if the collector is away.
 */
export async function flush(api: OtelApi): Promise<void> {
  const tracing = api.trace.getTracerProvider();
  const sdk = "getDelegate" in tracing ? (tracing as { getDelegate(): unknown }).getDelegate() : tracing;
  const flushed = Promise.allSettled([sdk, api.metrics.getMeterProvider()].map(flushOne));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((done) => {
    timer = setTimeout(done, LONGEST_MS);
  });
  await Promise.race([flushed, late]);
  clearTimeout(timer);
}

async function flushOne(provider: unknown): Promise<void> {
  await (provider as { forceFlush?(): Promise<void> }).forceFlush?.();
}

const LONGEST_MS = 5000;
