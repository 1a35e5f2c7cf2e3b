import type { AgentSession } from "../../core/events/ids.ts";
import type { AgentResult } from "../../ports/agent.ts";
import { isRecord } from "../../stdx/assert.ts";

/** One JSON object of a client's output. It is untrusted, so every field is checked. */
export type WireEvent = Readonly<Record<string, unknown>>;

/** Parses a line; `null` if it is not a complete object: progress bars, warnings, half a line. */
export function readWireEvent(line: string): WireEvent | null {
  if (!line.startsWith("{")) return null;
  try {
    return eventIn(JSON.parse(line));
  } catch {
    return null;
  }
}

export function eventIn(value: unknown): WireEvent | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as WireEvent) : null;
}

export function textIn(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

export function amountIn(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
}

export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

const LONGEST_SHOWN = 4000;

/** Returns the lines of a text to show to a person, each cut to a readable length. */
export function shownLines(text: string): readonly string[] {
  return text
    .trimEnd()
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => (line.length > LONGEST_SHOWN ? `${line.slice(0, LONGEST_SHOWN)}…` : line));
}

/** Returns a tool call as one short line: its name and its most telling argument. */
export function shownCall(name: string, input: unknown): string {
  const fields = eventIn(input) ?? {};
  const said = SAYS_MOST.map((field) => textIn(fields[field])).find((value) => value !== null) ?? "";
  const line = said.trim().split("\n")[0]!;
  return line === "" ? name : `${name}: ${line.length > 200 ? `${line.slice(0, 200)}…` : line}`;
}

const SAYS_MOST = ["command", "file_path", "path", "pattern", "notebook_path", "url", "query", "description"];

export interface UsedTokens {
  readonly tokens: number;
  /** `null`: the client does not know the cost. */
  readonly costUsd: number | null;
}

/** The usage that a client reports: of the run, of the whole conversation, or of both. */
export interface ClientCounts {
  readonly run: UsedTokens | null;
  readonly conversation: UsedTokens | null;
  /** A lower bound of this run's tokens. */
  readonly leastTokens: number;
}

export interface RunUsage {
  readonly used: UsedTokens | null;
  readonly totals: AgentSession["totals"];
}

/**
 * Returns the usage of this run, from the client's counts and the conversation's earlier totals. The difference of
 * totals is preferred, because it includes what an interrupted run could not report.
 */
export function usageOf({ run, conversation, leastTokens }: ClientCounts, before: AgentSession["totals"]): RunUsage {
  if (conversation === null && run === null) return { used: null, totals: before };
  const base: UsedTokens = {
    tokens: before?.tokens ?? 0,
    costUsd: before === undefined ? 0 : (before.costUsd ?? null),
  };
  // A total smaller than the earlier total plus this run cannot be the conversation's: this version of the client
  // counts runs.
  const isWhole = conversation !== null && conversation.tokens >= base.tokens + leastTokens;
  if (!isWhole) {
    const used = run ?? conversation!;
    return { used, totals: totalsOf({ tokens: base.tokens + used.tokens, costUsd: sum(base.costUsd, used.costUsd) }) };
  }
  const { tokens, costUsd } = conversation;
  const difference = costUsd === null || base.costUsd === null ? (run?.costUsd ?? null) : costUsd - base.costUsd;
  return {
    used: { tokens: tokens - base.tokens, costUsd: difference === null ? null : roundDollars(Math.max(0, difference)) },
    totals: totalsOf(conversation),
  };
}

/** Adds the usage of two runs that count as one. */
export function addUsage(first: UsedTokens | null, second: UsedTokens | null): UsedTokens | null {
  if (first === null || second === null) return first ?? second;
  return { tokens: first.tokens + second.tokens, costUsd: sum(first.costUsd, second.costUsd) };
}

function totalsOf({ tokens, costUsd }: UsedTokens): AgentSession["totals"] {
  return costUsd === null ? { tokens } : { tokens, costUsd };
}

function sum(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : roundDollars(a + b);
}

/** Rounds away the error of subtracting floating point dollars. */
function roundDollars(dollars: number): number {
  return Math.round(dollars * 1e10) / 1e10;
}

/** A client's tokens by kind. */
export interface TokenParts {
  readonly model: string | null;
  readonly input: number;
  readonly output: number;
  /** The part of the input that was read from a cache. */
  readonly cached?: number;
}

type Totals = NonNullable<AgentSession["totals"]>;

/**
 * Returns the tokens by kind, for metrics. A client may report those of the run or of the whole conversation; numbers
 * that match neither are left out.
 */
export function usageOfParts(
  parts: TokenParts | null,
  tokens: number | null,
  before?: AgentSession["totals"],
): Pick<AgentResult, "usage"> {
  if (parts === null) return {};
  const named = parts.model === null ? {} : { model: parts.model };
  const own = tokens === null ? null : partsOfRun(parts, tokens, before);
  const counted =
    own === null
      ? {}
      : {
          inputTokens: own.input,
          outputTokens: own.output,
          ...(own.cached === undefined ? {} : { cachedTokens: own.cached }),
        };
  const usage = { ...named, ...counted };
  return Object.keys(usage).length === 0 ? {} : { usage };
}

function partsOfRun(parts: TokenParts, tokens: number, before: AgentSession["totals"]): TokenParts | null {
  const { input, output, cached = 0 } = parts;
  if (input + output === tokens) return parts;
  if (before?.input === undefined || input + output !== before.tokens + tokens) return null;
  const own = { input: input - before.input, cached: cached - (before.cached ?? 0) };
  return own.input < 0 || own.input > tokens || own.cached < 0
    ? null
    : { ...parts, ...own, output: tokens - own.input };
}

/**
 * Returns a conversation's totals, with tokens by kind if they are of the whole conversation: the next run's are
 * computed by their difference.
 */
export function totalsWithParts(totals: AgentSession["totals"], parts: TokenParts | null): AgentSession["totals"] {
  if (totals === undefined || parts === null || parts.input + parts.output !== totals.tokens) return totals;
  const withInput: Totals = { ...totals, input: parts.input };
  return parts.cached === undefined ? withInput : { ...withInput, cached: parts.cached };
}

/** Adds the tokens of several models. The name is that of the model with the most tokens. */
export function partsByModel(
  byModel: unknown,
  inputFields: readonly string[],
  outputField: string,
  cachedField?: string,
): TokenParts | null {
  if (!isRecord(byModel)) return null;
  const each = Object.entries(byModel).map(([model, used]) => ({
    ...partsIn(used, inputFields, outputField, cachedField),
    model,
  }));
  const [most] = each.toSorted((a, b) => b.input + b.output - (a.input + a.output));
  return most === undefined ? null : each.map((parts) => ({ ...parts, model: most.model })).reduce(partsTogether);
}

export function partsIn(
  used: unknown,
  inputFields: readonly string[],
  outputField: string,
  cachedField?: string,
): TokenParts {
  const amount = (name: string): number => {
    const value = isRecord(used) ? used[name] : null;
    return typeof value === "number" && Number.isFinite(value) && value >= 0 ? Math.round(value) : 0;
  };
  return {
    model: null,
    input: inputFields.reduce((sum, name) => sum + amount(name), 0),
    output: amount(outputField),
    ...(cachedField === undefined ? {} : { cached: amount(cachedField) }),
  };
}

export function partsTogether<P extends TokenParts>(first: P, second: P): P {
  const cached = first.cached === undefined || second.cached === undefined ? undefined : first.cached + second.cached;
  const sum = { ...second, input: first.input + second.input, output: first.output + second.output };
  return cached === undefined ? sum : { ...sum, cached };
}
