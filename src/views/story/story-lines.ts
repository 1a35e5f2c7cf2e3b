import type { Event, Recorded } from "../../core/events/event.ts";
import type { Judgement } from "../../core/gates/gate.ts";
import type { EvidenceId } from "../../core/events/ids.ts";
import { eventWords } from "../run/event-text.ts";
import { type LineMark, shortLine } from "../text/words.ts";
import type { Suspect } from "../../core/blame/blame.ts";
import { reasonsOf } from "./finding-text.ts";

/** A journal line as the dashboard lists it: a short text, with references to the rest. */
export interface StoryLine {
  readonly position: number;
  readonly at: number;
  readonly story: string | null;
  readonly type: Event["type"];
  readonly words: string;
  /** `null` for the start of a step whose end is listed too. */
  readonly entry: TimelineEntry | null;
  /** For the end of a step: when it started, and what it was. */
  readonly bar: TimelineBar | null;
  /** For the start of a step; its end, if there is one, is another line. */
  readonly start: { readonly lane: TimelineLane; readonly label: string } | null;
  readonly kept: readonly TextReference[];
  readonly hash: string;
}

export interface TimelineBar {
  readonly lane: TimelineLane;
  readonly from: number;
  readonly label: string;
  /** The result, which sets the color of the bar. */
  readonly result: "good" | "bad" | "unclear" | "plain";
}

export type TimelineLane = "agent" | "gate" | "blame" | "person";

/** A reference to a text that is stored outside of the journal. */
export interface TextReference {
  readonly label: string;
  readonly id: EvidenceId;
}

type JournalLine = Recorded & { readonly position: number; readonly hash: string };

export function storyLine(line: JournalLine): StoryLine {
  const { position, at, story, event, hash } = line;
  return {
    position,
    at,
    story,
    type: event.type,
    words: eventWords(event),
    entry: timelineOf([line])[0] ?? null,
    bar: barOf(event, at),
    start: startOf(event),
    kept: keptBy(event),
    hash,
  };
}

function barOf(event: Event, at: number): TimelineBar | null {
  switch (event.type) {
    case "attempt.finished": {
      const result = event.outcome.type === "ready" ? "plain" : "unclear";
      return { lane: "agent", from: at - event.durationMs, label: `attempt ${event.attempt}`, result };
    }
    case "gate.judged": {
      const { gate, result, durationMs } = event.judgement;
      const tone = result === "pass" ? "good" : result === "fail" ? "bad" : "unclear";
      return { lane: "gate", from: at - durationMs, label: `${gate}: ${result}`, result: tone };
    }
    case "blame.found":
      return { lane: "blame", from: at - event.durationMs, label: `blame: ${event.blame.verdict}`, result: "plain" };
    default:
      return null;
  }
}

function startOf(event: Event): StoryLine["start"] {
  switch (event.type) {
    case "attempt.started":
      return { lane: "agent", label: `attempt ${event.attempt} runs` };
    case "gate.started":
      return { lane: "gate", label: `${event.gate} runs` };
    default:
      return null;
  }
}

function keptBy(event: Event): readonly TextReference[] {
  switch (event.type) {
    case "attempt.started":
      return event.brief === null ? [] : [{ label: "the brief it got", id: event.brief }];
    case "attempt.finished": {
      const { message, transcript } = event;
      return [
        ...(message === undefined ? [] : [{ label: "what it said", id: message }]),
        ...(transcript === undefined ? [] : [{ label: "what it printed", id: transcript }]),
      ];
    }
    case "gate.judged": {
      const { evidence, hidden } = event.judgement;
      const own = hidden === undefined ? [] : [{ label: "hidden checks", id: hidden.report }];
      const label = (index: number): string => (evidence.length === 1 ? "evidence" : `evidence ${index + 1}`);
      return [...evidence.map((id, index) => ({ label: label(index), id })), ...own];
    }
    case "work.sent-back":
      return [{ label: "the brief", id: event.brief }];
    default:
      return [];
  }
}

/** Whether the line contains all typed words. */
export function lineMatches({ type, words, story, hash, position }: StoryLine, query: string): boolean {
  const text = `${position} ${type} ${story ?? "the run"} ${words} ${hash}`.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** One event of a story, with its details. */
export interface TimelineEntry {
  readonly at: number;
  readonly mark: LineMark;
  readonly text: string;
  readonly details: readonly string[];
}

/** The events of a story in order. Starts are left out where the end is listed too. */
export function timelineOf(lines: readonly Recorded[]): TimelineEntry[] {
  return lines.flatMap(({ at, event }): TimelineEntry[] => {
    const entry = (mark: LineMark, details: readonly string[] = []): TimelineEntry[] => [
      { at, mark, text: eventWords(event), details },
    ];
    switch (event.type) {
      case "gate.started":
      case "step.started":
        return [];
      case "attempt.started":
        return entry("started");
      case "attempt.finished": {
        const said = event.summary === "" ? [] : [shortLine(event.summary, 200)];
        const files = event.changed.length === 0 ? [] : [shortLine(event.changed.join(", "), 200)];
        return entry(event.outcome.type === "ready" ? "note" : "trouble", [...said, ...files]);
      }
      case "gate.judged":
        return entry(markOf(event.judgement.result), [
          ...(event.judgement.result === "pass" ? [] : reasonsOf(event.judgement, 5, 8)),
          ...hiddenLines(event.judgement),
        ]);
      case "blame.found":
        return entry(
          "note",
          event.blame.suspects.slice(0, 3).map((suspect) => {
            const whose = whoseText(suspect);
            const change = shortLine(suspect.change, 120);
            return `${suspect.file}:${suspect.line}  ${change}${whose === "" ? "" : ` (${shortLine(whose, 80)})`}`;
          }),
        );
      case "work.sent-back":
        return entry("sent-back");
      case "escalation.raised":
        return entry("person", [
          shortLine(event.escalation.assessment, 200),
          shortLine(event.escalation.question, 200),
        ]);
      case "person.answered":
      case "answer.undone":
        return entry("person");
      case "story.accepted":
        return entry("accepted");
      case "story.failed":
        return entry("failed");
      default:
        return entry("note");
    }
  });
}

/** The command that prints what hidden checks found. */
const hiddenLines = ({ hidden }: Judgement): readonly string[] =>
  hidden === undefined ? [] : [`hidden checks: remand evidence ${hidden.report}`];

function markOf(result: "pass" | "fail" | "blocked" | "error" | "inconclusive"): LineMark {
  if (result === "pass") return "accepted";
  return result === "fail" ? "rejected" : "trouble";
}

/** Who made a suspected change, as far as known: `attempt 2 by developer in implement`. */
export function whoseText({ attempt, role, phase }: Suspect): string {
  if (attempt === undefined) return "";
  return `attempt ${attempt}${role === undefined ? "" : ` by ${role}`}${phase === undefined ? "" : ` in ${phase}`}`;
}
