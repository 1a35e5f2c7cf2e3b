import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isSettled } from "../../../src/compose/worker/worker-life.ts";
import { createHost } from "../../../src/compose/host.ts";
import type { StoredEvent } from "../../../src/ports/journal.ts";
import { startPostgres, type PostgresServer } from "../../kit/fleet/postgres-server.ts";
import { fleetProject } from "./fleet-project.ts";
import { startWorker } from "./fleet-workers.ts";

/* Two real workers with an SDK of OpenTelemetry in each, and a client that asks for their health. */

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres()));
afterAll(() => server.stop());

interface SpanLine {
  readonly name: string;
  readonly trace: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** A module that registers an SDK whose spans become lines of a file for each process. */
function sdkIn(folder: string): string {
  const [api, sdk] = ["@opentelemetry/api", "@opentelemetry/sdk-trace-base"].map((name) => import.meta.resolve(name));
  const file = join(folder, "otel.mjs");
  writeFileSync(
    file,
    `import { appendFileSync } from "node:fs";
import { trace } from ${JSON.stringify(api)};
import { BasicTracerProvider, SimpleSpanProcessor } from ${JSON.stringify(sdk)};
const file = ${JSON.stringify(join(folder, "spans-"))} + process.pid + ".jsonl";
const exporter = {
  export(spans, done) {
    for (const span of spans)
      appendFileSync(file, JSON.stringify({ name: span.name, trace: span.spanContext().traceId, attributes: span.attributes }) + "\\n");
    done({ code: 0 });
  },
  shutdown: async () => {},
};
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
`,
  );
  return file;
}

function spansIn(folder: string): readonly SpanLine[] {
  return readdirSync(folder)
    .filter((name) => /^spans-\d+\.jsonl$/.test(name))
    .flatMap((name) => readFileSync(join(folder, name), "utf8").trim().split("\n"))
    .map((line) => JSON.parse(line) as SpanLine);
}

async function linesWhenSettled(root: string, db: string, stories: number): Promise<readonly StoredEvent[]> {
  for (;;) {
    const look = await createHost(process.env).at(db).openView(root);
    if (look !== null) {
      try {
        const lines: StoredEvent[] = [];
        for await (const line of look.lines(0)) lines.push(line);
        const added = lines.filter(({ event }) => event.type === "story.added").length;
        if (added === stories && isSettled(look.state, Date.now())) return lines;
      } finally {
        await look.close();
      }
    }
    await sleep(300);
  }
}

test("workers tell each piece of work once, in one trace for each story, and say how they are", async () => {
  const project = fleetProject(3);
  const before = process.env["NODE_OPTIONS"];
  process.env["NODE_OPTIONS"] = `--import ${sdkIn(project.folder)}`;
  try {
    const db = await server.newDatabase();
    // No worker may count as dead because the machine is busy.
    const more = ["--health-port", "0", "--lease", "60s"];
    const workers = ["w0", "w1"].map((name) => startWorker(name, { ...project, db, more }));
    const lines = await linesWhenSettled(project.checkout, db, 3);
    for (const worker of workers) {
      const [, url] = /health: (http:\/\/\S+)\/readyz/.exec(worker.said()) ?? [];
      const ready = await fetch(`${url}/readyz`);
      expect([ready.status, await ready.json()]).toMatchObject([200, { ready: true, reasons: [] }]);
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
    }
    expect(await Promise.all(workers.map((worker) => worker.drain()))).toEqual([0, 0]);

    const spans = spansIn(project.folder);
    const told = (kind: string) => spans.filter(({ name }) => name.startsWith(`${kind} `)).length;
    const written = (type: string) => lines.filter(({ event }) => event.type === type).length;
    expect(written("attempt.finished")).toBeGreaterThan(5);
    const counts = ["attempt.finished", "gate.judged", "work.sent-back"].map(written);
    expect([told("attempt"), told("gate"), told("send-back")]).toEqual(counts);
    expect(told("invoke_agent")).toBe(written("attempt.finished"));
    const traces = new Map<unknown, Set<string>>();
    for (const { trace, attributes } of spans) {
      const story = attributes["remand.story"];
      traces.set(story, (traces.get(story) ?? new Set()).add(trace));
      expect(["w0", "w1"]).toContain(attributes["remand.worker"]);
    }
    expect([...traces.values()].map(({ size }) => size)).toEqual([1, 1, 1]);
  } finally {
    if (before === undefined) delete process.env["NODE_OPTIONS"];
    else process.env["NODE_OPTIONS"] = before;
    rmSync(project.folder, { recursive: true, force: true });
  }
});
