import type { Blame } from "../../core/blame/blame.ts";
import { countedBothWays } from "../../core/stories/budget.ts";
import type { Escalation, Waiver } from "../../core/stories/escalation.ts";
import type { Recorded } from "../../core/events/event.ts";
import type { CheckRun, GateName, StageResult, TestCounts, Judgement } from "../../core/gates/gate.ts";
import { GATE_REGISTRY } from "../../core/gates/registry.ts";
import type { Finding } from "../../core/gates/finding.ts";
import type { EvidenceId } from "../../core/events/ids.ts";
import type { Result } from "../../core/events/error.ts";
import type { RunState } from "../../core/stories/run-state.ts";
import type { Story } from "../../core/stories/story.ts";
import type { Dispute, GateState, StoryState } from "../../core/stories/story-state.ts";
import { type BoardCard, boardCard } from "../board/board.ts";
import { shortLine } from "../text/words.ts";
import { type FindingCard, findingRounds } from "./finding-text.ts";
import { type Recheck, rechecks } from "./recheck.ts";

/** Everything on the page of one story except its lines. */
export interface StoryDocument {
  readonly card: BoardCard;
  readonly story: Story;
  /** `null`: the story works in place, without a branch. */
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
  /** The person who deferred the question to the next run. */
  readonly deferred: NonNullable<StoryState["deferred"]> | null;
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
  /** Why its work was rejected; empty while that is not known. */
  readonly failed: string;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly costUsd: number | null;
  readonly forecastUsd: number | null;
  /** The isolation of the agent from the rest of the machine; `null` in records of versions without sandboxes. */
  readonly isolation: string | null;
  readonly changed: readonly string[];
  readonly brief: EvidenceId | null;
  readonly message: EvidenceId | null;
  /** The agent's output, if it is more than the message. */
  readonly transcript: EvidenceId | null;
}

