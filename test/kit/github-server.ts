import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One answer of the made-up forge: a body, and what is special about it. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Sent as it is, and then the connection is cut. */
  readonly brokenText?: string;
}

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
}

export interface GithubServer {
  readonly url: string;
  readonly asked: readonly Asked[];
  /** What the next requests to a path are answered with, one after the other; the last one stays. */
  on(route: string, ...replies: readonly (Reply | ((asked: Asked) => Reply))[]): void;
  close(): Promise<void>;
}

/** Speaks as much of GitHub's REST interface as a test tells it to, on loopback. What it was not told is a 404. */
export async function startGithubServer(): Promise<GithubServer> {
  const routes = new Map<string, (Reply | ((asked: Asked) => Reply))[]>();
  const asked: Asked[] = [];
  const server = createServer((request, response) => void handle(request, response));

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const now = {
      method: request.method ?? "GET",
      path: request.url ?? "/",
      headers: request.headers,
      body: text === "" ? null : (JSON.parse(text) as unknown),
    };
    asked.push(now);
    const replies = routes.get(`${now.method} ${pathname}`) ?? [];
    const first = replies.length > 1 ? replies.shift()! : replies[0];
    const reply: Reply =
      first === undefined
        ? { status: 404, body: { message: "Not Found" } }
        : typeof first === "function"
          ? first(now)
          : first;
    if (reply.brokenText !== undefined) {
      response.writeHead(200, { "content-type": "text/plain", "content-length": "100000" });
      response.write(reply.brokenText, () => response.destroy());
      return;
    }
    response.writeHead(reply.status ?? 200, {
      "content-type": typeof reply.body === "string" ? "text/plain" : "application/json",
      ...reply.headers,
    });
    response.end(typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body ?? null));
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    on: (route, ...replies) => void routes.set(route, [...replies]),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
