import type { EvidenceId, RoleName } from "../../domain/ids.ts";
import type { Reading } from "../../domain/reading.ts";
import type { AgentSession } from "../../domain/session.ts";

/** How one conversation with one reviewer ended. Without a reading nothing was said of the work, and `trouble` tells why. */
export interface Heard {
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

/** Nobody was asked. */
export function unheard(role: RoleName, trouble: string): Heard {
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
export function together(first: Heard, second: Heard): Heard {
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
