import type { AgentControl } from "../../ports/agent.ts";
import type { ProcessResult } from "../process/run-process.ts";
import type { ClientListener, Heard } from "./client.ts";
import type { Used } from "./client-usage.ts";
import { amountIn, eventIn, listIn, shownLines, textIn, type WireEvent } from "./client-wire.ts";
import { codexError } from "./codex-errors.ts";
import { withoutNulls } from "./codex-schema.ts";
import { partsIn, type TokenParts } from "./token-parts.ts";

/** Listens to `codex exec --json`. */
export function createCodexListener(
  outputSchema: object | null,
  onEvent: AgentControl["onEvent"],
  now: () => number,
): ClientListener {
  const so: SoFar = {
    denied: [],
    session: null,
    said: "",
    conversation: null,
    parts: null,
    failure: null,
    isOver: false,
  };
  return {
    hear(event) {
      hear(event, so, onEvent);
      // It tries again by itself only for a few seconds: nobody has to end it.
      return null;
    },
    hearError(line) {
      const [, reason] = REJECTED.exec(line) ?? [];
      if (reason !== undefined) so.denied.push(reason.slice(0, 300));
    },
    heard: (ended): Heard => ({
      isOver: so.isOver,
      session: so.session,
      text: so.said,
      output: outputSchema === null || !so.isOver || so.failure !== null ? null : outputIn(so.said, outputSchema),
      counted: { run: null, conversation: so.conversation, leastTokens: 0 },
      parts: so.parts,
      denied: so.denied,
      error: so.failure === null ? startError(ended, so.isOver, now()) : codexError(so.failure, now()),
      isUnknownSession: !so.isOver && /no rollout found|thread\/resume failed/i.test(ended.stderr),
    }),
  };
}

interface SoFar {
  readonly denied: string[];
  session: string | null;
  said: string;
  conversation: Used | null;
  /** Of the whole conversation, as it counts. */
  parts: TokenParts | null;
  failure: string | null;
  isOver: boolean;
}

function hear(event: WireEvent, so: SoFar, onEvent: AgentControl["onEvent"]): void {
  switch (event["type"]) {
    case "thread.started":
      so.session = textIn(event["thread_id"]);
      if (so.session !== null) onEvent({ type: "session", session: { agent: "codex", id: so.session } });
      return;
    case "item.started":
    case "item.completed":
      for (const line of hearItem(eventIn(event["item"]) ?? {}, event["type"] === "item.completed", so))
        onEvent({ type: "output", line });
      return;
    case "turn.completed":
      so.isOver = true;
      so.failure = null;
      so.conversation = usedIn(event["usage"]);
      so.parts = partsIn(event["usage"], ["input_tokens"], "output_tokens", "cached_input_tokens");
      return;
    case "turn.failed":
      so.isOver = true;
      so.failure = textIn(eventIn(event["error"])?.["message"]) ?? "it did not say why";
      return;
    default:
      return;
  }
}

/** The lines to show for it. */
function hearItem(item: WireEvent, isDone: boolean, so: SoFar): readonly string[] {
  switch (item["type"]) {
    case "agent_message":
      if (!isDone) return [];
      so.said = textIn(item["text"]) ?? "";
      return shownLines(so.said);
    case "command_execution":
      return isDone ? [] : [`→ ${shownLines(textIn(item["command"]) ?? "")[0] ?? ""}`];
    case "file_change":
      return isDone ? [`→ ${item["status"] === "failed" ? "could not edit" : "edited"} ${pathsIn(item)}`] : [];
    default:
      return [];
  }
}

/** What its sandbox refused is told on stderr alone. */
const REJECTED = /error=(patch rejected: .*|approval policy is Never.*|.*sandbox.*denied.*)$/i;

/** Before the first turn it says what is wrong on stderr, as a sentence. */
function startError(ended: ProcessResult, isOver: boolean, nowMs: number): Heard["error"] {
  const [, message] = isOver || ended.status !== "exited" ? [] : (/^Error: (.+)$/m.exec(ended.stderr) ?? []);
  return message === undefined ? null : codexError(message, nowMs);
}

function pathsIn(item: WireEvent): string {
  const paths = listIn(item["changes"]).flatMap((change) => textIn(eventIn(change)?.["path"]) ?? []);
  return paths.length > 5 ? `${paths.slice(0, 5).join(", ")} and ${paths.length - 5} more` : paths.join(", ");
}

/** What was cached is part of the input, and what was thought part of the output. */
function usedIn(usage: unknown): Used | null {
  const fields = eventIn(usage);
  if (fields === null) return null;
  const tokens = Math.round((amountIn(fields["input_tokens"]) ?? 0) + (amountIn(fields["output_tokens"]) ?? 0));
  // It never says what it cost.
  return { tokens, costUsd: null };
}

function outputIn(text: string, schema: object): unknown {
  try {
    return withoutNulls(JSON.parse(text), schema);
  } catch {
    return null;
  }
}
