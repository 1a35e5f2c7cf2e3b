import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));

export interface BenchServer {
  readonly url: string;
  readonly origin: string;
  readonly token: string;
  /** The current memory of the process. */
  memoryMb(): number;
  ask(path: string): Promise<Response>;
  close(): Promise<void>;
}

/** `remand serve` in a separate process, to measure its memory alone. */
export async function serveFrom(root: string): Promise<BenchServer> {
  const child = spawn(process.execPath, [MAIN, "serve", "--port", "0", "--json", "--by", "bench", "-C", root], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  for await (const part of child.stdout) {
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
    ask: (path) => fetch(`${origin}/api${path}`, { headers: { authorization: `Bearer ${token}` } }),
    close: async () => {
      child.kill("SIGINT");
      await once(child, "exit");
    },
  };
}
