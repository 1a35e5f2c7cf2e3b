import type { AgentControl, AgentError, AgentRequest } from "../../ports/agent.ts";
import { isRecord } from "../../stdx/is-record.ts";
import { answerOf, isAllowed, toolIn, type WantedTool } from "./acp-permission.ts";

type Data = Readonly<Record<string, unknown>>;

/** What was heard by the end of one turn. */
export interface AcpHeard {
  readonly session: string | null;
  readonly text: string;
  readonly tokens: number | null;
  /** Of the whole conversation, where the agent says so. */
  readonly totalUsd: number | null;
  readonly denied: readonly string[];
  readonly error: AgentError | null;
}

export const NOTHING_HEARD: AcpHeard = {
  session: null,
  text: "",
  tokens: null,
  totalUsd: null,
  denied: [],
  error: null,
};

export interface AcpListener {
  asked(method: string, params: Data): Data | null;
  told(method: string, params: Data): void;
  /** An agent that finds an old conversation tells all of it again: what comes before this is not heard. */
  beginTurn(): void;
  endTurn(): void;
  note(known: Partial<AcpHeard>): void;
  heard(): AcpHeard;
  usedTools(): boolean;
}

/** Listens to what the agent says, and answers what it asks. */
export function createAcpListener(
  request: AgentRequest,
  access: AgentRequest["access"],
  onEvent: AgentControl["onEvent"],
): AcpListener {
  const tools = new Map<unknown, WantedTool>();
  let heard = NOTHING_HEARD;
  let isTurn = false;
  let line = "";
  const show = (text: string): void => onEvent({ type: "output", line: text });

  function updated({ sessionUpdate: kind, content, toolCallId, cost, ...rest }: Data): void {
    if (kind === "agent_message_chunk" && isRecord(content) && typeof content["text"] === "string") {
      heard = { ...heard, text: heard.text + content["text"] };
      const lines = (line + content["text"]).split("\n");
      line = lines.pop()!;
      lines.forEach(show);
    }
    if (kind === "tool_call" || kind === "tool_call_update") {
      tools.set(toolCallId, toolIn(rest, tools.get(toolCallId)));
      if (kind === "tool_call") show(`tool: ${tools.get(toolCallId)!.title.slice(0, 200)}`);
    }
    if (kind === "usage_update" && isRecord(cost) && cost["currency"] === "USD" && typeof cost["amount"] === "number")
      heard = { ...heard, totalUsd: cost["amount"] };
  }

  return {
    asked(method, params) {
      if (method !== "session/request_permission") return null;
      const call = isRecord(params["toolCall"]) ? params["toolCall"] : {};
      const tool = toolIn(call, tools.get(call["toolCallId"]));
      const isYes = isAllowed(tool, access, request);
      const what = `${tool.kind}: ${tool.title.slice(0, 500)}`;
      if (!isYes) heard = { ...heard, denied: [...heard.denied, what] };
      if (!isYes) show(`refused: ${what}`);
      return answerOf(params["options"], isYes);
    },
    told(method, { update }) {
      if (method === "session/update" && isRecord(update) && isTurn) updated(update);
    },
    beginTurn: () => void (isTurn = true),
    endTurn: () => void (line !== "" && show(line)),
    note: (known) => void (heard = { ...heard, ...known }),
    heard: () => heard,
    usedTools: () => tools.size > 0,
  };
}
