import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { serving, stuck, type Served } from "./served.ts";

let served: Served & { close(): Promise<void> };
beforeAll(async () => {
  served = await serving(await stuck());
});
afterAll(() => served.close());

const API = [
  "/api/hello",
  "/api/board",
  "/api/list",
  "/api/stories/login",
  "/api/stories/login/lines",
  "/api/stories/login/last-lines",
  "/api/stories/login/diff",
  "/api/stories/login/export",
  "/api/evidence/e1",
  "/api/lines/1",
  "/api/inbox",
  "/api/ledger",
  "/api/trail",
  "/api/verify",
  "/api/health",
  "/api/events",
  "/api/nothing",
];

describe("access to the dashboard", () => {
  test.each(API)("%s returns nothing without the token", async (path) => {
    const without = await served.ask(path, { headers: { authorization: null } });
    expect(without.status).toBe(401);
    expect(without.text).not.toContain("login");
    const wrong = await served.ask(path, { headers: { authorization: `Bearer ${"x".repeat(32)}` } });
    expect(wrong.status).toBe(401);
  });

  it("accepts the token only in the header", async () => {
    const { token } = served.dashboard;
    for (const path of [`/api/board?token=${token}`, `/api/board#token=${token}`]) {
      const asked = await served.ask(path, { headers: { authorization: null, cookie: `token=${token}` } });
      expect(asked.status).toBe(401);
    }
    expect((await served.ask("/api/board", { headers: { authorization: token } })).status).toBe(401);
  });

  it("answers only to its own host names, whatever name resolves to this machine", async () => {
    const { port } = served.dashboard;
    for (const host of [
      "evil.example",
      `evil.example:${port}`,
      "127.0.0.1",
      "127.0.0.1:1",
      `127.0.0.1.evil.example:${port}`,
    ]) {
      for (const path of ["/", "/api/board", "/assets/app.js"]) {
        const asked = await served.ask(path, { headers: { host } });
        expect([host, path, asked.status]).toEqual([host, path, 421]);
      }
    }
    expect((await served.ask("/api/board", { headers: { host: `localhost:${port}` } })).status).toBe(200);
  });

  it("refuses requests from pages of other sites, with and without the token", async () => {
    const { port } = served.dashboard;
    for (const origin of ["http://evil.example", "null", `http://127.0.0.1:${port + 1}`, `https://127.0.0.1:${port}`]) {
      const answer = await served.answer(
        { about: "login", verb: "abandon", message: "gone" },
        { headers: { origin, "content-type": "application/json" } },
      );
      expect([origin, answer.status]).toEqual([origin, 403]);
    }
    const site = await served.ask("/api/board", { headers: { "sec-fetch-site": "cross-site" } });
    expect(site.status).toBe(403);
    const own = await served.ask("/api/board", {
      headers: { origin: `http://127.0.0.1:${port}`, "sec-fetch-site": "same-origin" },
    });
    expect(own.status).toBe(200);
    const types = (await served.host.lines()).map(({ event }) => event.type);
    expect(types).not.toContain("person.answered");
  });

  it("does not allow other sites to read", async () => {
    const asked = await served.ask("/api/board", {
      method: "OPTIONS",
      headers: { origin: `http://127.0.0.1:${served.dashboard.port}` },
    });
    expect(asked.headers["access-control-allow-origin"]).toBeUndefined();
    expect(asked.headers["access-control-allow-headers"]).toBeUndefined();
  });
});

describe("responses", () => {
  test.each(["/", "/inbox", "/ledger", "/trail", "/health", "/story/login", "/story/login/diff"])(
    "%s is a shell without data, and needs no token",
    async (path) => {
      const page = await served.ask(path, { headers: { authorization: null } });
      expect(page).toMatchObject({ status: 200, text: "<!doctype html><title>Remand</title>" });
    },
  );

  it("tell the browser to load no remote resource and to run no inline script", async () => {
    for (const path of ["/", "/api/board", "/api/nothing", "/assets/app.js", "/no/such/page"]) {
      const { headers } = await served.ask(path);
      const policy = String(headers["content-security-policy"]);
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self';");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
      expect(headers).toMatchObject({
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-resource-policy": "same-origin",
        "cache-control": "no-store",
      });
    }
  });

  test.each([
    "/../package.json",
    "/..%2f..%2fpackage.json",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/assets/../../package.json",
    "/assets/..%2f..%2fmain.js",
    "/assets//etc/passwd",
    "/story/..%2f..%2fetc",
    "//etc/passwd",
    "/assets/app.js%00.html",
  ])("%s reaches no file", async (path) => {
    const asked = await served.ask(path);
    expect(asked.status).not.toBe(200);
    expect(asked.text).not.toMatch(/root:|"name"/);
  });

  test.each(["..%2f..%2fjournal.db", "../../../etc/passwd", "%2e%2e%2fjournal", "e1/../e1", "E1", "", "a".repeat(65)])(
    "evidence %s is no path",
    async (id) => {
      const asked = await served.ask(`/api/evidence/${id}`);
      expect(asked.status).toBe(404);
    },
  );
});
