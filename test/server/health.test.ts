import { createServer } from "node:net";
import { afterEach, describe, expect, it, test } from "vitest";
import { startHealthServer, type HealthPlan, type HealthReport, type HealthServer } from "../../src/server/health.ts";

const WELL: HealthReport = {
  worker: "build-7",
  version: "1.2.3",
  isDatabaseReached: true,
  isPresent: true,
  isQueueLaunched: true,
  isDraining: false,
  jobs: 2,
};

const started: HealthServer[] = [];
afterEach(async () => {
  for (const each of started.splice(0)) await each.close();
});

async function start(plan: Partial<HealthPlan> & Pick<HealthPlan, "report">): Promise<HealthServer> {
  const server = await startHealthServer({ host: "127.0.0.1", port: 0, ...plan });
  started.push(server);
  return server;
}

async function ask(server: HealthServer, path: string, method = "GET") {
  const answer = await fetch(`${server.url}${path}`, { method });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text === "" ? null : (JSON.parse(text) as unknown) };
}

describe("the worker's health over HTTP", () => {
  it("is ready when all conditions are met, and names the worker", async () => {
    const server = await start({ report: () => WELL });
    const { status, body, headers } = await ask(server, "/readyz");
    expect(status).toBe(200);
    expect(body).toEqual({
      schema: "remand.ready/1",
      ready: true,
      reasons: [],
      worker: "build-7",
      version: "1.2.3",
      jobs: 2,
    });
    expect(headers.get("cache-control")).toBe("no-store");
    expect((await ask(server, "/readyz", "HEAD")).status).toBe(200);
  });

  test.each<[Partial<HealthReport>, string]>([
    [{ isDatabaseReached: false }, "the database cannot be reached"],
    [{ isPresent: false }, "the presence lock is not held"],
    [{ isQueueLaunched: false }, "the queue is not launched"],
    [{ isDraining: true }, "the worker is draining"],
  ])("%j makes it not ready, but still alive", async (change, reason) => {
    const server = await start({ report: () => ({ ...WELL, ...change }) });
    const { status, body } = await ask(server, "/readyz");
    expect(status).toBe(503);
    expect(body).toMatchObject({ ready: false, reasons: [reason] });
    expect(await ask(server, "/healthz")).toMatchObject({ status: 200, body: { alive: true } });
  });

  it("lists all reasons at once, and recovers when they are gone", async () => {
    let report: HealthReport = { ...WELL, isDatabaseReached: false, isPresent: false };
    const server = await start({ report: () => report });
    expect((await ask(server, "/readyz")).body).toMatchObject({
      reasons: ["the database cannot be reached", "the presence lock is not held"],
    });
    report = WELL;
    expect((await ask(server, "/readyz")).status).toBe(200);
  });

  it("answers in time when the report hangs or fails, without details of the failure", async () => {
    const hangs = await start({ report: () => new Promise(() => undefined), patienceMs: 10 });
    const fails = await start({ report: () => Promise.reject(new Error("postgres://me:hunter2@db/remand")) });
    const throws = await start({
      report: () => {
        throw new Error("hunter2");
      },
    });
    for (const server of [hangs, fails, throws]) {
      const { status, body } = await ask(server, "/readyz");
      expect(status).toBe(503);
      expect(body).toEqual({
        schema: "remand.ready/1",
        ready: false,
        reasons: ["the worker did not report its status in time"],
      });
      expect((await ask(server, "/healthz")).status).toBe(200);
    }
  });

  it("has no other routes, and changes nothing", async () => {
    const server = await start({ report: () => WELL });
    for (const path of ["/", "/metrics", "/api/board"]) expect((await ask(server, path)).status).toBe(404);
    for (const method of ["POST", "PUT", "DELETE"]) expect((await ask(server, "/readyz", method)).status).toBe(404);
  });

  it("names the option that helps when the port is taken", async () => {
    const other = createServer();
    const port = await new Promise<number>((done) =>
      other.listen(0, "127.0.0.1", () => done((other.address() as { port: number }).port)),
    );
    await expect(startHealthServer({ host: "127.0.0.1", port, report: () => WELL })).rejects.toMatchObject({
      code: "usage",
      message: expect.stringContaining(String(port)) as string,
      hint: "Give another: --health-port 0 takes any.",
    });
    await new Promise((done) => other.close(done));
  });

  it("disconnects clients when it closes", async () => {
    const server = await startHealthServer({ host: "127.0.0.1", port: 0, report: () => new Promise(() => undefined) });
    const asked = fetch(`${server.url}/readyz`).then(
      () => "answered",
      () => "let go",
    );
    await expect.poll(async () => (await fetch(`${server.url}/healthz`)).status).toBe(200);
    await server.close();
    expect(await asked).toBe("let go");
  });
});
