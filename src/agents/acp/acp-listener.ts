import { realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { AgentControl, AgentError, AgentRequest } from "../../ports/agent.ts";
import { isRecord, type JsonObject } from "../../stdx/assert.ts";

/** The outcome of one turn. */
export interface AcpTurn {
  readonly session: string | null;
  readonly text: string;
  readonly tokens: number | null;
  /** The cost of the whole conversation, if the agent reports it. */
  readonly totalUsd: number | null;
  readonly denied: readonly string[];
  readonly error: AgentError | null;
}

export const EMPTY_TURN: AcpTurn = {
  session: null,
  text: "",
  tokens: null,
  totalUsd: null,
  denied: [],
  error: null,
};

export interface AcpListener {
  onRequest(method: string, params: JsonObject): JsonObject | null;
  onNotification(method: string, params: JsonObject): void;
  /** Starts listening. An agent that resumes a conversation first repeats all of it, which is ignored. */
  beginTurn(): void;
  endTurn(): void;
  note(known: Partial<AcpTurn>): void;
  turn(): AcpTurn;
  usedTools(): boolean;
}

/** Records what the agent reports, and answers its requests. */
export function createAcpListener(
  request: AgentRequest,
  access: AgentRequest["access"],
  onEvent: AgentControl["onEvent"],
): AcpListener {
  const tools = new Map<unknown, WantedTool>();
  let current = EMPTY_TURN;
  let isTurn = false;
  let line = "";
  const show = (text: string): void => onEvent({ type: "output", line: text });

  function onUpdate({ sessionUpdate: kind, content, toolCallId, cost, ...rest }: JsonObject): void {
    if (kind === "agent_message_chunk" && isRecord(content) && typeof content["text"] === "string") {
      current = { ...current, text: current.text + content["text"] };
      const lines = (line + content["text"]).split("\n");
      line = lines.pop()!;
      lines.forEach(show);
    }
    if (kind === "tool_call" || kind === "tool_call_update") {
      tools.set(toolCallId, toolIn(rest, tools.get(toolCallId)));
      if (kind === "tool_call") show(`tool: ${tools.get(toolCallId)!.title.slice(0, 200)}`);
    }
    if (kind === "usage_update" && isRecord(cost) && cost["currency"] === "USD" && typeof cost["amount"] === "number")
      current = { ...current, totalUsd: cost["amount"] };
  }

  return {
    onRequest(method, params) {
      if (method !== "session/request_permission") return null;
      const call = isRecord(params["toolCall"]) ? params["toolCall"] : {};
      const tool = toolIn(call, tools.get(call["toolCallId"]));
      const isYes = isAllowed(tool, access, request);
      const what = `${tool.kind}: ${tool.title.slice(0, 500)}`;
      if (!isYes) current = { ...current, denied: [...current.denied, what] };
      if (!isYes) show(`refused: ${what}`);
      return answerOf(params["options"], isYes);
    },
    onNotification(method, { update }) {
      if (method === "session/update" && isRecord(update) && isTurn) onUpdate(update);
    },
    beginTurn: () => void (isTurn = true),
    endTurn: () => void (line !== "" && show(line)),
    note: (known) => void (current = { ...current, ...known }),
    turn: () => current,
    usedTools: () => tools.size > 0,
  };
}

/** What an agent wants to do, as far as it says. */
export interface WantedTool {
  readonly kind: string;
  readonly title: string;
  readonly paths: readonly string[];
}

/** Returns the tool of a call. A request may have only the call's id, so earlier data about the call is kept. */
function toolIn(call: JsonObject, before: WantedTool | undefined): WantedTool {
  const { kind, title, locations } = call;
  const listed = Array.isArray(locations) ? locations : [];
  const paths = listed.flatMap((each: unknown) =>
    isRecord(each) && typeof each["path"] === "string" ? [each["path"]] : [],
  );
  return {
    kind: typeof kind === "string" ? kind : (before?.kind ?? "other"),
    title: typeof title === "string" ? title : (before?.title ?? "a tool"),
    paths: paths.length > 0 ? paths : (before?.paths ?? []),
  };
}

/**
 * Whether a tool is allowed. No person can be asked during a dispatch, so the access decides; anything not clearly
 * covered is refused.
 */
function isAllowed(
  { kind, title, paths }: WantedTool,
  access: AgentRequest["access"],
  { cwd, mcpServer }: Pick<AgentRequest, "cwd" | "mcpServer">,
): boolean {
  if (access === "full" || LOOKS.has(kind)) return true;
  if (kind === "other")
    return mcpServer?.tools.some((tool) => new RegExp(`(?:^|[^a-z])${tool}(?:$|[^a-z_])`).test(title)) ?? false;
  return access === "edit" && CHANGES.has(kind) && paths.length > 0 && paths.every((path) => isBelow(cwd, path));
}

const LOOKS = new Set(["read", "search", "think"]);
const CHANGES = new Set(["edit", "delete", "move"]);

/** Whether a path is in the folder, with links resolved: a link in the worktree may lead out of it. */
function isBelow(folder: string, path: string): boolean {
  const way = relative(realOf(folder), realOf(resolve(folder, path)));
  return way !== "" && !way.startsWith("..") && !isAbsolute(way) && !/^\.git(?:[\\/]|$)/.test(way);
}

/** Resolves a path; for a file that does not exist yet, by its nearest existing folder. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(realOf(above), basename(path));
  }
}

/**
 * Selects one of the offered options, preferring those for this call only, so that the agent does not remember it for
 * other calls.
 */
function answerOf(options: unknown, isYes: boolean): JsonObject {
  const wanted = isYes ? ["allow_once", "allow_always"] : ["reject_once", "reject_always"];
  const offered = (Array.isArray(options) ? options : []).filter(isRecord);
  const found = wanted.flatMap((kind) => offered.filter((option) => option["kind"] === kind))[0];
  return {
    outcome: found === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId: found["optionId"] },
  };
}
