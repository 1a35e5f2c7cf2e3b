import { randomBytes } from "node:crypto";
import type { Server } from "node:http";
import { serve } from "@hono/node-server";
import { createApp } from "./app.ts";
import { closeServer, portOf } from "./listen.ts";
import { createLive, type Live } from "./live.ts";
import type { DashboardSource } from "./source.ts";

export interface Dashboard {
  readonly port: number;
  readonly token: string;
  /** With the token behind the `#`: a browser sends that part to nobody. */
  readonly url: string;
  close(): Promise<void>;
}

/** Serves the dashboard to this machine, and to nobody else. `port` 0: any that is free. */
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
      // Who reads is let go of first, and the journal after that: nobody reads from what is closed.
      await closeServer(server);
      await live.close();
    },
  };
}
