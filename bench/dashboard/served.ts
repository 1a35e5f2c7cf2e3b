import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));

export interface BenchServer {
  readonly url: string;
  readonly origin: string;
  readonly token: string;
  /** Resident memory, with garbage that Node has not collected yet. */
  memoryMb(): number;
  /** Memory that the server still refers to: after a full garbage collection. */
  liveMb(): Promise<number>;
  ask(path: string): Promise<Response>;
  close(): Promise<void>;
}

/** In the server's process: collects garbage when asked, and reports what is left. */
const REPORTER = `process.on("message", () => {
  gc();
  const { heapUsed, external } = process.memoryUsage();
  process.send(heapUsed + external);
});
process.channel.unref();`;

/** `remand serve` in a separate process, to measure its memory alone. */
export async function serveFrom(root: string): Promise<BenchServer> {
  const preload = ["--expose-gc", "--import", `data:text/javascript,${encodeURIComponent(REPORTER)}`];
  const serve = [MAIN, "serve", "--port", "0", "--json", "--by", "bench", "-C", root];
  const child = spawn(process.execPath, [...preload, ...serve], { stdio: ["ignore", "pipe", "inherit", "ipc"] });
  let text = "";
  for await (const part of child.stdout!) {
    text += String(part);
    if (text.trimEnd().endsWith("}")) break;
  }
  const { url, port, token } = JSON.parse(text) as { url: string; port: number; token: string };
  const origin = `http://127.0.0.1:${port}`;
  return {
    url,
    origin,
    token,
    memoryMb: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) / 1024,
    liveMb: async () => {
      child.send("measure");
      const [bytes] = (await once(child, "message")) as [number];
      return bytes / 1024 / 1024;
    },
    ask: (path) => fetch(`${origin}/api${path}`, { headers: { authorization: `Bearer ${token}` } }),
    close: async () => {
      child.kill("SIGINT");
      await once(child, "exit");
    },
  };
}
