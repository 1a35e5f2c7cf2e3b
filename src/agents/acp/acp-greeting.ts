import { rm } from "node:fs/promises";
import { isRecord } from "../../stdx/assert.ts";
import { type Environment, allowedEnvironment } from "../../adapters/process/environment.ts";
import { makeTempFolder } from "../../adapters/process/temp-folders.ts";
import { runProcess } from "../../adapters/process/run-process.ts";
import { type AgentProbe, QUIET } from "../client/client.ts";
import { createRpcPeer, RpcError, type RpcPeer } from "./acp-rpc.ts";

/** An agent's answer to the initialization alone. */
export type AcpGreeting =
  | { readonly kind: "missing" }
  | { readonly kind: "silent"; readonly why: string }
  | {
      readonly kind: "speaks";
      readonly version: number;
      /** The agent's name for itself, if it gives one. */
      readonly agent: string;
      /** Whether it can resume a conversation. */
      readonly resumes: boolean;
      /** Whether it accepts MCP servers, through which agents report. */
      readonly takesServers: boolean;
      /** Why no conversation could be started; `null` if one could. */
      readonly trouble: { readonly isLogin: boolean; readonly words: string } | null;
    };

export interface AcpGreetingOptions {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** An empty folder, because an agent may load files from the folder it is started in. */
  readonly cwd: string;
  readonly env: Environment;
  readonly timeoutMs: number;
}

/** Starts the agent, initializes it and opens a conversation without a prompt: no model is called. */
async function greetAcp({ command, args, cwd, env, timeoutMs }: AcpGreetingOptions): Promise<AcpGreeting> {
  const over = new AbortController();
  let peer: RpcPeer | null = null;
  let greeting: AcpGreeting | null = null;
  const ended = await runProcess(
    {
      command: args === undefined ? command : [command, ...args],
      cwd,
      env,
      timeoutMs,
      sandbox: null,
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
    { signal: over.signal, onLine: (line, stream) => stream === "stdout" && peer?.receive(line) },
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

interface AcpLook {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Names of the variables that it may see. */
  readonly env?: readonly string[] | undefined;
}

/** Checks whether the agent exists, speaks the protocol, and can start a conversation. No model is called. */
export async function acpProbe(
  { command, args, env: sees = [] }: AcpLook,
  source: Readonly<Record<string, string | undefined>>,
): Promise<AgentProbe> {
  // An empty folder: the probe must not read the project.
  const cwd = await makeTempFolder("remand-probe-");
  try {
    const env = { ...allowedEnvironment(source, sees), ...QUIET };
    return acpProbeText(
      [command, ...(args ?? [])].join(" "),
      await greetAcp({ command, args, cwd, env, timeoutMs: PATIENCE_MS }),
    );
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

const PATIENCE_MS = 20_000;

function acpProbeText(line: string, greeting: AcpGreeting): AgentProbe {
  const problem = (detail: string, fix: string): AgentProbe => ({
    name: "acp",
    ok: false,
    detail: `${line}: ${detail}`,
    fix,
  });
  if (greeting.kind === "missing")
    return problem("not found", "Install the agent, or name its program in the role's `command`.");
  if (greeting.kind === "silent")
    return problem(
      `it does not speak the Agent Client Protocol: ${greeting.why}`,
      "Call it so that it does: most agents want an argument for that, such as `gemini --acp`.",
    );
  const { version, agent, resumes, takesServers, trouble } = greeting;
  if (version !== 1)
    return problem(`it speaks version ${version} of the protocol`, "Install a version of it that speaks version 1.");
  if (trouble !== null)
    return trouble.isLogin
      ? problem("no login", "Start it by hand and log in, or name the variable with its key in the role's `env`.")
      : problem(`it starts no conversation: ${trouble.words}`, "Start it by hand and fix what it reports.");
  const can = [
    resumes ? "resumes conversations" : "starts every conversation new",
    takesServers ? "takes tools to report by" : "reports by its message",
  ];
  return { name: "acp", ok: true, detail: [`${line}${agent === "" ? "" : ` (${agent})`}`, ...can].join(", "), fix: "" };
}
