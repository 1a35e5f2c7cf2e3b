import type { Agent, AgentControl, AgentError, AgentRequest, AgentResult } from "../../ports/agent.ts";
import { allowedEnvironment } from "../../adapters/process/environment.ts";
import { type ProcessResult, runProcess } from "../../adapters/process/run-process.ts";
import { type ClientAgentOptions, exitError, failedResult, messageOf } from "../client/client.ts";
import { isRecord, type JsonObject } from "../../stdx/assert.ts";
import { type AcpTurn, EMPTY_TURN, createAcpListener } from "./acp-listener.ts";
import { HUNG_UP, RpcError, type RpcPeer, createRpcPeer } from "./acp-rpc.ts";
import { clientSandbox } from "../client/client-program.ts";

export interface AcpAgentOptions extends Omit<ClientAgentOptions, "command" | "root"> {
  /** The program that speaks the protocol: a shell command line (`gemini --acp`), or with `args` the program alone. */
  readonly command: string;
}

/**
 * Runs any agent that speaks the Agent Client Protocol on stdin and stdout. The protocol has no structured answers, and
 * agents report usage as they like: it is passed on where it is clear. Requests for permission are answered by the
 * access alone; an agent that does not ask is not restricted by the protocol.
 */
export function createAcpAgent(options: AcpAgentOptions): Agent {
  return {
    name: "acp",
    async run(request, control) {
      const beganAt = performance.now();
      try {
        return { ...(await converse(options, request, control)), durationMs: performance.now() - beganAt };
      } catch (error) {
        const message = `${options.command} could not be started: ${messageOf(error)}`;
        return failedResult({ kind: "launch", message }, performance.now() - beganAt);
      }
    },
  };
}

/** Starts a new conversation, once, when the old one has become too long: the brief has everything the agent needs. */
async function converse(options: AcpAgentOptions, request: AgentRequest, control: AgentControl): Promise<AgentResult> {
  const first = await dispatch(options, request, control);
  const leftMs = request.timeoutMs - first.durationMs;
  const isFull = first.error?.kind === "context-length" && request.session !== null;
  if (!isFull || control.signal.aborted || leftMs <= 0) return first;
  control.onEvent({ type: "output", line: "acp: the conversation has become too long; a new one is begun" });
  const second = await dispatch(options, { ...request, session: null, timeoutMs: leftMs }, control);
  return { ...second, tokens: sum(first.tokens, second.tokens), costUsd: sum(first.costUsd, second.costUsd) };
}

/** Returns the sum; `null` if either part is unknown. */
const sum = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b);

async function dispatch(options: AcpAgentOptions, request: AgentRequest, control: AgentControl): Promise<AgentResult> {
  const { environment, cookieOf, command, args, edits = "edit" } = options;
  const access = request.access === "edit" ? edits : request.access;
  const env = { ...allowedEnvironment(environment.source, environment.sees), ...request.env };
  const box = await clientSandbox(options.sandbox, env, { folders: [] });
  const over = new AbortController();
  const beganAt = performance.now();
  let talk: AcpConversation | null = null;
  let isDone = false;
  const ended = await runProcess(
    {
      command: args === undefined ? command : [command, ...args],
      cwd: request.cwd,
      env,
      timeoutMs: request.timeoutMs,
      maxOutputBytes: LONGEST_LINE_BYTES,
      ...box,
      ...(cookieOf === undefined ? {} : { cookie: cookieOf(request.key) }),
      stdin(input) {
        talk = createAcpConversation({
          request,
          access,
          instructions: options.instructions,
          send: (line) => input.write(line),
          onEvent: control.onEvent,
        });
        void talk.converse().then(() => {
          // A polite end after the engine's abort or timeout is no answer.
          isDone = !control.signal.aborted && performance.now() - beganAt < request.timeoutMs;
          input.end();
          // After its answer an agent has nothing more to do, but not every agent exits by itself.
          return setTimeout(() => over.abort(), PATIENCE_MS).unref();
        });
      },
    },
    {
      signal: AbortSignal.any([control.signal, over.signal]),
      onLine: (line, stream) => stream === "stdout" && talk?.receive(line),
    },
  );
  const wasDone = isDone;
  (talk as AcpConversation | null)?.hangUp();
  const turn = (talk as AcpConversation | null)?.turn() ?? EMPTY_TURN;
  return resultOf(ended, turn, wasDone, request, command);
}

const PATIENCE_MS = 2000;
/** Longer lines arrive in pieces, which are not valid messages. */
const LONGEST_LINE_BYTES = 8 * 1024 * 1024;

