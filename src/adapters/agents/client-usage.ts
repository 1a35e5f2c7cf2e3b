import type { AgentSession } from "../../domain/session.ts";

export interface Used {
  readonly tokens: number;
  /** `null`: the client does not know what it cost. */
  readonly costUsd: number | null;
}

/** What a client says it used. Some count the run, some the whole conversation, and some both. */
export interface Counted {
  readonly run: Used | null;
  readonly conversation: Used | null;
  /** This run used no less than this. */
  readonly leastTokens: number;
}

export interface Usage {
  readonly used: Used | null;
  readonly totals: AgentSession["totals"];
}

/**
 * What this run used, out of what the client counted and what the conversation had used before. The difference is
 * preferred, because it has what a run that was cut off could not report.
 */
export function usageOf({ run, conversation, leastTokens }: Counted, before: AgentSession["totals"]): Usage {
  if (conversation === null && run === null) return { used: null, totals: before };
  const base: Used = { tokens: before?.tokens ?? 0, costUsd: before === undefined ? 0 : (before.costUsd ?? null) };
  // A "conversation" that is smaller than it was, with this run, is none: this version counts runs.
  const isWhole = conversation !== null && conversation.tokens >= base.tokens + leastTokens;
  if (!isWhole) {
    const used = run ?? conversation!;
    return { used, totals: totalsOf({ tokens: base.tokens + used.tokens, costUsd: sum(base.costUsd, used.costUsd) }) };
  }
  const { tokens, costUsd } = conversation;
  const difference = costUsd === null || base.costUsd === null ? (run?.costUsd ?? null) : costUsd - base.costUsd;
  return {
    used: { tokens: tokens - base.tokens, costUsd: difference === null ? null : rounded(Math.max(0, difference)) },
    totals: totalsOf(conversation),
  };
}

/** Two runs that count as one. */
export function together(first: Used | null, second: Used | null): Used | null {
  if (first === null || second === null) return first ?? second;
  return { tokens: first.tokens + second.tokens, costUsd: sum(first.costUsd, second.costUsd) };
}

function totalsOf({ tokens, costUsd }: Used): AgentSession["totals"] {
  return costUsd === null ? { tokens } : { tokens, costUsd };
}

function sum(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : rounded(a + b);
}

/** Differences of dollars leave dust behind the tenth digit. */
function rounded(dollars: number): number {
  return Math.round(dollars * 1e10) / 1e10;
}
