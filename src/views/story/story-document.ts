import type { Blame } from "../../core/blame/blame.ts";
import { countedBothWays } from "../../core/stories/budget.ts";
import type { Escalation, Waiver } from "../../core/stories/escalation.ts";
import type { Recorded } from "../../core/events/event.ts";
import type { CheckRun, GateName, StageResult, TestCounts } from "../../core/gates/gate.ts";
import { GATE_REGISTRY } from "../../core/gates/registry.ts";
import type { EvidenceId } from "../../core/events/ids.ts";
import type { Result } from "../../core/events/error.ts";
import type { RunState } from "../../core/stories/run-state.ts";
import type { Story } from "../../core/stories/story.ts";
import type { Dispute, StoryState } from "../../core/stories/story-state.ts";
import { type BoardCard, boardCard } from "../board/board.ts";
import { shortLine } from "../text/words.ts";
import { type FindingCard, findingRounds } from "./finding-text.ts";
import { type Recheck, rechecks } from "./recheck.ts";

/** Everything that the page of one story shows, but its lines. */
export interface StoryDocument {
  readonly card: BoardCard;
  readonly story: Story;
  /** `null`: it works in place, without a branch. */
  readonly branch: string | null;
  readonly commit: string;
  readonly attempts: readonly AttemptCard[];
  readonly gates: readonly GateCard[];
  readonly criteria: readonly CriterionCard[];
  readonly findings: readonly FindingCard[];
  readonly blames: readonly { readonly gate: GateName; readonly at: number; readonly blame: Blame }[];
  readonly reJudged: readonly Recheck[];
  readonly waivers: readonly Waiver[];
  readonly disputes: readonly Dispute[];
  readonly guidance: readonly string[];
  readonly preExisting: readonly string[];
  readonly escalation: Escalation | null;
  /** The phases that work can be sent back to. */
  readonly phases: readonly string[];
  readonly nextBrief: EvidenceId | null;
}

export interface AttemptCard {
  readonly attempt: number;
  readonly phase: string;
  readonly role: string;
  readonly reworkOf: string | null;
  readonly outcome: string;
  readonly summary: string;
  /** Why its work was not good enough; empty while that is not known. */
  readonly failed: string;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly costUsd: number | null;
  readonly forecastUsd: number | null;
  /** What kept the agent from the rest of the machine; `null` in records from before there were sandboxes. */
  readonly isolation: string | null;
  readonly changed: readonly string[];
  readonly brief: EvidenceId | null;
  readonly message: EvidenceId | null;
  /** What it printed while it worked, where that is more than the message. */
  readonly transcript: EvidenceId | null;
}

export interface GateCard {
  readonly gate: GateName;
  /** `null`: it has not judged what is there now. */
  readonly result: Result | "waived" | null;
  readonly summary: string;
  readonly counted: string;
  readonly stages: readonly StageResult[];
  readonly runs: readonly CheckRun[];
  readonly tests: TestCounts | null;
  readonly evidence: readonly EvidenceId[];
}

export function storyDocument(run: RunState, state: StoryState, lines: readonly Recorded[]): StoryDocument {
  const { story, waivers, disputes, guidance, preExisting, escalation, rework } = state;
  return {
    card: boardCard(run, state),
    story,
    branch: story.kind === "loop" ? null : `remand/${story.id}`,
    commit: state.commit,
    attempts: attemptCards(state, lines),
    gates: gateCards(state),
    criteria: criterionCards(state),
    findings: findingRounds(lines, state),
    blames: lines.flatMap(({ event, at }) =>
      event.type === "blame.found" ? [{ gate: event.gate, at, blame: event.blame }] : [],
    ),
    reJudged: rechecks(lines, state.policy),
    waivers,
    disputes,
    guidance,
    preExisting,
    escalation,
    phases: state.policy?.phases.map((plan) => plan.phase) ?? [],
    nextBrief: (rework?.brief as EvidenceId | undefined) ?? null,
  };
}

