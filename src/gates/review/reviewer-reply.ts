import type { AgentSession, EvidenceId, RoleName } from "../../core/events/ids.ts";
import type { Reading } from "../../core/stories/reading.ts";
import type { AgentError, AgentResult } from "../../ports/agent.ts";

/** How one conversation with one reviewer ended. Without a reading nothing was said of the work, and `trouble` tells why. */
export interface ReviewerReply {
  readonly role: RoleName;
  readonly reading: Reading | null;
  readonly trouble: string;
  /** It failed the work and, even when asked, could not say for what. */
  readonly isBestEffort: boolean;
  /** Its last answer. All of them are kept as evidence. */
  readonly words: string;
  /** What it replied in this conversation, oldest first. */
  readonly replies: readonly string[];
  readonly asked: number;
  readonly session: AgentSession | null;
  readonly evidence: readonly EvidenceId[];
  readonly costUsd: number | null;
  readonly tokens: number | null;
  /** When its provider lets it be asked again; `null` where that is not what it lacks. */
  readonly retryAt: number | null;
}

/** No reviewer was asked. */
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

/** The second after the first, with what both cost. What one of them did not say is not known of both. */
export function together(first: ReviewerReply, second: ReviewerReply): ReviewerReply {
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

/** Why a reviewer gave no answer, and what a person can do about it; `null` when it did. It is never a verdict. */
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

/** Is the agent not there at all? Then its fallback is asked. */
export const isGone = ({ status, error }: AgentResult): boolean => status === "failed" && error?.kind === "launch";

/** A provider that limits the rate, or is overloaded, says when to come back, or it is in a minute. */
export function retryAtOf({ error }: AgentResult, nowMs: number): number | null {
  if (error?.kind !== "rate-limit" && error?.kind !== "overloaded") return null;
  return error.retryAt ?? nowMs + 60_000;
}

const FIXES: Readonly<Record<AgentError["kind"], string>> = {
  auth: "log the agent's client in, then run again",
  credit: "add credit, or give the role another agent",
  "rate-limit": "wait for its provider's limit to end, or give the role another agent",
  overloaded: "run again later, or give the role another agent",
  refused: "give the role another agent, or take out of the story what it refuses",
  "context-length": "the work is too big for its model: give the role one with more room, or split the story",
  "bad-request": "fix the role's settings in remand.yaml",
  launch: "install it, or correct its command in remand.yaml",
  crash: "",
};
