import { isRecord } from "../../stdx/assert.ts";
import type { Environment } from "../../adapters/process/environment.ts";
import { runProcess } from "../../adapters/process/run-process.ts";
import { createRpcPeer, RpcError, type RpcPeer } from "./acp-rpc.ts";

/** How an agent answers when it is only greeted. */
export type AcpGreeting =
  | { readonly kind: "missing" }
  | { readonly kind: "silent"; readonly why: string }
  | {
      readonly kind: "speaks";
      readonly version: number;
      /** What it calls itself, where it does. */
      readonly agent: string;
      /** Can it go on with a conversation? */
      readonly resumes: boolean;
      /** Does it take the tools to report by? */
      readonly takesServers: boolean;
      /** `null`: a conversation could be begun. Else what keeps it from that. */
      readonly trouble: { readonly isLogin: boolean; readonly words: string } | null;
    };

export interface AcpGreetingOptions {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** An empty folder: what an agent finds where it is started, it may load. */
  readonly cwd: string;
  readonly env: Environment;
  readonly timeoutMs: number;
}

/** Starts the agent, greets it and opens a conversation in which nothing is said: no model is asked. */
export async function greetAcp({ command, args, cwd, env, timeoutMs }: AcpGreetingOptions): Promise<AcpGreeting> {
  const over = new AbortController();
  let peer: RpcPeer | null = null;
  let greeting: AcpGreeting | null = null;
  const ended = await runProcess(
    {
      command: args === undefined ? command : [command, ...args],
      cwd,
      env,
      timeoutMs,
      stdin(input) {
        peer = createRpcPeer({
          send: (line) => input.write(line),
          onRequest: () => null,
          onNotification: () => undefined,
        });
        void greet(peer, cwd).then((answer) => {
          greeting = answer;
          input.end();
          return over.abort();
        });
      },
    },
    { signal: over.signal, onLine: (line, stream) => stream === "stdout" && peer?.hear(line) },
  );
  if (greeting !== null) return greeting;
  if (ended.failure !== null || ended.exitCode === 127) return { kind: "missing" };
  const words = ended.output.trim().split("\n").at(-1)!.slice(0, 200);
  const how = ended.status === "timeout" ? "it does not answer" : `it ended with exit code ${ended.exitCode ?? "none"}`;
  return { kind: "silent", why: words === "" ? how : `${how}: ${words}` };
}

async function greet(peer: RpcPeer, cwd: string): Promise<AcpGreeting> {
  try {
    const answer = await peer.request("initialize", {
      protocolVersion: 1,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      clientInfo: { name: "remand", version: "1" },
    });
    const can = fieldsIn(answer["agentCapabilities"]);
    const { name = "", version = "" } = fieldsIn(answer["agentInfo"]);
    return {
      kind: "speaks",
      version: Number(answer["protocolVersion"]),
      agent: `${String(name)} ${String(version)}`.trim(),
      resumes: can["loadSession"] === true || isRecord(fieldsIn(can["sessionCapabilities"])["resume"]),
      takesServers: fieldsIn(can["mcpCapabilities"])["http"] === true,
      trouble: await troubleOf(peer, cwd),
    };
  } catch (fault) {
    return { kind: "silent", why: fault instanceof Error ? fault.message : String(fault) };
  }
}

async function troubleOf(peer: RpcPeer, cwd: string): Promise<{ isLogin: boolean; words: string } | null> {
  try {
    await peer.request("session/new", { cwd, mcpServers: [] });
    return null;
  } catch (fault) {
    const words = fault instanceof Error ? fault.message : String(fault);
    return { isLogin: fault instanceof RpcError && fault.code === AUTH_REQUIRED, words };
  }
}

const AUTH_REQUIRED = -32000;

const fieldsIn = (value: unknown): Readonly<Record<string, unknown>> => (isRecord(value) ? value : {});
