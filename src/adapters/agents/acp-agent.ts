import type { Agent, AgentControl, AgentRequest, AgentResult } from "../../ports/agent.ts";
import { allowedEnvironment } from "../process/environment.ts";
import { runProcess, type ProcessResult } from "../process/run-process.ts";
import { createAcpTalk, type AcpTalk } from "./acp-conversation.ts";
import { NOTHING_HEARD, type AcpHeard } from "./acp-listener.ts";
import type { ClientAgentOptions } from "./client.ts";
import { exitError } from "./exit-code.ts";
import { failed, messageOf } from "./failed-result.ts";

export interface AcpAgentOptions extends Omit<ClientAgentOptions, "command" | "root"> {
  /** What speaks the protocol: a line for the shell (`gemini --acp`), or with `args` the program alone. */
  readonly command: string;
}

/**
 * Any agent that speaks the Agent Client Protocol on its standard input and output. It has no forms of answers, and
 * says what it used as it likes: that is passed on where it is plain. What it wants to do is allowed by access alone;
 * an agent that does not ask is held by nothing but itself.
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
        return failed({ kind: "launch", message }, performance.now() - beganAt);
      }
    },
  };
}

/** A conversation that has become too long is begun anew, once: a brief says everything that is needed. */
async function converse(options: AcpAgentOptions, request: AgentRequest, control: AgentControl): Promise<AgentResult> {
  const first = await dispatch(options, request, control);
  const leftMs = request.timeoutMs - first.durationMs;
  const isFull = first.error?.kind === "context-length" && request.session !== null;
  if (!isFull || control.signal.aborted || leftMs <= 0) return first;
  control.onEvent({ type: "output", line: "acp: the conversation has become too long; a new one is begun" });
  const second = await dispatch(options, { ...request, session: null, timeoutMs: leftMs }, control);
  return { ...second, tokens: sum(first.tokens, second.tokens), costUsd: sum(first.costUsd, second.costUsd) };
}

/** What one of them did not say is not known of both. */
const sum = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b);

async function dispatch(options: AcpAgentOptions, request: AgentRequest, control: AgentControl): Promise<AgentResult> {
  const { environment, cookieOf, command, args, edits = "edit" } = options;
  const access = request.access === "edit" ? edits : request.access;
  const over = new AbortController();
  const beganAt = performance.now();
  let talk: AcpTalk | null = null;
  let isDone = false;
  const ended = await runProcess(
    {
      command: args === undefined ? command : [command, ...args],
      cwd: request.cwd,
      env: { ...allowedEnvironment(environment.source, environment.sees), ...request.env },
      timeoutMs: request.timeoutMs,
      maxOutputBytes: LONGEST_LINE_BYTES,
      ...(cookieOf === undefined ? {} : { cookie: cookieOf(request.key) }),
      stdin(input) {
        talk = createAcpTalk({
          request,
          access,
          instructions: options.instructions,
          send: (line) => input.write(line),
          onEvent: control.onEvent,
        });
        void talk.converse().then(() => {
          // An agent that is being ended may still say so, politely: that is no answer.
          isDone = !control.signal.aborted && performance.now() - beganAt < request.timeoutMs;
          input.end();
          // An agent that has answered has no more to do; not all of them know.
          return setTimeout(() => over.abort(), PATIENCE_MS).unref();
        });
      },
    },
    {
      signal: AbortSignal.any([control.signal, over.signal]),
      onLine: (line, stream) => stream === "stdout" && talk?.hear(line),
    },
  );
  const wasDone = isDone;
  (talk as AcpTalk | null)?.hangUp();
  const heard = (talk as AcpTalk | null)?.heard() ?? NOTHING_HEARD;
  return resultOf(ended, heard, wasDone, request, command);
}

const PATIENCE_MS = 2000;
/** A line that is longer is handed on in pieces, and then it is no message. */
const LONGEST_LINE_BYTES = 8 * 1024 * 1024;

function resultOf(
  ended: ProcessResult,
  heard: AcpHeard,
  wasDone: boolean,
  { session: before }: AgentRequest,
  command: string,
): AgentResult {
  const wasStopped = !wasDone && (ended.status === "timeout" || ended.status === "cancelled");
  const error = wasStopped ? null : wasDone ? heard.error : silence(ended, command);
  const isSame = before !== null && before.id === heard.session;
  const beforeUsd = isSame ? (before.totals?.costUsd ?? null) : 0;
  const { session: id, totalUsd, tokens } = heard;
  const totals =
    totalUsd === null
      ? {}
      : { totals: { tokens: (isSame ? (before.totals?.tokens ?? 0) : 0) + (tokens ?? 0), costUsd: totalUsd } };
  return {
    status: wasStopped ? ended.status : error === null ? "completed" : "failed",
    session: id === null ? null : { agent: "acp", id, ...totals },
    text: heard.text,
    output: null,
    tokens,
    costUsd: totalUsd === null || beforeUsd === null ? null : Math.max(0, totalUsd - beforeUsd),
    denied: heard.denied,
    error,
    durationMs: ended.durationMs,
  };
}

/** It ended and had not answered. */
function silence(ended: ProcessResult, command: string): NonNullable<AgentResult["error"]> {
  if (ended.failure !== null) {
    const fix = "install the agent, or name its program in the role's `command`";
    return { kind: "launch", message: ended.failure.message, fix };
  }
  if (ended.signal !== null) return { kind: "crash", message: `${command} was ended by ${ended.signal}` };
  const message = `${command} ended without an answer: ${ended.stderr.trim().slice(-300)}`;
  return exitError(command, ended.exitCode ?? 0, ended.stderr) ?? { kind: "crash", message };
}
