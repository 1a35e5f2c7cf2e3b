import type { OtelApi } from "./load-api.ts";

/**
 * Has what was told sent. An SDK that batches would lose its last batch when the process ends; the API has no word for
 * it, but every SDK has one. A collector that is away is no reason to fail, or to stay.
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
