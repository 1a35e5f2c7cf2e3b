import { randomBytes } from "node:crypto";
import type { Server } from "node:http";
import { Hono } from "hono";
import { serve } from "@hono/node-server";
import { type ErrorCode, RemandError } from "../core/events/error.ts";
import { createServerContext } from "./context.ts";
import { guard, headers, tokenHash } from "./guard.ts";
import { type Asset, type Live, createLive, type DashboardSource } from "./live.ts";
import { nowRoutes } from "./now-routes.ts";
import { fileRoutes, readRoutes, storyRoutes } from "./read-routes.ts";
import { writeRoutes } from "./write-routes.ts";
import { closeServer, portOf } from "./health.ts";

/** Creates the pages and the API. A page contains no data: the data comes from the API, with the token. */
function createApp(source: DashboardSource, live: Live, door: Parameters<typeof guard>[0]): Hono {
  const app = new Hono();
  app.use(headers());
  app.use(guard(door));
  const context = createServerContext(source, live);
  app.route("/api", readRoutes(context));
  app.route("/api", storyRoutes(context));
  app.route("/api", fileRoutes(context));
  app.route("/api", nowRoutes(context));
  app.route("/api", writeRoutes(context));
  app.all("/api/*", (c) => c.json({ error: "not found", hint: "" }, 404));
  app.get("*", (c) => {
    const { path } = c.req;
    // Only built files are served, by exact name: the path of a request never reaches the disk.
    const asset =
      source.assets.get(path) ??
      countedIcon(source, path) ??
      (PAGES.test(path) ? source.assets.get("/index.html") : undefined);
    if (asset !== undefined) return c.body(asset.bytes, 200, { "content-type": asset.type });
    // A person gets a page that explains the error and links on; a program gets one line.
    const shell = c.req.header("accept")?.includes("text/html") === true ? source.assets.get("/index.html") : undefined;
    if (shell === undefined) return c.text("Not found.\n", 404);
    return c.body(shell.bytes, 404, { "content-type": shell.type });
  });
  app.onError((error, c) => {
    if (error instanceof RemandError) {
      const { clean } = context;
      const hint = clean(withoutOptions(error.hint));
      return c.json({ error: clean(error.message), hint }, STATUS_OF[error.code] ?? 503);
    }
    return c.json({ error: "this is a bug in Remand", hint: error.name }, 500);
  });
  return app;
}

/** Hints with command-line options help at a terminal, but not in a form. */
const withoutOptions = (hint: string): string => (/(?:^|\s)--\w/.test(hint) ? "" : hint);

/** The icon with the number of open questions on it: `/icon-3.svg`; `many` for more than nine. */
function countedIcon({ assets }: DashboardSource, path: string): Asset | undefined {
  const count = /^\/icon-([1-9]|many)\.svg$/.exec(path)?.[1];
  const icon = count === undefined ? undefined : assets.get("/icon.svg");
  if (icon === undefined) return undefined;
  const mark =
    '<circle cx="22" cy="10" r="10" fill="#f5a524"/>' +
    `<text x="22" y="15" font-family="sans-serif" font-size="15" font-weight="700" text-anchor="middle">${count === "many" ? "+" : count}</text>`;
  const svg = new TextDecoder().decode(icon.bytes).replace("</svg>", `${mark}</svg>`);
  return { type: icon.type, bytes: new TextEncoder().encode(svg) };
}

/**
 * Missing things, and answers that this dashboard may not give; every other error is a problem with the project's
 * files.
 */
const STATUS_OF: Readonly<Partial<Record<ErrorCode, 400 | 403 | 404>>> = {
  usage: 404,
  "not-a-person": 403,
  "input-invalid": 400,
};

const PAGES =
  /^\/(?:$|(?:inbox|new|live|stories|graph|cost|events|settings|ledger|trail|health)$|question\/[A-Za-z0-9._-]{1,120}$|story\/[A-Za-z0-9._-]{1,100}(?:\/(?:diff|edit))?$)/;

export interface Dashboard {
  readonly port: number;
  readonly token: string;
  /** The address with the token after the `#`, which browsers never send. */
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
  const tokens = [tokenHash(token), ...(source.earlierTokens ?? [])];
  const app = createApp(source, live, { tokens, port: () => listening });
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
