import type { AttemptSummary } from "../../core/stories/attempt.ts";
import type { Cost, Event } from "../../core/events/event.ts";
import type { StoryState } from "../../core/stories/story-state.ts";
import { keepsUndo } from "../../core/stories/escalation.ts";
import type { StoredEvent } from "../../ports/journal.ts";
import { GATE_REGISTRY } from "../../core/gates/registry.ts";

/** A piece of work that began and takes time. */
export interface OpenPiece {
  readonly kind: "attempt" | "gate" | "step";
  readonly name: string;
  readonly since: number;
  readonly attributes: Attributes;
}

/** A finished piece of work, with its duration and outcome. */
export interface WorkPiece {
  readonly kind: OpenPiece["kind"] | "story" | "escalation" | "send-back";
  readonly name: string;
  readonly since: number;
  readonly at: number;
  /** Why it failed, if by trouble and not by judgement: a word from a fixed list. */
  readonly trouble: string | null;
  readonly attributes: Attributes;
}

/** What one line began and ended. */
export interface LinePieces {
  readonly line: StoredEvent;
  readonly begun: OpenPiece | null;
  readonly ended: readonly WorkPiece[];
}

/**
 * Returns what lines of one story began and ended. Open work is known from the state before the lines, and then from
 * the lines themselves. If nothing runs after the last line, that line ended it.
 */
export function piecesIn(
  lines: readonly StoredEvent[],
  before: StoryState | undefined,
  after: StoryState,
): readonly LinePieces[] {
  let open = before === undefined ? null : openIn(before);
  let answered = before === undefined ? null : answerIn(before);
  return lines.map((line, index) => {
    const ended: WorkPiece[] = [];
    // A question ends with its answer. Only the worker that acts on the answer reports it, so that it is reported once.
    if (answered !== null && !keepsUndo(line.event) && line.event.type !== "person.answered") {
      if (line.event.type !== "answer.undone") ended.push(answered);
      answered = null;
    }
    answered = answerBy(line, before) ?? answered;
    const begun = begunBy(line);
    const isLast = index === lines.length - 1;
    if (open !== null && begun === null && (isEndedBy(line.event, open) || (isLast && after.running === null))) {
      ended.push({ ...open, at: line.at, ...endOf(line.event, open) });
      open = null;
    }
    open = begun ?? open;
    ended.push(...pointsIn(line, before, after));
    return { line, begun, ended };
  });
}

function openIn({ running, attempts, phase }: StoryState): OpenPiece | null {
  if (running === null) return null;
  const { since } = running;
  if (running.type === "gate") return gateOpen(running.gate, since);
  if (running.type === "step") return stepOpen(running.step, since);
  const known = attempts.at(-1);
  return attemptOpen(known ?? { attempt: running.attempt, role: running.role, phase, reworkOf: null }, since);
}

function begunBy({ event, at }: StoredEvent): OpenPiece | null {
  switch (event.type) {
    case "story.started":
      return stepOpen("prepare", at);
    case "attempt.started":
      return attemptOpen(event, at);
    case "gate.started":
      return gateOpen(event.gate, at);
    case "step.started":
      return stepOpen(event.step, at);
    default:
      return null;
  }
}

type Dispatch = Pick<AttemptSummary, "attempt" | "role" | "phase" | "reworkOf" | "tddPhase">;

function attemptOpen({ attempt, role, phase, reworkOf, tddPhase }: Dispatch, since: number): OpenPiece {
  const attributes = {
    "remand.attempt": attempt,
    "remand.phase": phase,
    "remand.rework": reworkOf !== null,
    "gen_ai.agent.name": role,
    ...(reworkOf === null ? {} : { "remand.rework_of": reworkOf }),
    ...(tddPhase === undefined ? {} : { "remand.tdd_phase": tddPhase }),
  };
  return { kind: "attempt", name: `attempt ${phase}`, since, attributes };
}

const gateOpen = (gate: string, since: number): OpenPiece => ({
  kind: "gate",
  name: `gate ${gate}`,
  since,
  attributes: { "remand.gate": gate },
});

