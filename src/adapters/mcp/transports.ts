import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Readable, Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { Tool } from "../../ports/agent.ts";
import { sha256 } from "../../stdx/sha256.ts";
import { createMcpSession, fault, PARSE_FAULT, type McpOptions } from "./session.ts";

/** The address of a server. */
export interface McpAddress {
  readonly port: number;
  /** Every request must carry it. Each server has its own. */
  readonly token: string;
}

/** An open server with tools that one agent can call. */
export interface McpHttpServer extends McpAddress {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Offers tools to a client on this machine. Each dispatch has its own server, which closes with it. `last` is the
 * address of a dead engine's server that the client still knows: it is reused unless another program has the port now.
 */
export async function openMcpServer(
  tools: readonly Tool[],
  options: McpOptions,
  last: McpAddress | null = null,
): Promise<McpHttpServer> {
  const token = last?.token ?? randomBytes(32).toString("hex");
  const session = createMcpSession(tools, options);
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  server.requestTimeout = 60_000;
  const port = await listening(server, last?.port ?? 0);
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const status = refusal(request, token, hosts);
    if (status !== null) return void response.writeHead(status, status === 405 ? { allow: "POST" } : {}).end();
    const body = await bodyOf(request);
    if (body === null) return void response.writeHead(413, { connection: "close" }).end();
    const message = parseJson(body);
    const said = message === undefined ? fault(null, PARSE_FAULT, "this is no JSON") : await session.answer(message);
    if (said === null) return void response.writeHead(202).end();
    response.writeHead(200, { "content-type": "application/json", "cache-control": "no-store" });
    response.end(JSON.stringify(said));
  }

  return {
    url: `http://127.0.0.1:${port}/mcp`,
    port,
    token,
    close: () => {
      session.close();
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function listening(server: Server, wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (wanted === 0 || error.code !== "EADDRINUSE") return reject(error);
      resolve(listening(server, 0));
    });
    server.listen(wanted, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

/**
 * Returns the status with which a request is rejected, or `null`. A page in a browser on this machine can send requests
 * here too, but it has an origin, or a foreign host name that resolves to this machine, and no token.
 */
function refusal(request: IncomingMessage, token: string, hosts: readonly string[]): number | null {
  const { host = "", origin, authorization = "" } = request.headers;
  if (origin !== undefined || !hosts.includes(host)) return 403;
  if (!isSame(authorization, `Bearer ${token}`)) return 401;
  if (request.url !== "/mcp") return 404;
  return request.method === "POST" ? null : 405;
}

/** Compares in constant time, so that an attacker cannot guess the token letter by letter. */
const isSame = (given: string, wanted: string): boolean =>
  timingSafeEqual(Buffer.from(sha256(given.slice(0, 1000))), Buffer.from(sha256(wanted)));

const MAX_BYTES = 8 * 1024 * 1024;

/** Reads the body; `null` if it is over the size limit. */
async function bodyOf(request: IncomingMessage): Promise<string | null> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MAX_BYTES) return null;
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export interface StdioOptions extends McpOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}

/** Serves one JSON message per line in both directions. Resolves when the input ends and everything is answered. */
export async function serveStdio(tools: readonly Tool[], options: StdioOptions): Promise<void> {
  const { input, output, signal } = options;
  const session = createMcpSession(tools, options);
  const pending = new Set<Promise<void>>();
  const reply = async (line: string): Promise<void> => {
    const message = parseJson(line);
    const answer = message === undefined ? fault(null, PARSE_FAULT, "this is no JSON") : await session.answer(message);
    if (answer !== null) output.write(`${JSON.stringify(answer)}\n`);
  };
  const hear = (line: string): void => {
    if (line.trim() === "") return;
    const answered = reply(line);
    pending.add(answered);
    void answered.finally(() => pending.delete(answered));
  };
  const end = (): void => {
    session.close();
    input.destroy();
  };
  signal.addEventListener("abort", end, { once: true });
  try {
    for await (const line of linesOf(input)) {
      if (line === null) output.write(`${JSON.stringify(fault(null, PARSE_FAULT, "a message is too long"))}\n`);
      else hear(line);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener("abort", end);
  }
  await Promise.all(pending);
}

const LONGEST_CHARS = 8 * 1024 * 1024;

/** Yields the input's lines; `null` for a line over the length limit. */
async function* linesOf(input: Readable): AsyncGenerator<string | null> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  let isTooLong = false;
  for await (const chunk of input) {
    const pieces = decoder.write(chunk as Buffer).split("\n");
    for (const piece of pieces.slice(0, -1)) {
      yield isTooLong || rest.length + piece.length > LONGEST_CHARS ? null : rest + piece;
      rest = "";
      isTooLong = false;
    }
    rest = isTooLong ? "" : rest + pieces.at(-1)!;
    if (rest.length > LONGEST_CHARS) {
      rest = "";
      isTooLong = true;
    }
  }
  if (isTooLong) yield null;
  else if (rest !== "") yield rest;
}
