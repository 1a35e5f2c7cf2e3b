import { countText } from "../../stdx/plain-text.ts";
import type { GateName, Judgement } from "../../core/gates/gate.ts";
import type { EscalationId, StoryId } from "../../core/events/ids.ts";
import type { Actor, Phase, Status } from "../../core/stories/story.ts";
import {
  type RunOutline,
  type RunState,
  type StoryOutline,
  type WithEngine,
  isAsking,
} from "../../core/stories/run-state.ts";
import type { Column } from "./columns.ts";
import { storiesOf } from "../run/run-summary.ts";
import { statusOf } from "../story/story-status.ts";
import type { StoryState } from "../../core/stories/story-state.ts";
import { findingText } from "../story/finding-text.ts";
import { type Glyphs, type LineMark, shortLine } from "../text/words.ts";
import type { Result } from "../../core/events/error.ts";

/** One story on the board: its state, who must act, and what was spent of which limit. */
export interface BoardRow {
  readonly id: StoryId;
  readonly title: string;
  readonly status: Status;
  readonly actor: Actor;
  readonly why: string;
  readonly phase: Phase | null;
  readonly gate: GateName | null;
  /** The number of the newest attempt, as in `show`, `log` and `--attempt`. */
  readonly attempt: number;
  /** Attempts that count (an interrupted one, or one without work to judge, does not), and their limit. */
  readonly attempts: number;
  readonly attemptLimit: number | null;
  readonly gates: readonly GateMark[];
  readonly costUsd: number;
  readonly costUnknown: boolean;
  readonly costLimitUsd: number | null;
  readonly timeMs: number;
  readonly escalation: EscalationId | null;
  /** When the current step started. */
  readonly since: number | null;
  /** A person paused the story: it continues when it is resumed, or named to `remand run`. */
  readonly isPaused: boolean;
  /** Whether its question was deferred to the next run. */
  readonly isDeferred: boolean;
}

export function boardRows(run: RunOutline, asked: readonly StoryId[] | null): BoardRow[] {
  return storiesOf(run, asked).map((state) => rowOf(run, state));
}

function rowOf(run: RunOutline, state: StoryOutline): BoardRow {
  const { status, actor, why, phase, gate } = statusOf(run, state);
  return {
    id: state.story.id,
    title: state.story.title,
    status,
    actor,
    why,
    phase,
    gate,
    attempt: state.attempts.length,
    attempts: state.counters.attempts,
    attemptLimit: state.raised.iterations ?? state.policy?.limits.iterations ?? null,
    gates: gateStrip(state),
    costUsd: state.spent.costUsd,
    costUnknown: state.spent.costUnknown,
    costLimitUsd: state.raised.cost ?? state.policy?.limits.story.costUsd ?? null,
    timeMs: state.spent.timeMs,
    escalation: state.escalation?.id ?? null,
    since: run.engine === "gone" ? null : (state.running?.since ?? null),
    isPaused: state.held && state.ending === null,
    isDeferred: state.deferred !== undefined,
  };
}

/** A story's state in a word, with its mark. */
export function stateText({ status, isPaused, isDeferred }: BoardRow): {
  readonly mark: LineMark;
  readonly word: string;
} {
  switch (status) {
    case "escalated":
      return isDeferred ? { mark: "note", word: "deferred" } : { mark: "person", word: "needs you" };
    case "accepted":
    case "failed":
      return { mark: status, word: status };
    case "dismissed":
      return { mark: "failed", word: "dismissed" };
    case "working":
      return { mark: "started", word: "working" };
    case "in-gate":
      return { mark: "started", word: "in gate" };
    case "waiting":
    case "ready":
    case "backlog":
      return { mark: "note", word: isPaused ? "paused" : status };
  }
}

/** Who must act next. */
export function whoText({ status, actor, why, gate }: BoardRow): string {
  if (status === "accepted" || status === "failed" || status === "dismissed") return "";
  if (actor === "person") return "you";
  if (actor === "gate" && gate !== null) return gate;
  return actor === "agent" ? (why.split(" ")[0] ?? actor) : actor;
}

/** Sorts rows by who must act: you first, then agents and gates; accepted stories last. */
export const byUrgency = (rows: readonly BoardRow[]): BoardRow[] => rows.toSorted((a, b) => urgency(a) - urgency(b));

function urgency({ status, actor, isPaused }: BoardRow): number {
  const isStuck = status === "waiting" && actor === "person" && !isPaused;
  return isStuck ? 1 : URGENCY.indexOf(isPaused && status === "waiting" ? "paused" : status);
}

const URGENCY: readonly (Status | "stuck" | "paused")[] = [
  "escalated",
  "stuck",
  "failed",
  "working",
  "in-gate",
  "waiting",
  "ready",
  "paused",
  "backlog",
  "dismissed",
  "accepted",
];

type AttemptCounts = Pick<BoardRow, "attempt" | "attempts" | "attemptLimit">;

/** `2/15`; if some attempts do not count, `4 (2/15)`. Empty before the first. */
export function attemptCount({ attempt, attempts, attemptLimit }: AttemptCounts): string {
  if (attempt === 0) return "";
  if (attempt !== attempts) return `${attempt} (${attemptLimit === null ? attempts : `${attempts}/${attemptLimit}`})`;
  return attemptLimit === null ? String(attempt) : `${attempt}/${attemptLimit}`;
}