function resultOf(
  ended: ProcessResult,
  turn: AcpTurn,
  wasDone: boolean,
  { session: before }: AgentRequest,
  command: string,
): AgentResult {
  const wasStopped = !wasDone && (ended.status === "timeout" || ended.status === "cancelled");
  const error = wasStopped ? null : wasDone ? turn.error : silence(ended, command);
  const isSame = before !== null && before.id === turn.session;
  const beforeUsd = isSame ? (before.totals?.costUsd ?? null) : 0;
  const { session: id, totalUsd, tokens } = turn;
  const totals =
    totalUsd === null
      ? {}
      : { totals: { tokens: (isSame ? (before.totals?.tokens ?? 0) : 0) + (tokens ?? 0), costUsd: totalUsd } };
  return {
    status: wasStopped ? ended.status : error === null ? "completed" : "failed",
    session: id === null ? null : { agent: "acp", id, ...totals },
    text: turn.text,
    output: null,
    tokens,
    costUsd: totalUsd === null || beforeUsd === null ? null : Math.max(0, totalUsd - beforeUsd),
    denied: turn.denied,
    error,
    durationMs: ended.durationMs,
  };
}

/** Returns why the agent ended without an answer. */
function silence(ended: ProcessResult, command: string): NonNullable<AgentResult["error"]> {
  if (ended.failure !== null) {
    const fix = "install the agent, or name its program in the role's `command`";
    return { kind: "launch", message: ended.failure.message, fix };
  }
  if (ended.signal !== null) return { kind: "crash", message: `${command} was ended by ${ended.signal}` };
  const message = `${command} ended without an answer: ${ended.stderr.trim().slice(-300)}`;
  return exitError(command, ended.exitCode ?? 0, ended.stderr) ?? { kind: "crash", message };
}

export interface AcpConversation {
  receive(line: string): void;
  /** Call when the agent's process is gone. */
  hangUp(): void;
  turn(): AcpTurn;
  /** Initializes, resumes or starts the conversation, and runs one turn. Never rejects. */
  converse(): Promise<void>;
}

export interface AcpTurnOptions {
  readonly request: AgentRequest;
  readonly access: AgentRequest["access"];
  readonly instructions: string | undefined;
  send(line: string): void;
  readonly onEvent: AgentControl["onEvent"];
}

/** Runs one turn with an agent that speaks the Agent Client Protocol, version 1. */
function createAcpConversation({ request, access, instructions, send, onEvent }: AcpTurnOptions): AcpConversation {
  const listener = createAcpListener(request, access, onEvent);
  const peer = createRpcPeer({ send, onRequest: listener.onRequest, onNotification: listener.onNotification });

  async function turn(): Promise<void> {
    const opened = await openSession(peer, request, (why) => onEvent({ type: "output", line: `acp: ${why}` }));
    listener.note({ session: opened.id });
    onEvent({ type: "session", session: { agent: "acp", id: opened.id } });
    await prepare(peer, opened, request, access);
    listener.beginTurn();
    const words = opened.isNew && instructions !== undefined ? `${instructions}\n\n${request.prompt}` : request.prompt;
    const prompt = [{ type: "text", text: words }];
    const { stopReason, usage } = await peer.request("session/prompt", { sessionId: opened.id, prompt });
    listener.endTurn();
    const total = isRecord(usage) ? usage["totalTokens"] : null;
    const complaint = listener.usedTools() ? null : complaintIn(listener.turn().text);
    listener.note({ tokens: typeof total === "number" ? total : null, error: endingOf(stopReason) ?? complaint });
  }

  return {
    receive: (text) => peer.receive(text),
    hangUp: () => peer.hangUp(),
    turn: () => listener.turn(),
    converse: () => turn().catch((fault: unknown) => listener.note({ error: acpError(fault) })),
  };
}

/**
 * Returns the error of a turn's end, if any. Some agents end their turn when one permission is refused; then the work
 * so far is judged.
 */
function endingOf(reason: unknown): AgentError | null {
  if (reason === "refusal") return { kind: "refused", message: "acp: the agent refused" };
  if (reason === "max_tokens") return { kind: "context-length", message: "acp: the answer became too long" };
  return null;
}

interface OpenSession {
  readonly id: string;
  readonly isNew: boolean;
  readonly about: JsonObject;
}

/**
 * Resumes the conversation if the agent supports that, otherwise starts one: a brief says everything that is needed.
 */
