import { Hono } from "hono";
import { RemandError, type ErrorCode } from "../domain/error.ts";
import { createDesk } from "./desk.ts";
import { guard, headers } from "./guard.ts";
import type { Live } from "./live.ts";
import { readRoutes } from "./read-routes.ts";
import type { DashboardSource } from "./source.ts";
import { storyRoutes } from "./story-routes.ts";
import { writeRoutes } from "./write-routes.ts";

/** The pages and what they ask for. A page is a shell without data: what is in it comes with the token. */
export function createApp(source: DashboardSource, live: Live, door: { token: string; port(): number }): Hono {
  const app = new Hono();
  app.use(headers());
  app.use(guard(door));
  const desk = createDesk(source, live);
  app.route("/api", readRoutes(desk));
  app.route("/api", storyRoutes(desk));
  app.route("/api", writeRoutes(desk));
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
    return c.json({ error: "this is a fault of Remand's own", hint: error.name }, 500);
  });
  return app;
}

/** What is not there, and what this dashboard may not say; everything else is trouble with the project's files. */
const STATUS_OF: Readonly<Partial<Record<ErrorCode, 403 | 404>>> = { usage: 404, "not-a-person": 403 };

const PAGES = /^\/(?:$|inbox$|ledger$|trail$|health$|story\/[A-Za-z0-9._-]{1,100}(?:\/diff)?$)/;
