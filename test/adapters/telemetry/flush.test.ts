import * as api from "@opentelemetry/api";
import { BasicTracerProvider, BatchSpanProcessor, InMemorySpanExporter } from "@opentelemetry/sdk-trace-base";
import { afterEach, describe, expect, it } from "vitest";
import { flush } from "../../../src/adapters/telemetry/load-api.ts";

afterEach(() => {
  api.trace.disable();
  api.metrics.disable();
});

describe("before the process ends", () => {
  it("pending telemetry is sent", async () => {
    const exporter = new InMemorySpanExporter();
    const gathering = new BatchSpanProcessor(exporter, { scheduledDelayMillis: 1_000_000 });
    api.trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [gathering] }));
    api.trace.getTracer("test").startSpan("last").end();
    expect(exporter.getFinishedSpans()).toEqual([]);
    await flush(api);
    expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(["last"]);
  });

  it("an unreachable collector is no error, nor is an SDK without flush", async () => {
    const meters = { getMeter: () => undefined as never, forceFlush: () => Promise.reject(new Error("away")) };
    api.metrics.setGlobalMeterProvider(meters);
    await expect(flush(api)).resolves.toBeUndefined();
  });
});