async function openSession(peer: RpcPeer, request: AgentRequest, note: (why: string) => void): Promise<OpenSession> {
  const { cwd, session, mcpServer } = request;
  const greeting = await peer.request("initialize", {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    clientInfo: { name: "remand", version: "1" },
  });
  const can = isRecord(greeting["agentCapabilities"]) ? greeting["agentCapabilities"] : {};
  const takesServers = isRecord(can["mcpCapabilities"]) && can["mcpCapabilities"]["http"] === true;
  const headers = [{ name: "Authorization", value: `Bearer ${mcpServer?.token}` }];
  const server = { type: "http", name: mcpServer?.name, url: mcpServer?.url, headers };
  const where = { cwd, mcpServers: mcpServer !== undefined && takesServers ? [server] : [], _meta: PLAIN };
  const resumes = isRecord(can["sessionCapabilities"]) && isRecord(can["sessionCapabilities"]["resume"]);
  const method = resumes ? "session/resume" : can["loadSession"] === true ? "session/load" : null;
  if (session !== null && method !== null) {
    try {
      return { id: session.id, isNew: false, about: await peer.request(method, { ...where, sessionId: session.id }) };
    } catch (fault) {
      if (fault instanceof RpcError && fault.code === HUNG_UP) throw fault;
      note("the agent has lost the conversation; a new one is begun");
    }
  }
  const about = await peer.request("session/new", where);
  if (typeof about["sessionId"] !== "string") throw new Error("the agent gave its conversation no name");
  return { id: about["sessionId"], isNew: true, about };
}

/**
 * Load no settings from the worktree, and do not pay for suggestions of the next prompt. The protocol does not cover
 * this, so each agent has its own options and ignores those of the others.
 */
const PLAIN = { claudeCode: { options: { settingSources: [], strictMcpConfig: true, promptSuggestions: false } } };

/** Selects the agent's read-only mode for a request with read access, where the agent has one, and the requested model. */
async function prepare(
  peer: RpcPeer,
  { id, about }: OpenSession,
  { model }: AgentRequest,
  access: AgentRequest["access"],
): Promise<void> {
  const modes = isRecord(about["modes"]) ? about["modes"]["availableModes"] : [];
  const quiet = (Array.isArray(modes) ? modes : []).find(
    (mode: unknown) => isRecord(mode) && (mode["id"] === "plan" || mode["id"] === "read-only"),
  ) as JsonObject | undefined;
  if (access === "read" && quiet !== undefined)
    await peer.request("session/set_mode", { sessionId: id, modeId: quiet["id"] });
  if (model !== null) await peer.request("session/set_model", { sessionId: id, modelId: model });
}

/**
 * Returns the error of a failed call. Agents report problems in their own words, if at all; the protocol itself has a
 * code only for a missing login.
 */
function acpError(fault: unknown): AgentError {
  const message = fault instanceof Error ? fault.message : String(fault);
  const data = fault instanceof RpcError ? JSON.stringify(fault.data) : "";
  const code = fault instanceof RpcError ? fault.code : 0;
  const kind = code === AUTH_REQUIRED ? "auth" : code === HUNG_UP ? "crash" : kindOf(`${message} ${data}`, code);
  const fix = FIXES[kind];
  return {
    kind,
    message: `acp: ${message.replaceAll(/\s+/g, " ").slice(0, 500)}`,
    ...(fix === undefined ? {} : { fix }),
  };
}

/** Returns the provider's error, if it is the agent's whole message: some agents end their turn normally with it. */
function complaintIn(text: string): AgentError | null {
  return COMPLAINT.test(text) ? acpError(new Error(text)) : null;
}

const AUTH_REQUIRED = -32000;
const COMPLAINT = /^\s*(?:API Error|unexpected status \d{3}|stream error|We.re currently experiencing high demand)/i;

function kindOf(words: string, code: number): AgentError["kind"] {
  return (
    RULES.find(([pattern]) => pattern.test(words))?.[1] ?? (code <= -32600 && code > -32603 ? "bad-request" : "crash")
  );
}

const RULES: readonly (readonly [RegExp, AgentError["kind"]])[] = [
  [/credit balance|quota|billing/i, "credit"],
  [/\b40[13]\b|unauthori[sz]ed|authenticat|api key|log ?in\b/i, "auth"],
  [/\b429\b|rate.?limit|usage limit/i, "rate-limit"],
  [/\b5\d\d\b|overloaded|high demand|unable to connect|econn|fetch failed/i, "overloaded"],
  [/context (?:length|window)|prompt is too long/i, "context-length"],
  [/model.{0,60}(?:not found|(?:does|may) not exist|unknown)|\b40[04]\b/i, "bad-request"],
];

const FIXES: { readonly [K in AgentError["kind"]]?: string } = {
  auth: "start the agent by hand and log in, or give it its key by `env`, then send the story back",
  credit: "add credit to the account that the agent uses, then send the story back",
  "bad-request": "look at the role's `model`, `command` and `args`, then send the story back",
  "context-length": "give the story less to read, or split it",
};
