import type { AgentSession } from "../../core/events/ids.ts";
import type { AgentControl, AgentError, AgentRequest, AgentResult } from "../../ports/agent.ts";
import type { AgentProcesses } from "../../adapters/process/agent-processes.ts";
import type { Environment } from "../../adapters/process/environment.ts";
import type { ProcessResult } from "../../adapters/process/run-process.ts";
import { plainText } from "../../stdx/plain-text.ts";
import type { ClientCounts, WireEvent, TokenParts } from "./client-wire.ts";
import type { AgentClientName } from "../../core/stories/agent-client.ts";
import type { Sandbox } from "../../ports/sandbox.ts";

/** The result of `remand doctor` for an agent. */
export interface AgentProbe {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  /** Empty if there is no problem. */
  readonly fix: string;
}

/** Variables that keep a probed client from connecting to its vendor. */
export const QUIET = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" };

/** How to find a client's program and query its abilities. */
export interface ClientProgram {
  readonly name: AgentClientName;
  /** The command that installs it. */
  readonly installCommand: string;
  /** Variables that the client itself needs: its login and its settings. */
  readonly needs: readonly string[];
  /** Paths of the program in packages, below `node_modules`. */
  readonly packaged: readonly string[];
  /** Returns the program itself, if the found file is a script that starts it. */
  native?(program: string): Promise<string>;
  readonly loginFix: string;
  /** Returns the kind of login as text; `null` if there is none. */
  login(ask: (...args: string[]) => Promise<ProcessResult>, env: Environment): Promise<string | null>;
  /** Returns a note about its sandbox. */
  sandbox?(env: Readonly<Record<string, string | undefined>>): Promise<string>;
}

/** The parts that differ between clients: launching one, and reading its output. */
export interface Client extends ClientProgram {
  readonly install: string;
  launch(scene: LaunchContext): Promise<Launch>;
}

export interface ClientAgentOptions {
  /** A path, or a name on the PATH; default: the client's own name, then the project's packages. */
  readonly command?: string | undefined;
  /** More arguments, set by the user. */
  readonly args?: readonly string[] | undefined;
  /** The project, whose packages are searched. */
  readonly root: string;
  /** Remand's own environment, and the names of variables that the user lets agents see. */
  readonly environment: {
    readonly source: Readonly<Record<string, string | undefined>>;
    readonly sees: readonly string[];
  };
  /** The access that an agent with `edit` gets: `full` lets it run every command, outside of its client's sandbox. */
  readonly edits?: "edit" | "full" | undefined;
  /**
   * The project's instructions for agents, from the user's checkout. The client itself reads none from the worktree,
   * because one agent could write there what the next one is told.
   */
  readonly instructions?: string | undefined;
  readonly tempFolder?: string | undefined;
  /** The sandbox of the client; default: none. */
  readonly sandbox?: Sandbox | undefined;
  /** How its program is run; default: it ends with this process. */
  readonly processes?: AgentProcesses | undefined;
  /** Returns a dispatch's cookie, so that its processes can be found after a crash. */
  readonly cookieOf?: ((key: string) => string) | undefined;
  readonly now?: (() => number) | undefined;
}

/** One launch of a client, and the listener for its output. */
export interface Launch {
  readonly args: readonly string[];
  readonly env: Environment;
  readonly listener: ClientListener;
  /** Removes files that the client leaves behind. */
  after?(): Promise<void>;
}

export interface ClientListener {
  /**
   * Reads an event. An error means that continuing is useless: the client is ended, and the dispatch fails with that
   * error.
   */
  read(event: WireEvent): AgentError | null;
  readError(line: string): void;
  report(ended: ProcessResult): ClientReport;
}

/** The client's report by the time it ended. */
export interface ClientReport {
  /** Whether it reported the end of its work, successful or not. */
  readonly isOver: boolean;
  readonly session: string | null;
  readonly text: string;
  readonly output: unknown;
  readonly counted: ClientCounts;
  /** Tokens by kind, if it reports them. */
  readonly parts: TokenParts | null;
  readonly denied: readonly string[];
  readonly error: AgentError | null;
  /** Whether it does not know the conversation that it should resume. */
  readonly isUnknownSession: boolean;
}

export interface LaunchContext {
  readonly options: ClientAgentOptions;
  readonly request: AgentRequest;
  readonly access: AgentRequest["access"];
  /** `null`: start a new conversation. */
  readonly session: AgentSession | null;
  readonly env: Environment;
  /** A folder for this dispatch only, outside of the worktree. */
  readonly folder: string;
  readonly onEvent: AgentControl["onEvent"];
  now(): number;
}

/**
 * Returns the error for a program's exit code: 0 success, 75 try again later, 77 no permission (no login), 64 and 78
 * wrong call or configuration, 126 and 127 not started. These are the meanings of `sysexits.h` and the shell. Any other
 * code is a crash.
 */
export function exitError(name: string, exitCode: number, output: string): AgentError | null {
  if (exitCode === 0) return null;
  const said = lastWords(output);
  const message = `${name} ended with exit code ${exitCode}${said === "" ? "" : `: ${said}`}`;
  switch (exitCode) {
    case 75:
      return { kind: "overloaded", message };
    case 77:
      return {
        kind: "auth",
        message,
        fix: `log in for ${name}, or give it the key it asks for, then send the story back`,
      };
    case 64:
    case 78:
      return {
        kind: "bad-request",
        message,
        fix: `correct the command or the set-up of ${name}, then send the story back`,
      };
    case 126:
    case 127:
      return { kind: "launch", message, fix: `install ${name}, or correct its command` };
    default:
      return { kind: "crash", message };
  }
}

const LONGEST_WORDS = 300;

/** A line of a stack trace: what went wrong stands before the first. */
const STACK_LINE = /^at .*:\d+\)?$/;

/** What a program said last; where it ended with a stack trace, what that is about. */
export function lastWords(output: string): string {
  const lines = plainText(output.slice(-4000))
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const frame = lines.findLastIndex((line, index) => STACK_LINE.test(line) && !STACK_LINE.test(lines[index - 1] ?? ""));
  if (frame > 0) return lines[frame - 1]!.slice(0, LONGEST_WORDS);
  return lines.slice(-3).join(" / ").slice(-LONGEST_WORDS);
}

/** Returns the result of a dispatch that failed before the agent printed anything. */
export function failedResult(error: AgentError, durationMs: number): AgentResult {
  return {
    status: "failed",
    session: null,
    text: "",
    output: null,
    tokens: null,
    costUsd: null,
    denied: [],
    error,
    durationMs,
  };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
