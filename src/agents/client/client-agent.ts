import type { AgentSession } from "../../core/events/ids.ts";
import type { Agent, AgentControl, AgentError, AgentRequest, AgentResult } from "../../ports/agent.ts";
import { type AgentDispatch, createPlainProcesses } from "../../adapters/process/agent-processes.ts";
import { allowedEnvironment } from "../../adapters/process/environment.ts";
import type { ProcessResult } from "../../adapters/process/run-process.ts";
import {
  type Client,
  type ClientAgentOptions,
  type ClientReport,
  exitError,
  failedResult,
  lastWords,
  messageOf,
} from "./client.ts";
import { findClient, clientSandbox } from "./client-program.ts";
import { readWireEvent, addUsage, usageOf, totalsWithParts, usageOfParts } from "./client-wire.ts";

/** Runs a coding agent's command line client once per dispatch, with the prompt on stdin. */
export function createClientAgent(client: Client, options: ClientAgentOptions): Agent {
  const processes = options.processes ?? createPlainProcesses(options.tempFolder);
  return {
    name: client.name,
    async run(request, control) {
      const beganAt = performance.now();
      let call: AgentDispatch | null = null;
      try {
        const { environment, command, root } = options;
        const program = await findClient({ client, command, root, env: environment.source });
        if (program === null) return failedResult(notFound(client, command), performance.now() - beganAt);
        call = await processes.open(request);
        const result = await converse(client, program, options, request, control, call);
        // A program that a previous engine started has been running longer than this call.
        return { ...result, durationMs: Math.max(result.durationMs, performance.now() - beganAt) };
      } catch (error) {
        const message = `${client.name} could not be started: ${messageOf(error)}`;
        return failedResult({ kind: "launch", message, fix: client.install }, performance.now() - beganAt);
      } finally {
        await call?.close();
      }
    },
  };
}

/**
 * Resumes the conversation. If the client has lost it, or it has become too long, starts a new one: a brief says
 * everything that is needed.
 */
async function converse(
  client: Client,
  program: string,
  options: ClientAgentOptions,
  request: AgentRequest,
  control: AgentControl,
  call: AgentDispatch,
): Promise<AgentResult> {
  const first = await dispatch(client, program, options, request, control, call, request.session);
  const { result } = first;
  const isFull = result.error?.kind === "context-length";
  const leftMs = request.timeoutMs - result.durationMs;
  if (request.session === null || !(first.isUnknownSession || isFull) || control.signal.aborted || leftMs <= 0)
    return result;
  const why = isFull ? "the conversation has become too long" : "the client has lost the conversation";
  control.onEvent({ type: "output", line: `${client.name}: ${why}; a new one is begun` });
  const fresh = { ...request, timeoutMs: leftMs };
  const second = (await dispatch(client, program, options, fresh, control, call, null)).result;
  const spent = addUsage(usedIn(result), usedIn(second));
  const durationMs = result.durationMs + second.durationMs;
  return { ...second, durationMs, tokens: spent?.tokens ?? null, costUsd: spent?.costUsd ?? null };
}

const usedIn = ({ tokens, costUsd }: AgentResult): { tokens: number; costUsd: number | null } | null =>
  tokens === null ? null : { tokens, costUsd };

