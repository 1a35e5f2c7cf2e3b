import type { AttemptOutcome } from "../../core/stories/attempt.ts";
import type { AgentError, AgentResult, RoleAgent } from "../../ports/agent.ts";
import { SIGNALS } from "../../core/stories/reading.ts";
import { plainText } from "../../stdx/plain-text.ts";
import { readAgentAnswer } from "../../parse/agent/agent-answer.ts";

export interface AgentReply {
  readonly outcome: AttemptOutcome;
  /** The agent's own summary of its work. */
  readonly text: string;
}

export interface ReplyContext {
  readonly id: string;
  readonly reports: RoleAgent["reports"];
  readonly nowMs: number;
}

/** Returns the outcome of a dispatch: what the client reports, and after a success, what the agent's signals say. */
export function outcomeOf(result: AgentResult, listening: ReplyContext): AgentReply | "interrupted" {
  switch (result.status) {
    // Only a stopping engine cancels, so the agent has not failed.
    case "cancelled":
      return "interrupted";
    case "timeout":
      return { outcome: { type: "timed-out", afterMs: result.durationMs }, text: "" };
    case "failed":
      return { outcome: failure(result.error, listening.nowMs), text: "" };
    case "completed":
      return readReply(result, listening);
  }
}

function readReply(result: AgentResult, { id, reports }: ReplyContext): AgentReply {
  if (reports === "stop") return { outcome: { type: "ready" }, text: lastLine(result.text) };
  const reading = readAgentAnswer(result, { id, role: "developer" });
  const summary = reading.summary ?? lastLine(result.text);
  switch (reading.result) {
    case "ready":
      return { outcome: { type: "ready" }, text: summary };
    case "blocked":
      return {
        outcome: {
          type: "blocked",
          issue: reading.preExisting[0] ?? reading.summary ?? "the agent says that its environment is broken",
        },
        text: summary,
      };
    case "incomplete": {
      const { category, blocker, attempted, needed } = reading.incomplete ?? {
        category: null,
        blocker: summary,
        attempted: [],
        needed: "",
      };
      return {
        outcome: { type: "incomplete", category: category ?? "missing_info", blocker, attempted, needed },
        text: summary,
      };
    }
    default:
      if (reports === "exit" && reading.signal === null) return { outcome: { type: "ready" }, text: summary };
      return { outcome: { type: "unclear", detail: reading.problems.join("; ") }, text: summary };
  }
}

/** Returns the outcome for each kind of client failure. None of them charges a rework. */
function failure(error: AgentError | null, nowMs: number): AttemptOutcome {
  const detail = error?.message ?? "the agent failed and did not say why";
  switch (error?.kind) {
    case "auth":
    case "credit":
    case "bad-request":
      return { type: "unusable", detail, fix: error.fix ?? "fix its setup, then send the story back" };
    case "rate-limit":
    case "overloaded":
      return { type: "rate-limited", retryAt: error.retryAt ?? nowMs + A_MINUTE_MS };
    case "refused":
      return { type: "refused", detail };
    case "launch":
      return { type: "missing", detail };
    default:
      return { type: "crashed", detail };
  }
}

const A_MINUTE_MS = 60_000;
const SUMMARY_CHARS = 200;

/** Returns the last line of the message that is not a signal, in place of a missing summary. */
function lastLine(text: string): string {
  const lines = plainText(text.slice(-TAIL_CHARS)).split("\n");
  const said = lines.map((line) => line.trim()).filter((line) => line !== "" && !SIGNAL_LINE.test(line));
  return (said.at(-1) ?? "").slice(0, SUMMARY_CHARS);
}

const TAIL_CHARS = 4000;
const SIGNAL_LINE = new RegExp(`^(?:${SIGNALS.join("|")}):`);

/** Collects an agent's output of one call for the evidence. Of long output only the end is kept. */
export interface Transcript {
  add(line: string): void;
  /** The result, with the output that was collected before it. */
  of(result: AgentResult): PrintedResult;
}

export interface PrintedResult extends AgentResult {
  readonly printed: string;
}

const MOST_CHARS = 1_000_000;

export function createTranscript(): Transcript {
  let lines: string[] = [];
  let chars = 0;
  let leftOut = 0;
  /** Drops half of the lines at once: dropping one for each new line would move all of them every time. */
  const cut = (): void => {
    const half = Math.ceil(lines.length / 2);
    leftOut += half;
    lines = lines.slice(half);
    chars = lines.reduce((sum, { length }) => sum + length + 1, 0);
  };
  return {
    add: (line) => {
      lines.push(line);
      chars += line.length + 1;
      if (chars > MOST_CHARS) cut();
    },
    of: (result) => {
      const start = leftOut === 0 ? [] : [`(${leftOut} earlier lines left out)`];
      return { ...result, printed: [...start, ...lines].join("\n") };
    },
  };
}
