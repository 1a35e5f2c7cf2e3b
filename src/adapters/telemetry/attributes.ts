import type { Cost, Event } from "../../core/events/event.ts";

/**
 * What may be said of a piece of work: names and numbers of ours. Nothing that an agent, a tool or a person wrote goes
 * here, and so no secret can: each value is a number, or a word of a list that stands in this code or in a config.
 */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface End {
  readonly trouble: string | null;
  readonly more: Attributes;
}

const TROUBLED: ReadonlySet<string> = new Set([
  "unclear",
  "crashed",
  "timed-out",
  "rate-limited",
  "refused",
  "unusable",
  "missing",
]);

/** What the line that ended a piece of work says came of it. */
export function endAttributes(event: Event): End {
  switch (event.type) {
    case "attempt.finished":
      return outcome(event.outcome.type, { "remand.changed_files": event.changed.length });
    case "attempt.unclear":
      return outcome("unclear");
    case "gate.judged": {
      const { result, findings, blocking, ciClass } = event.judgement;
      const more = {
        "remand.result": result,
        "remand.findings": findings.length,
        "remand.blocking": blocking.length,
        ...(ciClass === undefined ? {} : { "remand.cause": ciClass }),
      };
      return { trouble: result === "error" ? "gate-error" : null, more };
    }
    case "blame.found": {
      const { verdict, basis, confidence, testRuns } = event.blame;
      return {
        trouble: null,
        more: {
          "remand.outcome": "done",
          "remand.cause": verdict,
          "remand.blame.basis": basis,
          "remand.blame.confidence": confidence,
          "remand.blame.runs": testRuns,
        },
      };
    }
    case "step.failed":
      return { trouble: "step-failed", more: { "remand.outcome": "failed" } };
    case "work.interrupted":
      return { trouble: "interrupted", more: { "remand.outcome": "interrupted" } };
    case "person.answered":
    case "story.held":
      return { trouble: null, more: { "remand.outcome": "ended-by-person" } };
    default:
      return { trouble: null, more: { "remand.outcome": "done" } };
  }
}

function outcome(type: string, more: Attributes = {}): End {
  return { trouble: TROUBLED.has(type) ? type : null, more: { "remand.outcome": type, ...more } };
}

/** What the line says was used; unknown is not zero, and is left out. */
export function costAttributes(event: Event): Attributes {
  const cost = costIn(event);
  if (cost === null) return {};
  return {
    ...(cost.tokens === undefined ? {} : { "remand.tokens": cost.tokens }),
    ...(cost.costUsd === undefined ? {} : { "remand.cost_usd": cost.costUsd }),
  };
}

export function costIn(event: Event): Cost | null {
  if (event.type === "gate.judged") return event.judgement;
  if (event.type === "work.interrupted") return event.overrun ?? null;
  return "durationMs" in event ? event : null;
}
