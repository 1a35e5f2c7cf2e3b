import type { AttemptOutcome } from "../../core/stories/attempt.ts";
import type { Blame } from "../../core/blame/blame.ts";
import { countText } from "../../stdx/plain-text.ts";
import type { AttemptFinished, Recorded, SentBack } from "../../core/events/event.ts";
import type { Judgement } from "../../core/gates/gate.ts";
import type { StoryId } from "../../core/events/ids.ts";
import type { Phase } from "../../core/stories/story.ts";
import type { RunState } from "../../core/stories/run-state.ts";
import type { StoryState } from "../../core/stories/story-state.ts";
import { byText, lookup } from "../../stdx/sorted-map.ts";
import { reasonsOf } from "../story/finding-text.ts";
import { gateStrip, stripText } from "../board/board.ts";
import { type Glyphs, type LineMark, durationText, moneyText, shortLine } from "../text/words.ts";
import { noteOf, acceptedText, baseWords, unshownTargets, unusualWords } from "./run-notes.ts";

/** A line of a run for people. The story's name is separate, so that a reporter can print it as a column. */
export interface RunLine {
  readonly mark: LineMark;
  readonly story: StoryId | null;
  readonly text: string;
  /** The reasons, one per line. */
  readonly details: readonly string[];
  /** Whether the line decides something: the work is accepted, sent back, failed, or waits for a person. */
  readonly isSettled: boolean;
}

/** What one line of a story needs from earlier lines. */
export interface LineMemory {
  readonly attempt: number;
  readonly phase: Phase | null;
  readonly costUsd: number | null;
  readonly blame: Blame | null;
}

export const NO_LINES_YET: LineMemory = { attempt: 0, phase: null, costUsd: null, blame: null };

/**
 * The lines to print for a journal line, for a person who watches the run; mostly none. `after`: the state after that
 * line.
 */
export function linesFor(
  { story, event, at }: Recorded,
  memory: LineMemory,
  after: RunState,
  glyphs: Glyphs,
): { readonly lines: readonly RunLine[]; readonly memory: LineMemory } {
  const state = story === null ? undefined : lookup(after.stories, story, byText);
  const say = (mark: LineMark, text: string, details: readonly string[] = []): readonly RunLine[] => [
    { mark, story, text, details, isSettled: SETTLING.has(mark) },
  ];
  const note = noteOf(event, state);
  if (note !== null) return { lines: say(note.mark, note.text), memory };
  if (state === undefined) return { lines: [], memory };
  return storyLines({ event, at }, memory.phase === null ? remember(memory, state) : memory, state, glyphs, say);
}

/** The attempt may have started before this process was watching: then the state has it. */
function remember(memory: LineMemory, state: StoryState): LineMemory {
  const last = state.attempts.at(-1);
  return last === undefined ? memory : { ...memory, attempt: last.attempt, phase: last.phase };
}

function storyLines(
  { event, at }: Pick<Recorded, "event" | "at">,
  memory: LineMemory,
  state: StoryState,
  glyphs: Glyphs,
  say: Say,
): { readonly lines: readonly RunLine[]; readonly memory: LineMemory } {
  switch (event.type) {
    case "attempt.started": {
      const next = { attempt: event.attempt, phase: event.phase, costUsd: null, blame: null };
      const why = event.reworkOf === null ? "" : `, rework after ${event.reworkOf}`;
      return {
        lines: say(
          "started",
          `${event.phase}  attempt ${event.attempt}  ${event.role} works${why}${unusualWords(event)}`,
        ),
        memory: next,
      };
    }
    case "attempt.finished":
      return { lines: attemptLines(event, at, state, say), memory: { ...memory, costUsd: event.costUsd ?? null } };
    case "gate.judged":
      return { lines: judgedLines(event.judgement, at, memory, state, glyphs, say), memory };
    case "blame.found":
      return { lines: [], memory: { ...memory, blame: event.blame } };
    case "work.sent-back":
      return { lines: say("sent-back", sentBackText(event, memory.blame, glyphs)), memory };
    case "base.judged":
    case "story.prepared": {
      const base = baseWords(state);
      return { lines: base === null ? [] : say("note", base.text, base.names), memory };
    }
    case "story.accepted": {
      // Notes of the gates are printed in full at the end of the line.
      const strip = stripText(
        gateStrip(state).map(({ notes: _notes, ...mark }) => mark),
        glyphs,
      );
      return {
        lines: say("accepted", joinParts(attemptText(memory), strip, acceptedText(event.notes))),
        memory,
      };
    }
    default:
      return { lines: [], memory };
  }
}

const SETTLING: ReadonlySet<LineMark> = new Set(["accepted", "rejected", "sent-back", "person", "failed"]);