async function dispatch(
  client: Client,
  program: string,
  options: ClientAgentOptions,
  request: AgentRequest,
  control: AgentControl,
  call: AgentDispatch,
  session: AgentSession | null,
): Promise<{ result: AgentResult; isUnknownSession: boolean }> {
  const { environment, instructions, cookieOf } = options;
  const sees = [...environment.sees, ...client.needs];
  const env = { ...allowedEnvironment(environment.source, sees), ...request.env };
  const access = request.access === "edit" ? (options.edits ?? "edit") : request.access;
  const now = options.now ?? Date.now;
  const launch = await client.launch({
    options,
    request,
    access,
    session,
    env,
    folder: call.folder,
    onEvent: control.onEvent,
    now,
  });
  const box = await clientSandbox(options.sandbox, launch.env, { folders: [call.folder], client: client.name });
  const useless = new AbortController();
  let stopped: AgentError | null = null;
  const ended = await call.run(
    {
      command: [program, ...launch.args],
      cwd: request.cwd,
      env: launch.env,
      stdin: session === null && instructions !== undefined ? `${instructions}\n\n${request.prompt}` : request.prompt,
      timeoutMs: request.timeoutMs,
      maxOutputBytes: LONGEST_LINE_BYTES,
      ...box,
      ...(cookieOf === undefined ? {} : { cookie: cookieOf(request.key) }),
    },
    {
      signal: AbortSignal.any([control.signal, useless.signal]),
      onLine(line, stream) {
        if (stream === "stderr") return launch.listener.readError(line);
        const event = readWireEvent(line);
        const error = event === null ? null : launch.listener.read(event);
        if (error === null || stopped !== null) return;
        stopped = error;
        useless.abort();
      },
    },
  );
  await launch.after?.();
  const report = launch.listener.report(ended);
  for (const refused of report.denied.slice(0, MOST_SHOWN))
    control.onEvent({ type: "output", line: `refused: ${refused}` });
  const isStopped = stopped !== null && !control.signal.aborted;
  return {
    result: resultOf(client, ended, report, session, isStopped ? stopped : null),
    isUnknownSession: report.isUnknownSession,
  };
}

const MOST_SHOWN = 20;

/** Longer lines arrive in pieces, which are not valid JSON. */
const LONGEST_LINE_BYTES = 8 * 1024 * 1024;

/**
 * Returns the result of a dispatch: from the client's report or, if that does not say how it ended, from how the
 * program ended.
 */
function resultOf(
  client: Client,
  ended: ProcessResult,
  report: ClientReport,
  before: AgentSession | null,
  stopped: AgentError | null,
): AgentResult {
  const wasEnded = stopped === null && (ended.status === "timeout" || ended.status === "cancelled");
  const error = wasEnded ? null : (stopped ?? report.error ?? (report.isOver ? null : silence(client, ended)));
  const id = report.session ?? before?.id ?? null;
  const earlier = id === before?.id ? before?.totals : undefined;
  const { used, totals: counted } = usageOf(report.counted, earlier);
  const totals = totalsWithParts(counted, report.parts);
  return {
    status: wasEnded ? ended.status : error === null ? "completed" : "failed",
    session: id === null ? null : { agent: client.name, id, ...(totals === undefined ? {} : { totals }) },
    text: report.text,
    output: report.output,
    tokens: used?.tokens ?? null,
    costUsd: used?.costUsd ?? null,
    denied: report.denied,
    error,
    durationMs: ended.durationMs,
    ...usageOfParts(report.parts, used?.tokens ?? null, earlier),
  };
}

/** Returns the error of a program that ended without reporting a result. */
function silence(client: Client, ended: ProcessResult): AgentError {
  const { name } = client;
  if (ended.failure !== null) return { kind: "launch", message: ended.failure.message, fix: client.install };
  if (ended.signal !== null) return { kind: "crash", message: `${name} was ended by ${ended.signal}` };
  if (TOO_OLD.test(ended.stderr)) {
    const message = `${name} does not know how it was called: ${lastWords(ended.stderr)}`;
    return { kind: "bad-request", message, fix: `bring ${name} up to date, or correct \`args\`` };
  }
  const said = ended.stderr.trim() === "" ? ended.stdout : ended.stderr;
  return (
    exitError(name, ended.exitCode ?? 0, said) ?? {
      kind: "crash",
      message: `${name} ended without a result: ${lastWords(said)}`,
    }
  );
}

const TOO_OLD = /unknown option|unexpected argument|unrecognized (?:option|subcommand)|invalid value .* for '--/i;

function notFound({ name, install }: Client, command: string | undefined): AgentError {
  const message = command === undefined ? `there is no ${name} on this machine` : `there is no program ${command}`;
  return { kind: "launch", message, fix: install };
}
