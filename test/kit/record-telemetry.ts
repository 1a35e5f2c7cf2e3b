import * as api from "@opentelemetry/api";
import {
  InMemoryMetricExporter,
  AggregationTemporality,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from "@opentelemetry/sdk-trace-base";

export interface RecordedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parent: string | undefined;
  readonly sinceMs: number;
  readonly atMs: number;
  readonly status: number;
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface RecordedPoint {
  readonly name: string;
  readonly unit: string;
  readonly value: unknown;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** An SDK in this process that keeps what it is told, and how to look at it. One for each file of tests. */
export function recordTelemetry() {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const points = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: points, exportIntervalMillis: 1_000_000 });
  const meters = new MeterProvider({ readers: [reader] });
  api.trace.setGlobalTracerProvider(provider);
  api.metrics.setGlobalMeterProvider(meters);
  return {
    api,
    spans: (): readonly RecordedSpan[] => exporter.getFinishedSpans().map(toRecordedSpan),
    forget: (): void => exporter.reset(),
    async measured(): Promise<readonly RecordedPoint[]> {
      points.reset();
      await reader.forceFlush();
      const [latest] = points.getMetrics().slice(-1);
      return (latest?.scopeMetrics ?? []).flatMap(({ metrics }) =>
        metrics.flatMap(({ descriptor, dataPoints }) =>
          dataPoints.map(({ value, attributes }) => ({
            name: descriptor.name,
            unit: descriptor.unit,
            value,
            attributes,
          })),
        ),
      );
    },
    async close(): Promise<void> {
      await Promise.all([provider.shutdown(), meters.shutdown()]);
      api.trace.disable();
      api.metrics.disable();
    },
  };
}

function toRecordedSpan(span: ReadableSpan): RecordedSpan {
  const ms = ([seconds, nanos]: [number, number]): number => seconds * 1000 + Math.round(nanos / 1e6);
  const { traceId, spanId } = span.spanContext();
  return {
    name: span.name,
    traceId,
    spanId,
    parent: span.parentSpanContext?.spanId,
    sinceMs: ms(span.startTime),
    atMs: ms(span.endTime),
    status: span.status.code,
    attributes: span.attributes,
  };
}
