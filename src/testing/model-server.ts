import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { anthropicWire } from "./anthropic-wire.ts";
import { geminiWire } from "./gemini-wire.ts";
import type { ModelAnswer, ModelRequest, Reply, Wire } from "./wire.ts";
import { responsesWire, chatWire } from "./openai-wire.ts";

export interface ModelServer {
  /** `http://127.0.0.1:<port>`, without a trailing slash. */
  readonly url: string;
  /**
   * Variables that make clients and SDKs use this server instead of their provider, with keys that are valid nowhere.
   */
  readonly env: Readonly<Record<string, string>>;
  /** Arguments that make Codex use this server as its provider; the key is in `env`. */
  readonly codexArgs: readonly string[];
  /** The requests since the newest script was set, oldest first. */
  readonly requests: readonly ModelRequest[];
  /**
   * Unexpected events since the server started: requests in no known protocol, requests after the end of a list of
   * replies, and scripts that threw. Empty after a successful rehearsal.
   */
  readonly unexpected: readonly string[];
  /**
   * Sets the replies from now on. A function is called for each request, including repeated ones. A list has one reply
   * per request, in order.
   */
  script(replies: Script): void;
  close(): Promise<void>;
}

export type Script = readonly Reply[] | ((request: ModelRequest) => Reply);

const WIRES = [anthropicWire, responsesWire, chatWire, geminiWire];

/**
 * Starts a scripted model on loopback that speaks the protocols of real providers. It needs no key and costs nothing.
 */
export async function startModelServer(): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  const unexpected: string[] = [];
  let next: (request: ModelRequest) => Reply = () => outOfScript(unexpected, "there is no script yet");

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "").split("?")[0]!;
    const text = await textOf(request);
    // Older clients first check that the server is up.
    if (request.method === "HEAD") return void response.writeHead(200).end();
    const wire = request.method === "POST" ? WIRES.find(({ takes }) => takes(path)) : undefined;
    if (wire === undefined) {
      unexpected.push(`${request.method} ${request.url}`);
      return sendJson(response, 404, { error: { message: "this model does not know that request" } });
    }
    const { isStreamed, ...said } = wire.read(JSON.parse(text), path);
    const asked: ModelRequest = { api: wire.api, ...said, text, headers: request.headers };
    requests.push(asked);
    send(response, wire, asked, next(asked), isStreamed);
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      const words = `${request.method} ${request.url}: ${String(error)}`;
      unexpected.push(words);
      // Clients do not retry this status, so the script's author sees the error at once.
      sendJson(response, 400, { error: { message: words } });
    });
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    env: environmentFor(url),
    codexArgs: codexArgsFor(url),
    requests,
    unexpected,
    script(replies) {
      next = typeof replies === "function" ? replies : inOrder(replies, unexpected);
      requests.length = 0;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function inOrder(replies: readonly Reply[], unexpected: string[]): () => Reply {
  const left = [...replies];
  return () => left.shift() ?? outOfScript(unexpected, `the script ended after ${replies.length} replies`);
}

function outOfScript(unexpected: string[], why: string): Reply {
  unexpected.push(why);
  return { fails: 400, message: why };
}

function send(response: ServerResponse, wire: Wire, asked: ModelRequest, reply: Reply, isStreamed: boolean): void {
  if ("hangs" in reply) return;
  if ("fails" in reply) {
    const { retryAfterSeconds: after } = reply;
    const headers = after === undefined ? {} : { "retry-after": String(after) };
    return sendJson(response, reply.fails, wire.error(reply), headers);
  }
  const type = isStreamed ? "text/event-stream" : "application/json";
  response.writeHead(200, { "content-type": type, "cache-control": "no-store" });
  if ("garbles" in reply) return void response.end(reply.garbles);
  const answer = "answers" in reply ? inForm(reply, asked) : reply;
  if (!isStreamed) return void response.end(JSON.stringify(wire.whole(answer, asked.model)));
  for (const event of wire.pieces(answer, asked.model)) {
    const name = typeof event["type"] === "string" ? `event: ${event["type"]}\n` : "";
    response.write(`${name}data: ${JSON.stringify(event)}\n\n`);
  }
  response.end(wire.end === undefined ? "" : `data: ${wire.end}\n\n`);
}

/**
 * Claude Code, and the AI SDK with some models, have a tool for structured output; other clients expect a JSON message.
 */
function inForm({ answers, ...counted }: Extract<Reply, { answers: object }>, { tools }: ModelRequest): ModelAnswer {
  const tool = ["StructuredOutput", "json"].find((name) => tools.includes(name));
  return tool === undefined
    ? { says: JSON.stringify(answers), ...counted }
    : { calls: tool, input: answers, ...counted };
}

function sendJson(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}

const KEY = "rehearsal";

const environmentFor = (url: string): Readonly<Record<string, string>> => ({
  ANTHROPIC_BASE_URL: url,
  ANTHROPIC_API_KEY: KEY,
  OPENAI_BASE_URL: `${url}/v1`,
  OPENAI_API_KEY: KEY,
  CODEX_API_KEY: KEY,
  GOOGLE_GEMINI_BASE_URL: url,
  GEMINI_API_KEY: KEY,
});

function codexArgsFor(url: string): readonly string[] {
  const provider = `name="rehearsal",base_url="${url}/v1",env_key="CODEX_API_KEY",wire_api="responses"`;
  return [
    "-c",
    'model_provider="rehearsal"',
    "-c",
    `model_providers.rehearsal={${provider},request_max_retries=0,stream_max_retries=0}`,
  ];
}