/** One story on the board of the dashboard. */
export interface BoardCard extends BoardRow {
  readonly column: Column;
  /** The agent that works on the story, or worked on it last. */
  readonly agent: string | null;
  readonly reworks: number;
  /** The first line of the blocking finding. */
  readonly finding: string | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** When a waiting story is tried again. */
  readonly nextAt: number | null;
  readonly arrival: number;
  readonly labels: readonly string[];
  /** The files in its findings. */
  readonly files: readonly string[];
}

export function boardCard(run: RunState & WithEngine, state: StoryState): BoardCard {
  const row = rowOf(run, state);
  return {
    ...row,
    title: shortLine(row.title, 200),
    why: shortLine(row.why, 300),
    column: run.engine === "gone" && state.running !== null ? "stopped" : columnOf(state, row),
    agent: agentOf(state),
    reworks: state.reworks,
    finding: lastFinding(state),
    startedAt: state.startedAt,
    endedAt: state.ending?.at ?? null,
    nextAt: state.wait?.type === "time" && state.running === null ? state.wait.until : null,
    arrival: state.arrival,
    labels: state.story.labels,
    files: changedFiles(state),
  };
}

function columnOf(state: StoryState, { status }: BoardRow): Column {
  if (status === "accepted") return "accepted";
  if (isAsking(state)) return "needs-you";
  if (status === "failed" || status === "dismissed" || state.held || state.deferred !== undefined) return "stopped";
  if (status === "backlog" || status === "ready" || status === "waiting") return status;
  if (state.rework !== null || (state.failing !== null && status === "working")) return "sent-back";
  if (status === "in-gate") return "in-gates";
  return state.productReady ? "in-gates" : "working";
}

function agentOf({ running, attempts }: StoryState): string | null {
  return running?.type === "attempt" ? running.role : (attempts.at(-1)?.role ?? null);
}

function lastFinding({ failing, gates, ending }: StoryState): string | null {
  if (ending?.how === "accepted") return null;
  const gate = failing?.gate;
  const judgements = gate === undefined ? Object.values(gates).map(({ last }) => last) : [gates[gate]?.last ?? null];
  const judgement = judgements.find((each) => each?.result === "fail") ?? null;
  if (judgement === null) return null;
  const finding = judgement.findings.find(({ id }) => judgement.blocking.includes(id)) ?? judgement.findings[0];
  return finding === undefined ? shortLine(judgement.summary, 140) : findingText(finding, 140);
}

function changedFiles({ gates, attempts }: StoryState): readonly string[] {
  const named = [
    ...Object.values(gates).flatMap(({ last }) => last?.findings.map(({ file }) => file) ?? []),
    ...attempts.flatMap(({ findings = [] }) => findings.map(({ file }) => file)),
  ];
  return [...new Set(named.filter((file) => file !== undefined))].slice(0, MOST_FILES);
}

const MOST_FILES = 20;

/** The state of one gate of the current phase, for a strip of gates on one line. */
export interface GateMark {
  readonly gate: GateName;
  readonly standing: Result | "waived";
  /** The number of blocking findings. */
  readonly blocking: number;
  /** Notes of the gate about work that it passed. */
  readonly notes?: readonly string[];
}

/** The gates of the phase that have judged the current tree, in order. `now`: a judgement that was just made. */
export function gateStrip(state: StoryOutline, now: Judgement | null = null): GateMark[] {
  const gates = state.policy?.phases.find((plan) => plan.phase === state.phase)?.gates ?? [];
  return gates.flatMap((gate): GateMark[] => {
    const known = state.gates[gate];
    const judgement = now?.gate === gate ? now : known?.fresh === true ? known.last : null;
    if (judgement === null || judgement === undefined) return [];
    const isWaived = judgement.result !== "pass" && state.waivers.some((waiver) => waiver.gate === gate);
    const standing = isWaived && now === null ? "waived" : judgement.result;
    const { notes } = judgement;
    return [{ gate, standing, blocking: judgement.blocking.length, ...(notes === undefined ? {} : { notes }) }];
  });
}

export function stripText(strip: readonly GateMark[], glyphs: Glyphs): string {
  return strip.map((mark) => `${mark.gate} ${standingText(mark, glyphs)}`).join("  ");
}

function standingText({ standing, blocking, notes = [] }: GateMark, glyphs: Glyphs): string {
  switch (standing) {
    case "pass":
      // Only what each note is about, without its list.
      return notes.length === 0
        ? glyphs.pass
        : `${glyphs.pass} (${notes.map((note) => note.split(": ")[0]).join(", ")})`;
    case "waived":
      return glyphs.waived;
    case "fail":
      return `${glyphs.fail} ${blocking > 0 ? countText(blocking, "finding") : "failed"}`;
    case "error":
      return `${glyphs.unproven} broke`;
    case "blocked":
      return `${glyphs.unproven} blocked`;
    case "inconclusive":
      return `${glyphs.unproven} inconclusive`;
  }
}