const stepOpen = (step: string, since: number): OpenPiece => ({
  kind: "step",
  name: `step ${step}`,
  since,
  attributes: { "remand.step": step },
});

/** Whether a line ends the piece even if more lines follow in the same append. */
function isEndedBy(event: Event, { kind, attributes }: OpenPiece): boolean {
  switch (event.type) {
    case "work.interrupted":
    case "step.failed":
      return true;
    case "attempt.finished":
      return kind === "attempt" && attributes["remand.attempt"] === event.attempt;
    case "gate.judged":
      // A delivery that meets a conflict ends with the merge gate's judgement.
      if (kind === "step") return GATE_REGISTRY[event.judgement.gate].judgesWithTarget;
      return kind === "gate" && attributes["remand.gate"] === event.judgement.gate;
    case "story.prepared":
    case "base.judged":
    case "blame.found":
    case "lint.fixed":
    case "branch.updated":
    case "tree.restored":
    case "finding.adjudicated":
    case "work.delivered":
    case "work.adopted":
    case "delivery.refused":
      return kind === "step";
    default:
      return false;
  }
}

function endOf(event: Event, { attributes }: OpenPiece): Pick<WorkPiece, "attributes" | "trouble"> {
  const { trouble, more } = endAttributes(event);
  return { trouble, attributes: { ...attributes, ...more, ...costAttributes(event) } };
}

/** Returns an answered question if no worker has acted on the answer yet. */
function answerIn({ undo }: StoryState): WorkPiece | null {
  if (undo === null) return null;
  const { escalation, escalatedAt } = undo.before;
  if (escalation === null || escalatedAt === null) return null;
  return {
    kind: "escalation",
    name: "escalation",
    since: escalatedAt,
    at: undo.at,
    trouble: null,
    attributes: {
      "remand.escalation.kind": escalation.kind,
      "remand.escalation.reason": escalation.reason.type,
      "remand.answer": undo.answer.verb,
      ...(escalation.gate === null ? {} : { "remand.gate": escalation.gate }),
    },
  };
}

function answerBy({ event, at }: StoredEvent, before: StoryState | undefined): WorkPiece | null {
  if (event.type !== "person.answered" || before === undefined) return null;
  return answerIn({ ...before, undo: { answer: event.answer, at, before } });
}

/** Returns events without a duration, or with that of the whole story. */
function pointsIn({ event, at }: StoredEvent, before: StoryState | undefined, after: StoryState): readonly WorkPiece[] {
  switch (event.type) {
    case "work.sent-back": {
      const cause = before?.failing?.blame?.verdict;
      const attributes = {
        "remand.gate": event.gate,
        "remand.failure": event.failure,
        "remand.phase": event.route.phase,
        "gen_ai.agent.name": event.route.role,
        ...(cause === undefined ? {} : { "remand.cause": cause }),
      };
      return [{ kind: "send-back", name: `send-back ${event.gate}`, since: at, at, trouble: null, attributes }];
    }
    case "story.accepted":
    case "story.failed": {
      const attributes = {
        "remand.outcome": event.type === "story.failed" ? event.how : "accepted",
        "remand.attempts": after.attempts.length,
        "remand.reworks": after.reworks,
        "remand.escalations": after.escalations,
        "remand.cost_usd": after.spent.costUsd,
        "remand.tokens": after.spent.tokens,
      };
      const since = after.startedAt ?? at;
      return [{ kind: "story", name: "story", since, at, trouble: null, attributes }];
    }
    default:
      return [];
  }
}

/**
 * Attributes of a piece of work. They contain no text of an agent, tool or person, and therefore no secret: each value
 * is a number, or a word from a list in this code or in a config.
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

/** Returns the outcome that the ending line records. */
function endAttributes(event: Event): End {
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

/** Returns the cost that the line records. An unknown cost is left out, because it is not zero. */
function costAttributes(event: Event): Attributes {
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
