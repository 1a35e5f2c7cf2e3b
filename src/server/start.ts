import { randomBytes } from "node:crypto";
import type { Server } from "node:http";
import { serve } from "@hono/node-server";
import { RemandError } from "../domain/error.ts";
import { createApp } from "./app.ts";
import { createLive } from "./live.ts";
import type { DashboardSource } from "./source.ts";

export interface Dashboard {
  readonly port: number;
  readonly token: string;
  /** With the token behind the `#`: a browser sends that part to nobody. */
  readonly url: string;
  close(): Promise<void>;
}

/** Serves the dashboard to this machine, and to nobody else. `port` 0: any that is free. */
export async function startDashboard(source: DashboardSource, port: number): Promise<Dashboard> {
  const token = randomBytes(24).toString("base64url");
  const live = createLive(source);
  let listening = port;
  const app = createApp(source, live, { token, port: () => listening });
  const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port }) as Server;
  try {
    listening = await portOf(server, port);
  } catch (error) {
    await live.close();
    throw error;
  }
  return {
    port: listening,
    token,
    url: `http://127.0.0.1:${listening}/#token=${token}`,
    close: async () => {
      // Who reads is let go of first, and the journal after that: nobody reads from what is closed.
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeAllConnections();
      await closed;
      await live.close();
    },
  };
}

function portOf(server: Server, wanted: number): Promise<number> {
  return new Promise((done, failed) => {
    server.once("listening", () => {
      const address = server.address();
      done(typeof address === "object" && address !== null ? address.port : wanted);
    });
    server.once("error", (error) =>
      failed(
        new RemandError(
          "usage",
          `port ${wanted} cannot be had: ${error.message}`,
          "Give another: --port 0 takes any.",
          {
            cause: error,
          },
        ),
      ),
    );
  });
}
