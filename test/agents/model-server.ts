import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ModelRequest, Reply } from "./model.ts";
import { anthropicError, anthropicReply, readAnthropic } from "./anthropic-wire.ts";
import { openAiError, openAiReply, readOpenAi } from "./open-ai-wire.ts";

export interface ModelServer {
  readonly url: string;
  readonly requests: readonly ModelRequest[];
  /** What is answered from now on. Asked again for each request, so that a request that is tried again is answered again. */
  script(answer: (request: ModelRequest) => Reply): void;
  /** Requests that no protocol here knows: whoever expects none looks. */
  readonly unknown: readonly string[];
  close(): Promise<void>;
}

/** A model on loopback that does what a test says, and speaks as the real ones do. */
export async function startModelServer(): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  const unknown: string[] = [];
  let answer: (request: ModelRequest) => Reply = () => ({ says: "the script is empty" });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "").split("?")[0]!;
    const body = await textOf(request);
    // Older clients look whether anybody is there at all.
    if (request.method === "HEAD") return void response.writeHead(200).end();
    const isAnthropic = request.method === "POST" && path.endsWith("/v1/messages");
    const isOpenAi = request.method === "POST" && path.endsWith("/responses");
    if (!isAnthropic && !isOpenAi) {
      unknown.push(`${request.method} ${request.url}`);
      response.writeHead(404, { "content-type": "application/json" }).end('{"error":{"message":"not found"}}');
      return;
    }
    const data: unknown = JSON.parse(body);
    const read = isAnthropic ? readAnthropic(data) : readOpenAi(data);
    const asked: ModelRequest = {
      api: isAnthropic ? "anthropic" : "openai",
      ...read,
      text: body,
      headers: request.headers,
    };
    requests.push(asked);
    const reply = answer(asked);
    if ("hangs" in reply) return;
    if ("fails" in reply) {
      const retry = reply.retryAfterSeconds === undefined ? {} : { "retry-after": String(reply.retryAfterSeconds) };
      response.writeHead(reply.fails, { "content-type": "application/json", ...retry });
      response.end(JSON.stringify(isAnthropic ? anthropicError(reply) : openAiError(reply)));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    for (const event of isAnthropic ? anthropicReply(asked, reply) : openAiReply(asked, reply))
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      unknown.push(`${request.method} ${request.url}: ${String(error)}`);
      response.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    unknown,
    script(next) {
      answer = next;
      requests.length = 0;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}
