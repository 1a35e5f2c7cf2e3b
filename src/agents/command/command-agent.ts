import { constants, open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Agent, AgentControl, AgentError, AgentRequest, AgentResult, AgentUsage } from "../../ports/agent.ts";
import type { AgentDispatch, AgentProcesses } from "../../adapters/process/agent-processes.ts";
import { createPlainProcesses } from "../../adapters/process/agent-processes.ts";
import type { ProcessResult } from "../../adapters/process/run-process.ts";
import { type Environment, allowedEnvironment } from "../../adapters/process/environment.ts";
import { clientSandbox } from "../client/client-program.ts";
import { exitError, failedResult, messageOf } from "../client/client.ts";
import { isRecord, type JsonObject } from "../../stdx/assert.ts";
import { readJson } from "../../parse/data/data-text.ts";
import type { Sandbox } from "../../ports/sandbox.ts";

export interface CommandAgentOptions {
  readonly name?: string;
  /** A shell command line, or a program with its arguments, which no shell reads. */
  readonly command: string | readonly [program: string, ...args: string[]];
  /**
   * The variables it sees of Remand's environment: all of them (for a command that the user just typed), or the usual
   * few and those named.
   */
  readonly environment: {
    readonly source: Readonly<Record<string, string | undefined>>;
    readonly sees: "everything" | readonly string[];
  };
  /** The folder for the files of dispatches, outside of every worktree; default: the system's temporary folder. */
  readonly tempFolder?: string;
  readonly maxOutputBytes?: number;
  /** The sandbox of the program; default: none. */
  readonly sandbox?: Sandbox | undefined;
  /** How its program is run; default: it ends with this process. */
  readonly processes?: AgentProcesses | undefined;
  /** Returns a dispatch's cookie, so that its processes can be found after a crash. */
  readonly cookieOf?: (key: string) => string;
}

/**
 * Runs any program as an agent. It reads the prompt from stdin or `$REMAND_PROMPT_FILE`, changes files in its working
 * folder, and may write `{text, output, session, usage, costUsd}` as JSON to `$REMAND_RESULT_FILE`. Without that file,
 * its stdout is its text. Its exit code says how it went (see `client.ts`).
 */
export function createCommandAgent(options: CommandAgentOptions): Agent {
  const name = options.name ?? "command";
  const processes = options.processes ?? createPlainProcesses(options.tempFolder);
  return {
    name,
    async run(request, control) {
      const beganAt = performance.now();
      let exchange: Exchange;
      try {
        exchange = await createExchange(processes, request);
      } catch (error) {
        const message = `the files for ${name} could not be written: ${messageOf(error)}`;
        const fix = "make room for temporary files, then send the story back";
        return failedResult({ kind: "launch", message, fix }, performance.now() - beganAt);
      }
      try {
        const env = environmentFor(options, request, exchange);
        const ended = await exchange.dispatch.run(
          {
            command: options.command,
            cwd: request.cwd,
            env,
            stdin: request.prompt,
            timeoutMs: request.timeoutMs,
            ...(await clientSandbox(options.sandbox, env, { folders: [exchange.dispatch.folder] })),
            ...(options.maxOutputBytes === undefined ? {} : { maxOutputBytes: options.maxOutputBytes }),
            ...(options.cookieOf === undefined ? {} : { cookie: options.cookieOf(request.key) }),
          },
          { signal: control.signal, onLine: (line) => control.onEvent({ type: "output", line: shorten(line) }) },
        );
        return resultOf(name, request, control, ended, await readReport(exchange.resultFile));
      } finally {
        await exchange.dispatch.close();
      }
    },
  };
}

function environmentFor(
  { environment: { source, sees } }: CommandAgentOptions,
  request: AgentRequest,
  { promptFile, resultFile, schemaFile }: Exchange,
): Environment {
  const seen = sees === "everything" ? allowedEnvironment(source, ["*"]) : allowedEnvironment(source, sees);
  return {
    ...seen,
    ...request.env,
    REMAND_PROMPT_FILE: promptFile,
    REMAND_RESULT_FILE: resultFile,
    REMAND_ACCESS: request.access,
    REMAND_KEY: request.key,
    // Set to empty rather than left out: a run inside another agent's dispatch must not inherit that agent's values.
    REMAND_SCHEMA_FILE: schemaFile ?? "",
    REMAND_SESSION: request.session?.id ?? "",
    REMAND_MODEL: request.model ?? "",
  };
}

