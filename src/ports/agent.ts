import type { AgentSession, RoleName, StoryId } from "../core/events/ids.ts";

/** A coding agent. `run` resolves for every outcome: a failure is a value, never a throw. */
export interface Agent {
  readonly name: string;
  /** Whether the agent has no tools and cannot read files: its prompt must contain everything it needs. */
  readonly seesPromptAlone?: boolean;
  run(request: AgentRequest, control: AgentControl): Promise<AgentResult>;
}

export interface AgentControl {
  readonly signal: AbortSignal;
  onEvent(event: AgentEvent): void;
}

export interface AgentRequest {
  readonly prompt: string;
  readonly cwd: string;
  /** What the agent may do there: read, change files, or run any command. */
  readonly access: "read" | "edit" | "full";
  /** The conversation to continue; `null` for a new one. */
  readonly session: AgentSession | null;
  /** A JSON Schema for the answer; `null` for free text. */
  readonly outputSchema: object | null;
  readonly model: string | null;
  /** The only tools that the role may use, from its role file; absent: all that `access` allows. */
  readonly tools?: readonly string[];
  readonly timeoutMs: number;
  /** The most that the dispatch may cost, for clients that enforce a limit themselves; absent: no limit. */
  readonly maxCostUsd?: number;
  /** Environment variables in addition to the usual few. */
  readonly env: Readonly<Record<string, string>>;
  /** Identifies this dispatch: its story, and the number of the story's events at the decision. */
  readonly key: string;
  /** How many dispatches of this role for this story have ended, not counting interrupted ones. */
  readonly turn: number;
  /** What the agent must report, so that an agent with tools can report by calling one. Absent: a message is enough. */
  readonly report?: { readonly story: string; readonly kind: "work" | "verdict" };
  /** A server on this machine whose tools the agent may call, by MCP over HTTP. */
  readonly mcpServer?: McpServer;
}

export interface McpServer {
  readonly name: string;
  readonly url: string;
  /** Sent as a bearer token. It is for this dispatch only, and programs that the agent runs must not see it. */
  readonly token: string;
  readonly tools: readonly string[];
}

export type AgentEvent =
  /** A line of output, for a person who watches. */
  | { readonly type: "output"; readonly line: string }
  | { readonly type: "session"; readonly session: AgentSession }
  /**
   * What this dispatch has used so far, from agents that report it while they work. `parts`: by model, to compute the
   * price.
   */
  | ({ readonly type: "usage"; readonly parts?: readonly AgentUsage[] } & AgentUse);

/** What was used; `null` if unknown. */
export interface AgentUse {
  readonly costUsd: number | null;
  readonly tokens: number | null;
}

export interface AgentResult {
  readonly status: "completed" | "cancelled" | "timeout" | "failed";
  readonly session: AgentSession | null;
  readonly text: string;
  /** Structured output as the agent returned it, unchecked. */
  readonly output: unknown;
  readonly tokens: number | null;
  /** `null` if the agent did not report it: unknown is not zero. */
  readonly costUsd: number | null;
  readonly denied: readonly string[];
  readonly error: AgentError | null;
  readonly durationMs: number;
  /** Details beyond the totals, for measurements. */
  readonly usage?: AgentUsage;
}

export interface AgentUsage {
  /** The model that answered; of several, the one that did most. */
  readonly model?: string;
  /** Including tokens that were read from a cache. */
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** How many of the input tokens were read from a cache. */
  readonly cachedTokens?: number;
}

export interface AgentError {
  readonly kind:
    | "auth"
    | "rate-limit"
    | "overloaded"
    | "refused"
    | "credit"
    | "context-length"
    | "bad-request"
    | "launch"
    | "crash";
  readonly message: string;
  /** What a person can do about it, if anything. */
  readonly fix?: string;
  /** When to retry, if the provider said so. */
  readonly retryAt?: number;
}

/** Agents' programs that outlive the engine. The key of its request identifies a dispatch. */
export interface AgentRuns {
  /** Whether a program of this dispatch still runs or has ended with a result. Waits for a program that is starting. */
  has(key: string): Promise<boolean>;
  /** Ends the programs of this dispatch that still run. Results of ended programs stay. */
  endUnfinished(key: string): Promise<void>;
  /** Ends what still runs for a story and removes its files: the results are in the journal or no longer needed. */
  drop(story: StoryId | null): Promise<void>;
  /** The same for all dispatches except these. */
  dropAllBut(keys: ReadonlySet<string>): Promise<void>;
}

/** Returns the agent for each role. */
export interface RoleRegistry {
  /**
   * `null`: no agent is configured or installed for it. `standingInFor`: the role that this one replaces; the agent
   * gets the prompt of that role.
   */
  agentFor(role: RoleName, standingInFor?: RoleName): Promise<RoleAgent | null>;
}

export interface RoleAgent {
  readonly agent: Agent;
  readonly model: string | null;
  /** The role file's own text. */
  readonly prompt: string;
  /**
   * How the agent reports that it is done: by a signal in its last message, or (a plain command) by its exit code
   * alone. A signal is read in both cases. `stop`: a conversation in a person's own client; when it tries to stop, its
   * work is ready, whatever it says.
   */
  readonly reports: "signal" | "exit" | "stop";
  /** The longest brief for this agent, in characters; absent: the general limit. */
  readonly maxBriefChars?: number;
  readonly env: Readonly<Record<string, string>>;
}

/** A function that an agent can call by name. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. The tool checks its own input; clients only show this. */
  readonly inputSchema: object;
  /** Whether the tool only reads. */
  readonly isReading: boolean;
  /** Resolves for every input: errors come back as text, so that the model can correct its call. */
  call(input: unknown, signal: AbortSignal): Promise<ToolAnswer>;
}

export interface ToolAnswer {
  readonly isError: boolean;
  readonly text: string;
  /** The answer as data, for programs. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** Whether nothing is left to do, so that a client may end the turn here. */
  readonly isLast?: boolean;
}
