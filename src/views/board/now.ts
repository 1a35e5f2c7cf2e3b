import type { TriedFinding } from "../../core/gates/finding.ts";
import type { GateName } from "../../core/gates/gate.ts";
import { type Escalation, reasonText } from "../../core/stories/escalation.ts";
import { isAsking, type RunState, type WithEngine } from "../../core/stories/run-state.ts";
import type { StoryId } from "../../core/events/ids.ts";
import type { StoryState } from "../../core/stories/story-state.ts";
import { byText, entries, lookup } from "../../stdx/sorted-map.ts";
import { countText, upperFirst } from "../../stdx/plain-text.ts";
import { inboxItems, openFindings } from "../answers/inbox.ts";
import { type LikelyAnswer, causeOf, likelyAnswers } from "../answers/likely-answers.ts";
import { type RunCounts, runCounts } from "../run/run-summary.ts";
import { placedText, quotedPlace } from "../story/finding-text.ts";
import { statusOf } from "../story/story-status.ts";
import { shortLine } from "../text/words.ts";

/** The home page: what needs a person, what is in progress, what is next, and what has ended. */
export interface NowView {
  readonly counts: RunCounts;
  readonly needsYou: readonly NeedsYouRow[];
  readonly working: readonly WorkingRow[];
  readonly upNext: readonly UpNextRow[];
  /** How many further rows each list has. */
  readonly more: { readonly needsYou: number; readonly working: number; readonly upNext: number };
  readonly today: Today;
  /** Stories that have ended, the latest first. */
  readonly ended: readonly EndedRow[];
}

export interface NeedsYouRow {
  readonly id: string;
  readonly story: StoryId | null;
  readonly title: string;
  /** The question; if a gate rejected the work, the title of the top finding. */
  readonly question: string;
  /** Why the question is asked, in one line. */
  readonly why: string;
  /** The same for all questions that one answer can settle. */
  readonly cause: string;
  readonly answers: readonly LikelyAnswer[];
  readonly askedAt: number | null;
}

export interface WorkingRow {
  readonly id: StoryId;
  readonly title: string;
  /** `attempt 2 · developer`, `review gate`. */
  readonly what: string;
  readonly since: number;
  readonly gates: readonly { readonly gate: GateName; readonly standing: string }[];
  readonly costUsd: number;
  readonly costUnknown: boolean;
}

export interface UpNextRow {
  readonly id: StoryId;
  readonly title: string;
  readonly why: string;
  readonly isPaused: boolean;
}

export interface EndedRow {
  readonly id: StoryId;
  readonly title: string;
  readonly isAccepted: boolean;
  readonly how: string;
  readonly attempts: number;
  readonly costUsd: number;
  readonly at: number;
}

export interface Today {
  readonly accepted: number;
  readonly failed: number;
  /** The median number of attempts of the stories that were accepted today; `null` if there are none. */
  readonly medianAttempts: number | null;
  /** How many of them needed only one attempt. */
  readonly firstPass: number;
}

const MOST = { needsYou: 100, working: 30, upNext: 6, ended: 8 };

/** `midnight`: the start of today in the person's time zone. */
export function nowView(run: RunState & WithEngine, midnight: number): NowView {
  const states = [...entries(run.stories)].map(([, state]) => state);
  const needsYou = needsYouRows(run, states);
  const working =
    run.engine === "gone" ? [] : states.flatMap((state) => workingRow(state) ?? []).sort((a, b) => a.since - b.since);
  const upNext = upNextRows(run, states);
  const ended = states
    .flatMap((state) => endedRow(state) ?? [])
    .sort((a, b) => b.at - a.at)
    .slice(0, MOST.ended);
  return {
    counts: runCounts(run, null),
    needsYou: needsYou.slice(0, MOST.needsYou),
    working: working.slice(0, MOST.working),
    upNext: upNext.slice(0, MOST.upNext),
    more: {
      needsYou: Math.max(0, needsYou.length - MOST.needsYou),
      working: Math.max(0, working.length - MOST.working),
      upNext: Math.max(0, upNext.length - MOST.upNext),
    },
    today: todayOf(states, midnight),
    ended,
  };
}

function needsYouRows(run: RunState, states: readonly StoryState[]): readonly NeedsYouRow[] {
  const asking = new Map(states.filter(isAsking).map((state) => [state.escalation!.id, state]));
  return inboxItems(run).flatMap((item): NeedsYouRow[] => {
    const state = asking.get(item.id);
    const escalation = state?.escalation ?? run.escalation;
    if (escalation === null) return [];
    return [
      {
        id: item.id,
        story: item.story,
        title: shortLine(item.title, 120),
        question: shortLine(askedText(escalation), 240),
        why: shortLine([...whyText(escalation), ...blocks(run, item.story)].join(" · "), 300),
        cause: causeOf(escalation),
        answers: likelyAnswers(escalation),
        askedAt: state?.escalatedAt ?? null,
      },
    ];
  });
}

