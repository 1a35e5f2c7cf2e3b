import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Behavior } from "../contract/agent.ts";

/** The fake's behavior beyond the agents' contract. */
export interface AcpBehavior extends Behavior {
  /** Its capabilities, in the protocol's form. */
  readonly capabilities?: object;
  /** Permissions that it requests, one after the other, before it does anything. */
  readonly asks?: readonly object[];
  /** Calls of tools of the server that it was given. */
  readonly calls?: readonly object[];
  readonly modes?: readonly { readonly id: string }[];
  /** Whether it does not exit after its answer. */
  readonly stays?: boolean;
  readonly agentInfo?: object;
  /** The version that it answers with, whatever is requested. */
  readonly protocol?: number;
  /** The error with which it refuses to open a conversation: code and message. */
  readonly opens?: readonly [number, string];
  /** Whether it works until it is interrupted, and then reports that. */
  readonly polite?: boolean;
}

/** Makes a small agent that speaks the Agent Client Protocol. It records its input in `heard.jsonl` beside it. */
export function makeAcp(folder: string, behavior: AcpBehavior): { readonly program: string; readonly heard: string } {
  mkdirSync(folder, { recursive: true });
  const program = join(folder, "agent");
  const heard = join(folder, "heard.jsonl");
  writeFileSync(
    program,
    `#!${process.execPath}\nconst place = ${JSON.stringify(folder)};\nconst behavior = ${JSON.stringify(behavior)};\n${AGENT}\n`,
  );
  chmodSync(program, 0o755);
  return { program, heard };
}

export interface AcpMessage {
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
}

export function heardBy(file: string): readonly AcpMessage[] {
  return readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as AcpMessage);
}

const AGENT = `
const fs = require("node:fs"), path = require("node:path"), { spawn } = require("node:child_process");
const { writes, says = "done", ends = "well", costs, capabilities = {}, asks = [], calls = [], modes, stays, polite, agentInfo, protocol, opens } = behavior;
const put = (message) => fs.writeSync(1, JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
let mine = 1000, servers = [], cwd = ".";
const waiting = new Map();
const ask = (method, params) => new Promise((resolve) => { waiting.set(++mine, resolve); put({ id: mine, method, params }); });
const update = (sessionId, update) => put({ method: "session/update", params: { sessionId, update } });
const known = (id) => fs.existsSync(path.join(place, id));
const fault = (code, message, data) => Object.assign(new Error(message), { code, data });
const TROUBLE = { auth: [-32000, "Authentication required"], overloaded: [-32603, "Internal error", { errorKind: "overloaded" }], "bad-request": [-32602, "Invalid params: model not found"], "rate-limit": [-32603, "429 rate limit"], credit: [-32603, "Your credit balance is too low"], "context-length": [-32603, "prompt is too long"] };
const open = (params) => { servers = params.mcpServers; cwd = params.cwd; };
const handlers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion: protocol ?? protocolVersion, agentCapabilities: capabilities, agentInfo, authMethods: [] }),
  "session/new": (params) => { if (opens) throw fault(...opens); open(params); const sessionId = "s" + fs.readdirSync(place).length; fs.writeFileSync(path.join(place, sessionId), ""); return { sessionId, ...(modes ? { modes: { currentModeId: "x", availableModes: modes } } : {}) }; },
  "session/load": (params) => { if (!known(params.sessionId)) throw fault(-32002, "Resource not found"); open(params); update(params.sessionId, { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "OLD WORDS" } }); return {}; },
  "session/resume": (params) => { if (!known(params.sessionId)) throw fault(-32002, "Resource not found"); open(params); return {}; },
  "session/set_mode": () => ({}),
  "session/set_model": ({ modelId }) => { if (modelId === "none") throw fault(-32602, "model none does not exist"); return {}; },
  "session/prompt": async ({ sessionId }) => {
    if (ends === "crash") { process.stderr.write("Segmentation fault\\n"); process.exit(139); }
    if (ends === "hang") { spawn("sh", ["-c", 'trap "" INT TERM; while :; do sleep 1; done'], { detached: true, stdio: "ignore" }); setInterval(() => {}, 1000); return new Promise(() => {}); }
    if (polite) { setInterval(() => {}, 1000); return new Promise((resolve) => process.on("SIGINT", () => resolve({ stopReason: "cancelled" }))); }
    if (ends === "refused") return { stopReason: "refusal" };
    if (ends !== "well") throw fault(...TROUBLE[ends]);
    for (const { toolCall, announced } of asks) {
      if (announced) update(sessionId, { sessionUpdate: "tool_call", ...announced });
      await ask("session/request_permission", { sessionId, toolCall, options: [{ optionId: "y!", name: "always", kind: "allow_always" }, { optionId: "y", name: "yes", kind: "allow_once" }, { optionId: "n", name: "no", kind: "reject_once" }] });
    }
    for (const params of calls) {
      const [{ url, headers }] = servers;
      const answer = await fetch(url, { method: "POST", headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])), body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }) });
      await answer.json();
    }
    if (writes) { fs.mkdirSync(path.dirname(path.join(cwd, writes.path)), { recursive: true }); fs.writeFileSync(path.join(cwd, writes.path), writes.text); }
    for (let at = 0; at < says.length; at += 7) update(sessionId, { sessionUpdate: "agent_message_chunk", content: { type: "text", text: says.slice(at, at + 7) } });
    if (costs) update(sessionId, { sessionUpdate: "usage_update", used: 1, size: 2, cost: { amount: costs.costUsd, currency: "USD" } });
    return { stopReason: "end_turn", ...(costs ? { usage: { totalTokens: costs.tokens } } : {}) };
  },
};
let rest = "";
process.stdin.on("data", (data) => {
  const lines = (rest + data).split("\\n");
  rest = lines.pop();
  for (const line of lines) {
    fs.appendFileSync(path.join(place, "heard.jsonl"), line + "\\n");
    const { id, method, params, result } = JSON.parse(line);
    if (method === undefined) { waiting.get(id)?.(result); continue; }
    process.stdout.write("some words that are no message\\n");
    Promise.resolve().then(() => handlers[method](params)).then((result) => put({ id, result }), ({ code = -32603, message, data }) => put({ id, error: { code, message, data } }));
  }
});
process.stdin.on("end", () => { if (!stays && ends !== "hang") process.exit(0); });
if (stays) setInterval(() => {}, 1000);
`;
