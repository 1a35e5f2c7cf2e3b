import { tmpdir } from "node:os";
import type { Agent, AgentControl, AgentError, AgentRequest, AgentResult } from "../../ports/agent.ts";
import { runProcess, type ProcessResult } from "../process/run-process.ts";
import { allowedEnvironment, type Environment } from "../process/environment.ts";
import { exitError } from "./exit-code.ts";
import { readReport, type CommandReport } from "./command-report.ts";
import { createExchange, type Exchange } from "./exchange.ts";
import { failed, messageOf } from "./failed-result.ts";

export interface CommandAgentOptions {
  readonly name?: string;
  /** A line for the shell, or a program with its arguments, which no shell reads. */
  readonly command: string | readonly [program: string, ...args: string[]];
  /**
   * What it sees of our own environment: all of it (the user's own command, typed a moment ago), or the usual few and
   * the names given.
   */
  readonly environment: {
    readonly source: Readonly<Record<string, string | undefined>>;
    readonly sees: "everything" | readonly string[];
  };
  /** Where the files for one dispatch are put, outside every worktree; by default the system's place for such. */
  readonly tempFolder?: string;
  readonly maxOutputBytes?: number;
  /** Names a dispatch's processes, so that whoever restarts after a crash can find what was left running. */
  readonly cookieOf?: (key: string) => string;
}

/**
 * Any program as an agent. It reads the prompt from its input or from `$REMAND_PROMPT_FILE`, changes files where it
 * was started, and may leave `{text, output, session, usage, costUsd}` as JSON in `$REMAND_RESULT_FILE`. Without that
 * what it printed on stdout is its text. Its exit code says how it went (see `exit-code.ts`).
 */
export function createCommandAgent(options: CommandAgentOptions): Agent {
  const name = options.name ?? "command";
  return {
    name,
    async run(request, control) {
      const beganAt = performance.now();
      let exchange: Exchange;
      try {
        exchange = await createExchange(options.tempFolder ?? tmpdir(), request);
      } catch (error) {
        const message = `the files for ${name} could not be written: ${messageOf(error)}`;
        const fix = "make room for temporary files, then send the story back";
        return failed({ kind: "launch", message, fix }, performance.now() - beganAt);
      }
      try {
        const ended = await runProcess(
          {
            command: options.command,
            cwd: request.cwd,
            env: environmentFor(options, request, exchange),
            stdin: request.prompt,
            timeoutMs: request.timeoutMs,
            ...(options.maxOutputBytes === undefined ? {} : { maxOutputBytes: options.maxOutputBytes }),
            ...(options.cookieOf === undefined ? {} : { cookie: options.cookieOf(request.key) }),
          },
          { signal: control.signal, onLine: (line) => control.onEvent({ type: "output", line: shown(line) }) },
        );
        return told(name, request, control, ended, await readReport(exchange.resultFile));
      } finally {
        await exchange.remove();
      }
    },
  };
}

function environmentFor(
  { environment }: CommandAgentOptions,
  request: AgentRequest,
  { promptFile, resultFile, schemaFile }: Exchange,
): Environment {
  const { source, sees } = environment;
  const seen = sees === "everything" ? allowedEnvironment(source, ["*"]) : allowedEnvironment(source, sees);
  return {
    ...seen,
    ...request.env,
    REMAND_PROMPT_FILE: promptFile,
    REMAND_RESULT_FILE: resultFile,
    REMAND_ACCESS: request.access,
    REMAND_KEY: request.key,
    // Empty and not left out: whoever runs inside another agent's dispatch must not see that one's.
    REMAND_SCHEMA_FILE: schemaFile ?? "",
    REMAND_SESSION: request.session?.id ?? "",
    REMAND_MODEL: request.model ?? "",
  };
}

function told(
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

/** A line is for a person to look at; one of megabytes is none. */
const shown = (line: string): string => (line.length > LONGEST_SHOWN ? `${line.slice(0, LONGEST_SHOWN)}…` : line);
