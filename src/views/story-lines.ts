import type { Event, Recorded } from "../domain/event.ts";
import type { EvidenceId } from "../domain/ids.ts";
import { eventWords } from "./event-words.ts";
import { timelineOf, type TimelineEntry } from "./timeline.ts";

/** A line of the journal as the dashboard lists it: enough to be read, with the way to the rest. */
export interface StoryLine {
  readonly position: number;
  readonly at: number;
  readonly story: string | null;
  readonly type: Event["type"];
  readonly words: string;
  /** `null` for a beginning whose end is told too. */
  readonly entry: TimelineEntry | null;
  /** When what ended here had begun, and what it was. */
  readonly bar: { readonly lane: Lane; readonly from: number; readonly label: string } | null;
  readonly kept: readonly KeptText[];
  readonly hash: string;
}

export type Lane = "agent" | "gate" | "blame" | "person";

/** A text that is kept beside the journal, by what it is. */
export interface KeptText {
  readonly label: string;
  readonly id: EvidenceId;
}

type Placed = Recorded & { readonly position: number; readonly hash: string };

export function storyLine(line: Placed): StoryLine {
  const { position, at, story, event, hash } = line;
  return {
    position,
    at,
    story,
    type: event.type,
    words: eventWords(event),
    entry: timelineOf([line])[0] ?? null,
    bar: barOf(event, at),
    kept: keptBy(event),
    hash,
  };
}

function barOf(event: Event, at: number): StoryLine["bar"] {
  switch (event.type) {
    case "attempt.finished":
      return { lane: "agent", from: at - event.durationMs, label: `attempt ${event.attempt}` };
    case "gate.judged":
      return {
        lane: "gate",
        from: at - event.judgement.durationMs,
        label: `${event.judgement.gate}: ${event.judgement.result}`,
      };
    case "blame.found":
      return { lane: "blame", from: at - event.durationMs, label: `blame: ${event.blame.verdict}` };
    default:
      return null;
  }
}

function keptBy(event: Event): readonly KeptText[] {
  switch (event.type) {
    case "attempt.started":
      return event.brief === null ? [] : [{ label: "the brief it got", id: event.brief }];
    case "attempt.finished":
      return event.message === undefined ? [] : [{ label: "what it said", id: event.message }];
    case "gate.judged": {
      const { evidence } = event.judgement;
      return evidence.map((id, index) => ({ label: evidence.length === 1 ? "evidence" : `evidence ${index + 1}`, id }));
    }
    case "work.sent-back":
      return [{ label: "the brief", id: event.brief }];
    default:
      return [];
  }
}

/** Does the line say what was typed? */
export function lineMatches({ type, words, story, hash, position }: StoryLine, query: string): boolean {
  const text = `${position} ${type} ${story ?? "the run"} ${words} ${hash}`.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
