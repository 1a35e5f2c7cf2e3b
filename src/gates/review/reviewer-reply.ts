import type { AgentSession, EvidenceId, RoleName } from "../../core/events/ids.ts";
import type { Reading } from "../../core/stories/reading.ts";
import type { AgentError, AgentResult } from "../../ports/agent.ts";

/** The outcome of one conversation with one reviewer. Without a reading there is no verdict, and `trouble` says why. */
export interface ReviewerReply {
  readonly role: RoleName;
  readonly reading: Reading | null;
  readonly trouble: string;
  /** Whether it failed the work and, even when asked, could not say why. */
  readonly isBestEffort: boolean;
  /** Its last answer. All answers are kept as evidence. */
  readonly words: string;
  /** Its replies in this conversation, oldest first. */
  readonly replies: readonly string[];
  readonly asked: number;
  readonly session: AgentSession | null;
  readonly evidence: readonly EvidenceId[];
  readonly costUsd: number | null;
  readonly tokens: number | null;
  /** When its provider allows the next call; `null` if the provider is not the problem. */
  readonly retryAt: number | null;
}

/** Returns a reply for a reviewer that was not asked. */
export function noReply(role: RoleName, trouble: string): ReviewerReply {
  return {
    role,
    reading: null,
    trouble,
    isBestEffort: false,
    words: "",
    replies: [],
    asked: 0,
    session: null,
    evidence: [],
    costUsd: 0,
    tokens: 0,
    retryAt: null,
  };
}

/** Returns the second reply with the costs of both. A cost is unknown if either is. */
export function mergeReplies(first: ReviewerReply, second: ReviewerReply): ReviewerReply {
  return {
    ...second,
    words: second.words === "" ? first.words : second.words,
    asked: first.asked + second.asked,
    session: second.session ?? first.session,
    evidence: [...first.evidence, ...second.evidence],
    costUsd: sum(first.costUsd, second.costUsd),
    tokens: sum(first.tokens, second.tokens),
  };
}

export const sum = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b);

/** Returns why a reviewer gave no answer, and what a person can do about it; `null` if it answered. Never a verdict. */
export function troubleWith(role: RoleName, { status, error, durationMs }: AgentResult): string | null {
  switch (status) {
    case "completed":
      return null;
    case "cancelled":
      return `${role} was stopped before it answered`;
    case "timeout":
      return `${role} did not answer within ${Math.round(durationMs / 1000)} s — raise limits.timeout, or look at its agent`;
    case "failed": {
      if (error === null) return `${role} failed and did not say why`;
      const fix = error.fix ?? FIXES[error.kind];
      return `${role}: ${error.message}${fix === "" ? "" : ` — ${fix}`}`;
    }
  }
}

/** Whether the agent could not be started; then its fallback is asked. */
export const isGone = ({ status, error }: AgentResult): boolean => status === "failed" && error?.kind === "launch";

/** Returns when to ask again after a rate limit or overload: at the provider's time, or in a minute. */
export function retryAtOf({ error }: AgentResult, nowMs: number): number | null {
  if (error?.kind !== "rate-limit" && error?.kind !== "overloaded") return null;
  return error.retryAt ?? nowMs + 60_000;
}

const FIXES: Readonly<Record<AgentError["kind"], string>> = {
  auth: "log the agent's client in, then run again",
  credit: "add credit, or give the role another agent",
  "rate-limit": "wait for its provider's limit to end, or give the role another agent",
  overloaded: "run again later, or give the role another agent",
  refused: "use another agent for this role, or remove the refused part of the story",
  "context-length": "the work is too big for its model: give the role one with more room, or split the story",
  "bad-request": "fix the role's settings in remand.yaml",
  launch: "install it, or correct its command in remand.yaml",
  crash: "",
};