function attemptCards(state: StoryState, lines: readonly Recorded[]): readonly AttemptCard[] {
  return state.attempts.map((summary): AttemptCard => {
    const start = lines.find(({ event }) => event.type === "attempt.started" && event.attempt === summary.attempt);
    const end = lines.find(({ event }) => event.type === "attempt.finished" && event.attempt === summary.attempt);
    const started = start?.event.type === "attempt.started" ? start.event : null;
    const ended = end?.event.type === "attempt.finished" ? end.event : null;
    const { attempt, phase, role, reworkOf, outcome, failed } = summary;
    return {
      attempt,
      phase,
      role,
      reworkOf,
      outcome,
      summary: summary.summary,
      failed,
      startedAt: start?.at ?? 0,
      endedAt: end?.at ?? null,
      costUsd: ended?.costUsd ?? null,
      forecastUsd: started?.forecastUsd ?? null,
      isolation: started?.isolation ?? null,
      changed: ended?.changed ?? [],
      brief: started?.brief ?? null,
      message: ended?.message ?? null,
      transcript: ended?.transcript ?? null,
    };
  });
}

function gateCards(state: StoryState): readonly GateCard[] {
  const gates = state.policy?.phases.find((plan) => plan.phase === state.phase)?.gates ?? [];
  return gates.map((gate): GateCard => {
    const known = state.gates[gate];
    const last = known?.last ?? null;
    const limit = state.raised[`failures:${gate}`] ?? state.policy?.limits.failures[gate] ?? null;
    const isWaived = last?.result !== "pass" && state.waivers.some((waiver) => waiver.gate === gate);
    return {
      gate,
      result: isWaived ? "waived" : known?.fresh === true ? (last?.result ?? null) : null,
      summary: last?.summary ?? "",
      counted: limit === null || (known?.failures ?? 0) === 0 ? "" : countedBothWays(known!.failures, limit),
      stages: last?.stages ?? [],
      runs: last?.runs ?? [],
      tests: last?.tests ?? null,
      evidence: last?.evidence ?? [],
    };
  });
}

/** An acceptance criterion, and what the newest audit says about it. */
interface CriterionCard {
  readonly id: string;
  readonly text: string;
  readonly status: "verified" | "failed" | "unknown";
  readonly evidence: string;
}

/** An auditor names a criterion by its id or by its words. */
export function criterionCards({ story, gates }: StoryState): readonly CriterionCard[] {
  const judged = gates.audit?.last?.criteria ?? [];
  return story.criteria.map(({ id, text }) => {
    const found = judged.find(
      ({ criterion }) => criterion === id || criterion === text || criterion.startsWith(`${id}:`),
    );
    return { id, text, status: found?.status ?? "unknown", evidence: found?.evidence ?? "" };
  });
}

/** For a person: each criterion, and below it what an auditor found, or why there is no result. */
export function criteriaText(state: StoryState): readonly string[] {
  const audit = state.gates.audit;
  const isPlanned =
    state.policy?.phases.some(({ gates }) => gates.some((gate) => GATE_REGISTRY[gate].reports === "criteria")) ?? true;
  const isOld = audit?.fresh === false && audit.last !== null;
  return criterionCards(state).flatMap(({ id, text, status, evidence }) => {
    const reason = evidence === "" ? "" : ` - ${shortLine(evidence, 200)}`;
    const result = {
      verified: `VERIFIED${reason}`,
      failed: `FAILED${reason}`,
      unknown: isPlanned ? "not verified yet" : "no audit gate verifies it one by one; add `audit` to `phases`",
    }[status];
    const age = isOld && status !== "unknown" ? " (before the newest work)" : "";
    return [`  ${id}  ${shortLine(text, 160)}`, `  ${" ".repeat(id.length)}  ${result}${age}`];
  });
}
