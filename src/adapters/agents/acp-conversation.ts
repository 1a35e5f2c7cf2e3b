import type { AgentControl, AgentError, AgentRequest } from "../../ports/agent.ts";
import { isRecord } from "../../stdx/is-record.ts";
import { acpError, complaintIn } from "./acp-errors.ts";
import { createAcpListener, type AcpHeard } from "./acp-listener.ts";
import { createRpcPeer, HUNG_UP, RpcFault, type RpcPeer } from "./acp-rpc.ts";

type Data = Readonly<Record<string, unknown>>;

export interface AcpTalk {
  hear(line: string): void;
  /** The agent is gone. */
  hangUp(): void;
  heard(): AcpHeard;
  /** Greets, finds or makes the conversation, and has one turn. It never rejects. */
  converse(): Promise<void>;
}

export interface AcpScene {
  readonly request: AgentRequest;
  readonly access: AgentRequest["access"];
  readonly instructions: string | undefined;
  send(line: string): void;
  readonly onEvent: AgentControl["onEvent"];
}

/** One turn with an agent that speaks the Agent Client Protocol, version 1. */
export function createAcpTalk({ request, access, instructions, send, onEvent }: AcpScene): AcpTalk {
  const listener = createAcpListener(request, access, onEvent);
  const peer = createRpcPeer({ send, onRequest: listener.asked, onNotification: listener.told });

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
    const complaint = listener.usedTools() ? null : complaintIn(listener.heard().text);
    listener.note({ tokens: typeof total === "number" ? total : null, error: endingOf(stopReason) ?? complaint });
  }

  return {
    hear: (text) => peer.hear(text),
    hangUp: () => peer.hangUp(),
    heard: () => listener.heard(),
    converse: () => turn().catch((fault: unknown) => listener.note({ error: acpError(fault) })),
  };
}

/** Refusing one permission ends the turn of some agents; what they did until then is there to be judged. */
function endingOf(reason: unknown): AgentError | null {
  if (reason === "refusal") return { kind: "refused", message: "acp: the agent refused" };
  if (reason === "max_tokens") return { kind: "context-length", message: "acp: the answer became too long" };
  return null;
}

interface OpenSession {
  readonly id: string;
  readonly isNew: boolean;
  readonly about: Data;
}

/** Goes on with the conversation where the agent can, else begins one: a brief says everything that is needed. */
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
      if (fault instanceof RpcFault && fault.code === HUNG_UP) throw fault;
      note("the agent has lost the conversation; a new one is begun");
    }
  }
  const about = await peer.request("session/new", where);
  if (typeof about["sessionId"] !== "string") throw new Error("the agent gave its conversation no name");
  return { id: about["sessionId"], isNew: true, about };
}

/**
 * The protocol has no word for it, so each agent has its own, and none minds those of the others: nothing that lies in
 * the worktree is loaded, and nobody is paid to guess what a person might say next.
 */
const PLAIN = { claudeCode: { options: { settingSources: [], strictMcpConfig: true, promptSuggestions: false } } };

/** Where the agent has a mode in which it only looks, whoever may only look is put into it. */
async function prepare(
  peer: RpcPeer,
  { id, about }: OpenSession,
  { model }: AgentRequest,
  access: AgentRequest["access"],
): Promise<void> {
  const modes = isRecord(about["modes"]) ? about["modes"]["availableModes"] : [];
  const quiet = (Array.isArray(modes) ? modes : []).find(
    (mode: unknown) => isRecord(mode) && (mode["id"] === "plan" || mode["id"] === "read-only"),
  ) as Data | undefined;
  if (access === "read" && quiet !== undefined)
    await peer.request("session/set_mode", { sessionId: id, modeId: quiet["id"] });
  if (model !== null) await peer.request("session/set_model", { sessionId: id, modelId: model });
}
