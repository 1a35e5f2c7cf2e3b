import { randomBytes } from "node:crypto";
import type { Server } from "node:http";
import { Hono } from "hono";
import { serve } from "@hono/node-server";
import { type ErrorCode, RemandError } from "../core/events/error.ts";
import { createServerContext } from "./context.ts";
import { guard, headers } from "./guard.ts";
import { type Live, createLive } from "./live.ts";
import { readRoutes, storyRoutes } from "./read-routes.ts";
import type { DashboardSource } from "./source.ts";
import { writeRoutes } from "./write-routes.ts";
import { closeServer, portOf } from "./health.ts";

/** The pages and what they ask for. A page is a shell without data: what is in it comes with the token. */
function createApp(source: DashboardSource, live: Live, door: { token: string; port(): number }): Hono {
  const app = new Hono();
  app.use(headers());
  app.use(guard(door));
  const context = createServerContext(source, live);
  app.route("/api", readRoutes(context));
  app.route("/api", storyRoutes(context));
  app.route("/api", writeRoutes(context));
  app.all("/api/*", (c) => c.json({ error: "there is nothing here", hint: "" }, 404));
  app.get("*", (c) => {
    const { path } = c.req;
    // Only what was built is served, by its exact name: no path of a request ever reaches the disk.
    const asset = source.assets.get(path) ?? (PAGES.test(path) ? source.assets.get("/index.html") : undefined);
    if (asset === undefined) return c.text("There is nothing here.\n", 404);
    return c.body(asset.bytes, 200, { "content-type": asset.type });
  });
  app.onError((error, c) => {
    if (error instanceof RemandError)
      return c.json({ error: error.message, hint: error.hint }, STATUS_OF[error.code] ?? 503);
    return c.json({ error: "this is a bug in Remand", hint: error.name }, 500);
  });
  return app;
}

/** What is not there, and what this dashboard may not say; everything else is trouble with the project's files. */
const STATUS_OF: Readonly<Partial<Record<ErrorCode, 403 | 404>>> = { usage: 404, "not-a-person": 403 };

const PAGES = /^\/(?:$|inbox$|ledger$|trail$|health$|story\/[A-Za-z0-9._-]{1,100}(?:\/diff)?$)/;

export interface Dashboard {
  readonly port: number;
  readonly token: string;
  /** With the token behind the `#`: a browser never sends that part. */
  readonly url: string;
  close(): Promise<void>;
}

/** Serves the dashboard to this machine only. `port` 0: any free port. */
export async function startDashboard(
  source: DashboardSource,
  port: number,
  live: Live = createLive(source),
): Promise<Dashboard> {
  const token = randomBytes(24).toString("base64url");
  let listening = port;
  const app = createApp(source, live, { token, port: () => listening });
  const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port }) as Server;
  try {
    listening = await portOf(server, port, "--port");
  } catch (error) {
    await live.close();
    throw error;
  }
  return {
    port: listening,
    token,
    url: `http://127.0.0.1:${listening}/#token=${token}`,
    close: async () => {
      // Readers are disconnected before the journal is closed.
      await closeServer(server);
      await live.close();
    },
  };
}
