import type { AgentSession, RoleName, StoryId } from "../core/events/ids.ts";

/** A coding agent. `run` resolves for every outcome: a failure is a value, never a throw. */
export interface Agent {
  readonly name: string;
  /** It has no tools and cannot read files: everything it needs must be in its prompt. */
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
  /** What it may do there: look, change files, or run what it likes. */
  readonly access: "read" | "edit" | "full";
  /** A conversation to go on with. */
  readonly session: AgentSession | null;
  /** The answer wanted, as JSON Schema; `null` for free text. */
  readonly outputSchema: object | null;
  readonly model: string | null;
  /** The tools that its role is content with, as its role file names them; without it, all that the access has. */
  readonly tools?: readonly string[];
  readonly timeoutMs: number;
  /** What it may cost, for clients that keep to a sum themselves; without it, no limit. */
  readonly maxCostUsd?: number;
  /** Names of environment variables it gets beyond the usual few. */
  readonly env: Readonly<Record<string, string>>;
  /** Identifies this dispatch: its story, and the number of the story's events when it was decided. */
  readonly key: string;
  /** How many dispatches of this role for this story have ended before it. One that was interrupted has not. */
  readonly turn: number;
  /** What is waited for, so that an agent that can be given tools reports by one. Without it: a message will do. */
  readonly report?: { readonly story: string; readonly kind: "work" | "verdict" };
  /** Tools that it may call: a server on this machine that speaks MCP over HTTP. */
  readonly mcpServer?: McpServer;
}

export interface McpServer {
  readonly name: string;
  readonly url: string;
  /** Sent as a bearer token. It belongs to this dispatch, and the programs that the agent runs must not see it. */
  readonly token: string;
  readonly tools: readonly string[];
}

export type AgentEvent =
  /** A line of output, for the person who watches. */
  | { readonly type: "output"; readonly line: string }
  | { readonly type: "session"; readonly session: AgentSession }
  /** What this dispatch has used so far, from agents that say so while they work. `parts`: for each model, for a price. */
  | ({ readonly type: "usage"; readonly parts?: readonly AgentUsage[] } & AgentUse);

/** What was used; `null` where that is not known. */
export interface AgentUse {
  readonly costUsd: number | null;
  readonly tokens: number | null;
}

export interface AgentResult {
  readonly status: "completed" | "cancelled" | "timeout" | "failed";
  readonly session: AgentSession | null;
  readonly text: string;
  /** Structured output as the agent gave it, unchecked. */
  readonly output: unknown;
  readonly tokens: number | null;
  /** `null` when the agent did not say: unknown is not zero. */
  readonly costUsd: number | null;
  readonly denied: readonly string[];
  readonly error: AgentError | null;
  readonly durationMs: number;
  /** What is known beyond the sum, for those who measure. */
  readonly usage?: AgentUsage;
}

export interface AgentUsage {
  /** Which model answered; of several, the one that did most. */
  readonly model?: string;
  /** With what was read from a cache. */
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** Of the input, what was read from a cache. */
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
  /** What a person can do about it, where something can be done. */
  readonly fix?: string;
  /** When to try again, where the provider said so. */
  readonly retryAt?: number;
}

/** The agents' programs that outlive the engine. A dispatch is named by the key of its requests. */
export interface AgentRuns {
  /** Does a program of this dispatch still run, or has it ended with a result? One that is being started is waited for. */
  has(key: string): Promise<boolean>;
  /** Ends the programs of this dispatch that still run. The results of those that ended stay. */
  endUnfinished(key: string): Promise<void>;
  /** The results of a story's dispatches are in the journal or unwanted: ends what still runs, and removes its files. */
  drop(story: StoryId | null): Promise<void>;
  /** The same for all dispatches but these. */
  dropAllBut(keys: ReadonlySet<string>): Promise<void>;
}

/** Says which agent fills which role. */
export interface RoleRegistry {
  /**
   * `null`: no agent is configured or installed for it. `standingInFor`: the role that this one replaces; it gets the
   * prompt of that role.
   */
  agentFor(role: RoleName, standingInFor?: RoleName): Promise<RoleAgent | null>;
}

export interface RoleAgent {
  readonly agent: Agent;
  readonly model: string | null;
  /** The role file's own text. */
  readonly prompt: string;
  /**
   * How it says that it is done: by a signal in its last message, or (a plain command) by its exit code alone. A
   * signal that is there is read in both cases. `stop`: a conversation in a person's own client, whose wish to stop
   * means that its work is ready, whatever it says.
   */
  readonly reports: "signal" | "exit" | "stop";
  /** How long a brief may be for it; absent: as long as briefs may be. */
  readonly maxBriefChars?: number;
  readonly env: Readonly<Record<string, string>>;
}

/** Something that an agent can call by name. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. The tool checks its own input; clients only show this. */
  readonly inputSchema: object;
  /** Does it only look? */
  readonly isReading: boolean;
  /** Resolves for every input: what is wrong with it comes back as text, so that the model corrects itself. */
  call(input: unknown, signal: AbortSignal): Promise<ToolAnswer>;
}

export interface ToolAnswer {
  readonly isError: boolean;
  readonly text: string;
  /** The same for programs. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** Nothing is left to be done: a client may end the turn here. */
  readonly isLast?: boolean;
}
