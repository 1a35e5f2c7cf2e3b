import type { Event } from "../events/event.ts";

/** What is broken, where an event reports broken infrastructure; else `null`. */
export function infrastructureIssue(event: Event): string | null {
  switch (event.type) {
    case "infrastructure.blocked":
      return event.issue;
    case "gate.judged":
      return event.judgement.result === "blocked" ? event.judgement.summary : null;
    case "blame.found":
      return event.blame.verdict === "environment" ? event.blame.explanation : null;
    case "step.failed":
      return event.infrastructure ? event.detail : null;
    case "attempt.finished":
      if (event.outcome.type === "blocked") return event.outcome.issue;
      return event.outcome.type === "incomplete" && event.outcome.category === "infrastructure"
        ? event.outcome.blocker
        : null;
    default:
      return null;
  }
}
