import type { AgentSession } from "../../core/events/ids.ts";
import type { AgentControl, AgentError, AgentRequest, AgentResult } from "../../ports/agent.ts";
import type { AgentProcesses } from "../../adapters/process/agent-processes.ts";
import type { Environment } from "../../adapters/process/environment.ts";
import type { ProcessResult } from "../../adapters/process/run-process.ts";
import { plainText } from "../../stdx/plain-text.ts";
import type { ClientCounts, WireEvent, TokenParts } from "./client-wire.ts";
import type { AgentClientName } from "../../core/stories/agent-client.ts";
import type { Sandbox } from "../../ports/sandbox.ts";

/** What the doctor says of an agent. */
export interface AgentProbe {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  /** Empty where all is well. */
  readonly fix: string;
}

/** To be looked at is no reason to call home. */
export const QUIET = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" };

/** How a client's program is found, and asked what it can do. */
export interface ClientProgram {
  readonly name: AgentClientName;
  /** How it is installed by hand. */
  readonly installCommand: string;
  /** Variables that it needs for itself: its login and its settings. */
  readonly needs: readonly string[];
  /** Where its package has the program, below `node_modules`. */
  readonly packaged: readonly string[];
  /** The program itself, where what was found is a script that starts it. */
  native?(program: string): Promise<string>;
  readonly loginFix: string;
  /** How it is logged in, in words; `null` when it is not. */
  login(ask: (...args: string[]) => Promise<ProcessResult>, env: Environment): Promise<string | null>;
  /** What is said of its sandbox. */
  sandbox?(env: Readonly<Record<string, string | undefined>>): Promise<string>;
}

/** What is particular to one client: how it is launched, and how what it prints is understood. */
export interface Client extends ClientProgram {
  readonly install: string;
  launch(scene: LaunchContext): Promise<Launch>;
}

export interface ClientAgentOptions {
  /** A path, or a name on the PATH. Without it the client is looked for by its own name, then among the packages. */
  readonly command?: string | undefined;
  /** Further arguments, which the user wants the client to have. */
  readonly args?: readonly string[] | undefined;
  /** The project, where packages are looked for. */
  readonly root: string;
  /** Our own environment, and the names in it that the user lets agents see. */
  readonly environment: {
    readonly source: Readonly<Record<string, string | undefined>>;
    readonly sees: readonly string[];
  };
  /** What an agent that may edit really gets: `full` lets it run every command, outside of every sandbox. */
  readonly edits?: "edit" | "full" | undefined;
  /**
   * What the project tells agents, as its checkout has it. The client itself reads nothing in the worktree, because
   * one agent could write there what the next one is told.
   */
  readonly instructions?: string | undefined;
  readonly tempFolder?: string | undefined;
  /** Around the client; absent: none. */
  readonly sandbox?: Sandbox | undefined;
  /** How its program is run; by default it ends with this process. */
  readonly processes?: AgentProcesses | undefined;
  /** Marks a dispatch's processes, so that a restart after a crash can find those that still run. */
  readonly cookieOf?: ((key: string) => string) | undefined;
  readonly now?: (() => number) | undefined;
}

/** One launch of a client, and who listens to what it prints. */
export interface Launch {
  readonly args: readonly string[];
  readonly env: Environment;
  readonly listener: ClientListener;
  /** Puts away what the client leaves lying about. */
  after?(): Promise<void>;
}

export interface ClientListener {
  /** An error says that going on is of no use: the client is ended, and that is how it went. */
  hear(event: WireEvent): AgentError | null;
  hearError(line: string): void;
  report(ended: ProcessResult): ClientReport;
}

/** What was heard of a client by its end. */
export interface ClientReport {
  /** Did it say that it is done, well or not? */
  readonly isOver: boolean;
  readonly session: string | null;
  readonly text: string;
  readonly output: unknown;
  readonly counted: ClientCounts;
  /** Input and output apart, where it says so. */
  readonly parts: TokenParts | null;
  readonly denied: readonly string[];
  readonly error: AgentError | null;
  /** It does not know the conversation that it was told to go on with. */
  readonly isUnknownSession: boolean;
}

export interface LaunchContext {
  readonly options: ClientAgentOptions;
  readonly request: AgentRequest;
  readonly access: AgentRequest["access"];
  /** `null` begins a conversation. */
  readonly session: AgentSession | null;
  readonly env: Environment;
  /** A folder of this dispatch's own, outside of the worktree. */
  readonly folder: string;
  readonly onEvent: AgentControl["onEvent"];
  now(): number;
}

/**
 * What a program's exit code says: 0 it went well, 75 try again later, 77 it may not (no login), 64 and 78 it was
 * called or set up wrongly, 126 and 127 it could not be started. These are the meanings that `sysexits.h` and the
 * shell gave them. Any other code is a crash.
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

export function lastWords(output: string): string {
  const lines = plainText(output.slice(-4000))
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return lines.slice(-3).join(" / ").slice(-LONGEST_WORDS);
}

/** The result of a dispatch that came to nothing before the agent could say a word. */
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
