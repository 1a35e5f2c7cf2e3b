import type { Server } from "node:http";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { RemandError } from "../core/events/error.ts";
import { headers } from "./guard.ts";

/** The state of a worker, as facts only. All texts are written here, so that no address or error message leaks. */
export interface HealthReport {
  /** The name under which the worker holds its presence. */
  readonly worker: string;
  readonly version: string;
  readonly isDatabaseReached: boolean;
  /** Whether the worker holds its presence lock, so that no other worker takes over its work. */
  readonly isPresent: boolean;
  readonly isQueueLaunched: boolean;
  readonly isDraining: boolean;
  /** The number of running jobs. */
  readonly jobs: number;
}

export interface HealthPlan {
  /** The address to listen on: `127.0.0.1` is reachable only from this machine. */
  readonly host: string;
  /** `0`: any free port. */
  readonly port: number;
  report(): HealthReport | Promise<HealthReport>;
  /** The maximum time for a report: a hanging database must not make the caller hang. */
  readonly patienceMs?: number;
}

export interface HealthServer {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Reports the worker's health. `/healthz`: the process is up; restart it if there is no answer. `/readyz`: the worker
 * takes jobs; 503 says why not. There are no other routes and nothing can be changed, so that it may be exposed to a
 * network of its own.
 */
export async function startHealthServer(plan: HealthPlan): Promise<HealthServer> {
  const server = serve({ fetch: healthApp(plan).fetch, hostname: plan.host, port: plan.port }) as Server;
  const port = await portOf(server, plan.port, "--health-port");
  const host = plan.host.includes(":") ? `[${plan.host}]` : plan.host;
  return { url: `http://${host}:${port}`, port, close: () => closeServer(server) };
}

function healthApp({ report, patienceMs = 2000 }: HealthPlan): Hono {
  const app = new Hono();
  app.use(headers());
  app.get("/healthz", (c) => c.json({ schema: "remand.alive/1", alive: true }));
  app.get("/readyz", async (c) => {
    const known = await inTime(report, patienceMs);
    const reasons = known === null ? [NO_REPORT] : reasonsAgainst(known);
    const ready = reasons.length === 0;
    const facts = known === null ? {} : { worker: known.worker, version: known.version, jobs: known.jobs };
    return c.json({ schema: "remand.ready/1", ready, reasons, ...facts }, ready ? 200 : 503);
  });
  app.all("*", (c) => c.json({ error: "there is /healthz and /readyz" }, 404));
  return app;
}

const NO_REPORT = "the worker did not report its status in time";

/** Why a worker takes no jobs; empty: it takes jobs. */
function reasonsAgainst(report: HealthReport): string[] {
  const against: readonly (readonly [holds: boolean, reason: string])[] = [
    [!report.isDatabaseReached, "the database cannot be reached"],
    [!report.isPresent, "the presence lock is not held"],
    [!report.isQueueLaunched, "the queue is not launched"],
    [report.isDraining, "the worker is draining"],
  ];
  return against.filter(([holds]) => holds).map(([, reason]) => reason);
}

/** Returns a report, or `null` when it fails or takes too long. */
async function inTime(report: HealthPlan["report"], patienceMs: number): Promise<HealthReport | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((done) => {
    timer = setTimeout(() => done(null), patienceMs);
  });
  const asked = Promise.resolve()
    .then(report)
    .catch(() => null);
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits until a server listens and returns its port; on an error, names the option that would help. */
export function portOf(server: Server, wanted: number, option: string): Promise<number> {
  return new Promise((done, failed) => {
    server.once("listening", () => {
      const address = server.address();
      done(typeof address === "object" && address !== null ? address.port : wanted);
    });
    server.once("error", (error) =>
      failed(
        new RemandError(
          "usage",
          `port ${wanted} cannot be opened: ${error.message}`,
          `Give another: ${option} 0 takes any.`,
          { cause: error },
        ),
      ),
    );
  });
}

/** Disconnects clients: an open connection would keep the program from ending. */
export async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((done) => server.close(() => done()));
  server.closeAllConnections();
  await closed;
}