type Say = (mark: LineMark, text: string, details?: readonly string[]) => readonly RunLine[];

const joinParts = (...parts: readonly string[]): string => parts.filter((part) => part !== "").join("   ");

function attemptText({ phase, attempt, costUsd }: LineMemory): string {
  const parts = [phase ?? "", attempt === 0 ? "" : `attempt ${attempt}`, costUsd === null ? "" : moneyText(costUsd)];
  return parts.filter((part) => part !== "").join("  ");
}

/** Prints only attempts without work to judge: all others are reported by their gates. */
function attemptLines(event: AttemptFinished, at: number, state: StoryState, say: Say): readonly RunLine[] {
  if (event.outcome.type === "ready") return [];
  const { phase, role } = state.attempts[event.attempt - 1] ?? { phase: state.phase, role: "" };
  const text = `${phase}  attempt ${event.attempt}  ${role} ${outcomeText(event.outcome)}`;
  return say("trouble", joinParts(text, nextTry(state, at)));
}

export function outcomeText(outcome: AttemptOutcome): string {
  switch (outcome.type) {
    case "ready":
      return "is done";
    case "incomplete":
      return `stopped unfinished: ${shortLine(outcome.blocker, 120)}`;
    case "blocked":
      return `was blocked: ${shortLine(outcome.issue, 120)}`;
    case "unclear":
      return `sent an unreadable reply: ${shortLine(outcome.detail, 120)}`;
    case "crashed":
      return `crashed: ${shortLine(outcome.detail, 120)}`;
    case "timed-out":
      return `gave no answer within ${durationText(outcome.afterMs)}`;
    case "rate-limited":
      return "is held back by its provider's rate limit";
    case "refused":
      return `refused: ${shortLine(outcome.detail, 120)}`;
    case "unusable":
      return `can't start: ${shortLine(outcome.detail, 120)}`;
    case "missing":
      return `is not there: ${shortLine(outcome.detail, 120)}`;
    case "stopped":
      return `was stopped by ${outcome.by}`;
    case "cut-short":
      return `was ended: the ${outcome.budget} budget is used up; its work is kept`;
  }
}

function judgedLines(
  judgement: Judgement,
  at: number,
  memory: LineMemory,
  state: StoryState,
  glyphs: Glyphs,
  say: Say,
): readonly RunLine[] {
  const strip = (): string => stripText(gateStrip(state, judgement), glyphs);
  switch (judgement.result) {
    case "fail":
      return say("rejected", joinParts(attemptText(memory), strip()), withTargets(state, judgement, MOST_REASONS));
    case "pass":
      // A pass of the last phase's last gate is reported by the acceptance.
      if (memory.phase === null || state.phase === memory.phase) return [];
      return say(
        "accepted",
        joinParts(
          attemptText(memory),
          `${judgement.gate} ${glyphs.pass}`,
          `${memory.phase} is done, ${state.phase} is next`,
        ),
      );
    case "error":
    case "blocked":
    case "inconclusive": {
      const again = nextTry(state, at);
      return say("trouble", joinParts(attemptText(memory), strip(), again), withTargets(state, judgement, 1));
    }
  }
}

const MOST_REASONS = 3;

function withTargets(state: StoryState, judgement: Judgement, most: number): readonly string[] {
  const reasons = reasonsOf(judgement, most);
  return [...reasons, ...unshownTargets(state, judgement, reasons)];
}

function nextTry(state: StoryState, at: number): string {
  return state.wait?.type === "time" ? `next try in ${durationText(Math.max(0, state.wait.until - at))}` : "";
}

/** The numbers of failures and reworks; then the cause, as far as known; then the role that fixes it. */
function sentBackText(event: SentBack, blame: Blame | null, glyphs: Glyphs): string {
  const { failure, failureLimit, route, gate } = event;
  const count =
    // After a person's answer the count starts over: nothing has failed since.
    gate === "person" || failure === 0
      ? "sent back by a person"
      : failureLimit === null
        ? `rework ${failure} (failure ${failure})`
        : `rework ${Math.min(failure, failureLimit - 1)} of ${failureLimit - 1} (failure ${failure} of ${failureLimit})`;
  const suspect = blame?.suspects[0];
  const basis = blame?.basis === "proven" ? `proven in ${countText(blame.testRuns, "test run")}` : "most likely";
  const cause = suspect === undefined ? route.reason : `${suspect.file}:${suspect.line} ${basis}`;
  const to = route.phase === "implement" ? route.role : `${route.role}, ${route.phase}`;
  return `${count}  ${shortLine(cause, 120)} ${glyphs.arrow} ${to}`;
}