function resultOf(
  name: string,
  request: AgentRequest,
  control: AgentControl,
  ended: ProcessResult,
  report: CommandReport,
): AgentResult {
  if (report.note !== null) control.onEvent({ type: "output", line: `${name}: ${report.note}` });
  const session = report.session === null ? null : { agent: name, id: report.session };
  if (session !== null) control.onEvent({ type: "session", session });
  const error = ended.status === "exited" || ended.status === "failed-to-start" ? errorOf(name, ended) : null;
  return {
    status:
      ended.status === "timeout" || ended.status === "cancelled"
        ? ended.status
        : error === null
          ? "completed"
          : "failed",
    session,
    text: report.text ?? ended.stdout,
    output:
      report.output ?? (request.outputSchema === null || report.text !== null ? null : report.readOutput(ended.stdout)),
    tokens: report.tokens,
    costUsd: report.costUsd,
    ...(report.usage === null ? {} : { usage: report.usage }),
    denied: [],
    error,
    durationMs: ended.durationMs,
  };
}

function errorOf(name: string, ended: ProcessResult): AgentError | null {
  if (ended.failure !== null) {
    return { kind: "launch", message: ended.failure.message, fix: `install ${name}, or correct its command` };
  }
  if (ended.signal !== null) return { kind: "crash", message: `${name} was ended by ${ended.signal}` };
  return exitError(name, ended.exitCode ?? 0, ended.stderr.trim() === "" ? ended.stdout : ended.stderr);
}

const LONGEST_SHOWN = 4000;

/** Cuts a line to a length that a person can read. */
const shorten = (line: string): string => (line.length > LONGEST_SHOWN ? `${line.slice(0, LONGEST_SHOWN)}…` : line);

/** The content of a program's result file. A missing or invalid field is `null`, and never an error. */
export interface CommandReport {
  readonly text: string | null;
  readonly output: unknown;
  readonly session: string | null;
  readonly tokens: number | null;
  readonly costUsd: number | null;
  /** The model and its tokens by kind, if reported. */
  readonly usage: AgentUsage | null;
  /** What is wrong with the file, for a person who watches. */
  readonly note: string | null;
  /** Reads structured output from stdout, for a program without a result file. */
  readOutput(stdout: string): unknown;
}

const NOTHING: CommandReport = {
  text: null,
  output: null,
  session: null,
  tokens: null,
  costUsd: null,
  usage: null,
  note: null,
  readOutput,
};

/** A report has a few sentences and numbers; a larger file is rejected. */
const MAX_BYTES = 10 * 1024 * 1024;

async function readReport(path: string): Promise<CommandReport> {
  const read = await readFileOf(path);
  if ("note" in read) return { ...NOTHING, note: read.note };
  if (read.text.trim() === "") return NOTHING;
  const data = dataIn(read.text);
  // Text that is not JSON counts as the program's text, as if it had been printed.
  if (data === null) return { ...NOTHING, text: read.text, note: "its result file is not JSON; it was taken as text" };
  return reportOf(data);
}

function reportOf(data: JsonObject): CommandReport {
  const wrong: string[] = [];
  const field = <T>(name: string, read: (value: unknown) => T | null): T | null => {
    const value = data[name] ?? null;
    const good = value === null ? null : read(value);
    if (value !== null && good === null) wrong.push(name);
    return good;
  };
  const report = {
    text: field("text", textOf),
    output: data["output"] ?? null,
    session: field("session", (value) => textOf(isRecord(value) ? value["id"] : value)),
    tokens: field("usage", tokensOf) ?? field("tokens", amountOf),
    costUsd: field("costUsd", amountOf),
    usage: usageIn(data),
  };
  const note = wrong.length === 0 ? null : `its result file has no usable ${wrong.join(", ")}`;
  return { ...report, note, readOutput };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function amountOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
}

