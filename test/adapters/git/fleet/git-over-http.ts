import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";

export interface GitServer {
  readonly port: number;
  /** Every later request gets this status. */
  deny(status: number): void;
  close(): Promise<void>;
}

/** Serves git over HTTP by git's own program, behind a login. */
export async function gitOverHttp(
  root: string,
  login: { readonly user: string; readonly password: string },
): Promise<GitServer> {
  const program = join(execFileSync("git", ["--exec-path"], { encoding: "utf8" }).trim(), "git-http-backend");
  const wanted = `Basic ${Buffer.from(`${login.user}:${login.password}`).toString("base64")}`;
  let denied = 0;
  const server = createServer((request, response) => {
    if (denied !== 0) response.writeHead(denied).end();
    else if (request.headers.authorization !== wanted)
      response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end();
    else answer(program, root, request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as { port: number }).port,
    deny: (status) => (denied = status),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function answer(program: string, root: string, request: IncomingMessage, response: ServerResponse): void {
  const [path = "", query = ""] = (request.url ?? "").split("?");
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: root,
    GIT_PROJECT_ROOT: root,
    GIT_HTTP_EXPORT_ALL: "1",
    PATH_INFO: path,
    QUERY_STRING: query,
    REQUEST_METHOD: request.method ?? "GET",
    CONTENT_TYPE: request.headers["content-type"] ?? "",
    HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
    GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
    REMOTE_USER: "worker",
  };
  const child = spawn(program, [], { env });
  request.pipe(child.stdin);
  const parts: Buffer[] = [];
  child.stdout.on("data", (part: Buffer) => parts.push(part));
  child.once("close", () => {
    const whole = Buffer.concat(parts);
    const end = whole.indexOf("\r\n\r\n");
    const headers = whole.subarray(0, end).toString().split("\r\n");
    const status = headers.find((header) => header.startsWith("Status: "))?.slice(8, 11) ?? "200";
    for (const header of headers) {
      const [name = "", value = ""] = header.split(": ");
      if (name !== "" && name !== "Status") response.setHeader(name, value);
    }
    response.writeHead(Number(status)).end(whole.subarray(end + 4));
  });
}