export interface GateCard {
  readonly gate: GateName;
  /** `null`: it has not judged the current tree. */
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
    deferred: state.deferred ?? null,
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

/** An acceptance criterion, and the result of the newest audit. */
interface CriterionCard {
  readonly id: string;
  readonly text: string;
  readonly status: "verified" | "failed" | "unknown" | "excused";
  readonly evidence: string;
}

/** The gate that reports most of the criteria: an audit, else reviewers or an oracle that mention them. */
function criteriaSource({ audit, review, oracle }: StoryState["gates"]): GateState | undefined {
  return [audit, review, oracle].find((gate) => (gate?.last?.criteria ?? []).length > 0);
}

/** The criteria with their results. An auditor names a criterion by its id or by its text. */
export function criterionCards({ story, gates }: StoryState): readonly CriterionCard[] {
  const judged = criteriaSource(gates)?.last?.criteria ?? [];
  return story.criteria.map(({ id, text, excused }) => {
    if (excused !== undefined) return { id, text, status: "excused", evidence: `${excused.by}: ${excused.reason}` };
    const found = judged.find(
      ({ criterion }) => criterion === id || criterion === text || criterion.startsWith(`${id}:`),
    );
    return { id, text, status: found?.status ?? "unknown", evidence: found?.evidence ?? "" };
  });
}

/** For people: each criterion, and below it the auditor's evidence, or why there is no result. */
export function criteriaText(state: StoryState): readonly string[] {
  const source = criteriaSource(state.gates);
  const isPlanned =
    state.policy?.phases.some(({ gates }) => gates.some((gate) => GATE_REGISTRY[gate].reports === "criteria")) ?? true;
  const isOld = source?.fresh === false;
  return criterionCards(state).flatMap(({ id, text, status, evidence }) => {
    const reason = evidence === "" ? "" : ` - ${shortLine(evidence, 200)}`;
    const result = {
      verified: `VERIFIED${reason}`,
      failed: `FAILED${reason}`,
      excused: `DOES NOT COUNT${reason}`,
      unknown: isPlanned || state.ending === null ? "not verified yet" : withTheWhole(state),
    }[status];
    const age = isOld && (status === "verified" || status === "failed") ? " (before the newest work)" : "";
    return [`  ${id}  ${shortLine(text, 160)}`, `  ${" ".repeat(id.length)}  ${result}${age}`];
  });
}

/** The text for a criterion without a result of its own: the gates that passed the whole story. */
function withTheWhole(state: StoryState): string {
  if (state.ending?.how !== "accepted") return "not verified";
  const passed = gateCards(state).flatMap(({ gate, result }) => (result === "pass" ? [gate] : []));
  const by =
    passed.length === 0 ? "accepted with the whole story" : `accepted with the whole story (${passed.join(", ")})`;
  return `${by}; no reviewer verified it by itself. An \`audit\` gate in \`phases\` does`;
}

/** The result of one attempt: every gate that judged its work, and the blame. */
export interface AttemptDocument {
  readonly attempt: number;
  /** Failed gates first. */
  readonly gates: readonly AttemptGate[];
  readonly blames: readonly { readonly gate: GateName; readonly at: number; readonly blame: Blame }[];
  /** The brief that was sent back with the work; `null` where the work was not sent back. */
  readonly sentBack: { readonly gate: string; readonly brief: EvidenceId } | null;
}

export interface AttemptGate {
  readonly gate: GateName;
  readonly result: Result;
  readonly at: number;
  readonly durationMs: number;
  readonly summary: string;
  /** Blocking ones first. */
  readonly findings: readonly (Finding & { readonly isBlocking: boolean })[];
  readonly findingsLeftOut: number;
  readonly tests: TestCounts | null;
  readonly runs: readonly CheckRun[];
  readonly evidence: readonly EvidenceId[];
}

const MOST_FINDINGS = 40;

export function attemptDocument(lines: readonly Recorded[], attempt: number): AttemptDocument {
  const own = linesOf(lines, attempt);
  const gates = own.flatMap(({ at, event }) => (event.type === "gate.judged" ? [gateOf(event.judgement, at)] : []));
  const back = own.findLast(({ event }) => event.type === "work.sent-back")?.event;
  return {
    attempt,
    gates: [...gates].sort((a, b) => rank(a) - rank(b) || a.at - b.at),
    blames: own.flatMap(({ at, event }) =>
      event.type === "blame.found" ? [{ gate: event.gate, at, blame: event.blame }] : [],
    ),
    sentBack: back?.type === "work.sent-back" ? { gate: back.gate, brief: back.brief } : null,
  };
}

const rank = ({ result }: AttemptGate): number => (result === "fail" ? 0 : result === "pass" ? 2 : 1);

/** The lines from an attempt's start to the start of the next. */
function linesOf(lines: readonly Recorded[], attempt: number): readonly Recorded[] {
  const isStart = ({ event }: Recorded): boolean => event.type === "attempt.started";
  const from = lines.findLastIndex(({ event }) => event.type === "attempt.started" && event.attempt === attempt);
  if (from < 0) return [];
  const next = lines.findIndex((line, index) => index > from && isStart(line));
  return lines.slice(from, next < 0 ? undefined : next);
}

function gateOf(judgement: Judgement, at: number): AttemptGate {
  const { gate, result, durationMs, summary, findings, blocking } = judgement;
  const marked = findings.map((finding) => ({ ...finding, isBlocking: blocking.includes(finding.id) }));
  const sorted = [...marked].sort((a, b) => Number(b.isBlocking) - Number(a.isBlocking));
  return {
    gate,
    result,
    at,
    durationMs,
    summary,
    findings: sorted.slice(0, MOST_FINDINGS),
    findingsLeftOut: Math.max(0, sorted.length - MOST_FINDINGS),
    tests: judgement.tests ?? null,
    runs: judgement.runs ?? [],
    evidence: judgement.evidence,
  };
}

/** The number of problems after an attempt, which shows whether the work converges. */
export interface Round {
  readonly attempt: number;
  /** The number of blocking findings. */
  readonly blocking: number;
  /** The number of failed tests; `null` where no check counted them. */
  readonly failedTests: number | null;
}

/** One entry per attempt that a gate has judged, in order. */
export function rounds(lines: readonly Recorded[]): readonly Round[] {
  const found = new Map<number, { blocking: number; failedTests: number | null }>();
  let attempt = 0;
  for (const { event } of lines) {
    if (event.type === "attempt.started") attempt = event.attempt;
    if (event.type !== "gate.judged" || attempt === 0) continue;
    const { blocking, tests } = event.judgement;
    const known = found.get(attempt) ?? { blocking: 0, failedTests: null };
    found.set(attempt, {
      blocking: known.blocking + blocking.length,
      failedTests: tests === undefined ? known.failedTests : Math.max(known.failedTests ?? 0, tests.failed),
    });
  }
  return [...found].map(([number, round]) => ({ attempt: number, ...round }));
}