/** Returns the tokens from a number, a total, or parts. */
function tokensOf(usage: unknown): number | null {
  if (!isRecord(usage)) return amountOf(usage);
  const total = amountOf(usage["tokens"] ?? usage["totalTokens"] ?? usage["total_tokens"]);
  if (total !== null) return Math.round(total);
  const parts = TOKEN_PARTS.flatMap((name) => amountOf(usage[name]) ?? []);
  return parts.length === 0 ? null : Math.round(parts.reduce((sum, part) => sum + part, 0));
}

const TOKEN_PARTS = ["inputTokens", "outputTokens", "input_tokens", "output_tokens", "input", "output"];

/** Returns the tokens by kind, in any accepted spelling. Tokens read from a cache are part of the input. */
function usageIn(data: JsonObject): AgentUsage | null {
  const used = isRecord(data["usage"]) ? data["usage"] : {};
  const first = (...names: readonly string[]): number | null => amountOf(names.map((name) => used[name]).find(isGiven));
  const model = textOf(data["model"] ?? used["model"]);
  const input = first("inputTokens", "input_tokens", "input");
  const output = first("outputTokens", "output_tokens", "output");
  const cached = first("cachedTokens", "cached_input_tokens", "cached");
  const usage: AgentUsage = {
    ...(model === null ? {} : { model }),
    ...(input === null ? {} : { inputTokens: Math.round(input) }),
    ...(output === null ? {} : { outputTokens: Math.round(output) }),
    ...(cached === null ? {} : { cachedTokens: Math.round(cached) }),
  };
  return Object.keys(usage).length === 0 ? null : usage;
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

function readOutput(stdout: string): unknown {
  const data = stdout.length > MAX_BYTES ? null : readJson(stdout.trim());
  return data?.ok === true && typeof data.value === "object" ? data.value : null;
}

function dataIn(text: string): JsonObject | null {
  const data = readJson(text.trim());
  return data.ok && !data.cut && isRecord(data.value) ? data.value : null;
}

/**
 * Reads a file of an untrusted program: a link may lead anywhere, and a pipe may never end. So links are not followed,
 * only plain files are read, and the size is limited.
 */
async function readFileOf(path: string): Promise<{ text: string } | { note: string }> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const { size, isFile } = await file.stat().then((stat) => ({ size: stat.size, isFile: stat.isFile() }));
      if (!isFile) return { note: "its result file is not a plain file; it was not read" };
      if (size > MAX_BYTES)
        return { note: `its result file is larger than ${MAX_BYTES / 1024 / 1024} MB; it was not read` };
      return { text: await file.readFile("utf8") };
    } finally {
      await file.close();
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    if (code === "ENOENT") return { text: "" };
    if (code === "ELOOP") return { note: "its result file is a link; it was not read" };
    return { note: `its result file could not be read: ${messageOf(error)}` };
  }
}

/** The files with a program's prompt and result. Only the user who runs Remand may read them. */
interface Exchange {
  readonly promptFile: string;
  readonly resultFile: string;
  /** `null` if no structured answer is requested. */
  readonly schemaFile: string | null;
  readonly dispatch: AgentDispatch;
}

async function createExchange(processes: AgentProcesses, request: AgentRequest): Promise<Exchange> {
  const { prompt, outputSchema } = request;
  const dispatch = await processes.open(request);
  const { folder, isResumed } = dispatch;
  const promptFile = join(folder, "prompt.md");
  const schemaFile = outputSchema === null ? null : join(folder, "schema.json");
  try {
    // On a resumed dispatch the program may be reading these files.
    if (!isResumed) await writeFile(promptFile, prompt, { mode: 0o600 });
    if (!isResumed && schemaFile !== null) await writeFile(schemaFile, JSON.stringify(outputSchema), { mode: 0o600 });
  } catch (error) {
    await dispatch.close();
    throw error;
  }
  return { promptFile, resultFile: join(folder, "result.json"), schemaFile, dispatch };
}