/** The text of the row; the question's page has the full question. */
function askedText(escalation: Escalation): string {
  const { reason, question, gate } = escalation;
  if (reason.type === "agent-failure") return `${upperFirst(reasonText(reason, gate))}. Can it work now?`;
  if (reason.type === "stall") return `${upperFirst(reasonText(reason, gate))}. ${question}`;
  return failedBy(escalation)[0]?.title ?? question;
}

function whyText(escalation: Escalation): readonly string[] {
  const [top, ...others] = failedBy(escalation);
  const { reason, assessment } = escalation;
  if (top === undefined || reason.type !== "budget") return [assessment];
  const gate = upperFirst(reason.budget.slice(FAILURES.length));
  return [`${gate} failed ${reason.used} of ${reason.limit}`, quotedPlace(top), ...others.map(placedText)].filter(
    Boolean,
  );
}

const FAILURES = "failures:";

/** The open findings, if the gate rejected the work too often; empty for other reasons. */
function failedBy(escalation: Escalation): readonly TriedFinding[] {
  const { reason, gate } = escalation;
  if (reason.type !== "budget" || !reason.budget.startsWith(FAILURES)) return [];
  const [own, others] = [true, false].map((isOwn) =>
    openFindings(escalation).filter((finding) => (finding.gate === gate) === isOwn),
  );
  return own!.length === 0 ? [] : [...own!, ...others!].slice(0, MOST_FINDINGS);
}

const MOST_FINDINGS = 3;

function blocks(run: RunState, story: StoryId | null): string[] {
  const waiting = story === null ? 0 : (lookup(run.dependents, story, byText)?.length ?? 0);
  return waiting === 0 ? [] : [`blocks ${countText(waiting, "story", "stories")}`];
}

function workingRow(state: StoryState): WorkingRow | null {
  const { story, running, spent } = state;
  if (running === null || isAsking(state) || state.ending !== null) return null;
  const what =
    running.type === "attempt"
      ? `attempt ${running.attempt} · ${running.role}`
      : running.type === "gate"
        ? `${running.gate} gate`
        : running.step;
  return {
    id: story.id,
    title: shortLine(story.title, 120),
    what,
    since: running.since,
    gates: gateBars(state),
    costUsd: spent.costUsd,
    costUnknown: spent.costUnknown,
  };
}

/** Every gate of the phase: its state, or that it is running, or that it has not run yet. */
function gateBars(state: StoryState): WorkingRow["gates"] {
  const gates = state.policy?.phases.find((plan) => plan.phase === state.phase)?.gates ?? [];
  return gates.map((gate) => {
    if (state.running?.type === "gate" && state.running.gate === gate) return { gate, standing: "running" };
    const known = state.gates[gate];
    return { gate, standing: known?.fresh === true ? (known.last?.result ?? "none") : "none" };
  });
}

function upNextRows(run: RunState & WithEngine, states: readonly StoryState[]): readonly UpNextRow[] {
  return states
    .filter((state) => state.ending === null && !isAsking(state) && (state.running === null || run.engine === "gone"))
    .flatMap((state) => {
      const { status, actor, why } = statusOf(run, state);
      if (status === "backlog") return [];
      const shown = actor === "story" ? `waits for ${why}` : actor === "engine" ? "waits for a free agent" : why;
      return [{ state, row: { why: shortLine(shown, 160), isPaused: state.held } }];
    })
    .sort((a, b) => Number(a.row.isPaused) - Number(b.row.isPaused) || a.state.arrival - b.state.arrival)
    .map(({ state: { story }, row }) => ({ id: story.id, title: shortLine(story.title, 120), ...row }));
}

function endedRow({ story, ending, attempts, spent }: StoryState): EndedRow | null {
  if (ending === null) return null;
  const isAccepted = ending.how === "accepted";
  return {
    id: story.id,
    title: shortLine(story.title, 120),
    isAccepted,
    how: isAccepted ? "accepted" : shortLine(`${ending.how}: ${ending.reason}`, 100),
    attempts: attempts.length,
    costUsd: spent.costUsd,
    at: ending.at,
  };
}

function todayOf(states: readonly StoryState[], midnight: number): Today {
  const ended = states.filter(({ ending }) => ending !== null && ending.at >= midnight);
  const accepted = ended.filter(({ ending }) => ending?.how === "accepted");
  const attempts = accepted.map((state) => state.attempts.length).sort((a, b) => a - b);
  return {
    accepted: accepted.length,
    failed: ended.length - accepted.length,
    medianAttempts: attempts[Math.floor((attempts.length - 1) / 2)] ?? null,
    firstPass: attempts.filter((count) => count === 1).length,
  };
}
