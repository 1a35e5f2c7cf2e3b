import type { Recorded } from "../domain/event.ts";
import { eventWords } from "./event-words.ts";
import { reasonsOf } from "./finding-text.ts";
import type { Mark } from "./glyphs.ts";
import { whoseText } from "./whose.ts";
import { shortLine } from "./words.ts";

/** One thing that happened to a story, with what belongs to it below. */
export interface TimelineEntry {
  readonly at: number;
  readonly mark: Mark;
  readonly text: string;
  readonly details: readonly string[];
}

/** What happened to a story, in order. Beginnings are left out where the end is told too. */
export function timelineOf(lines: readonly Recorded[]): TimelineEntry[] {
  return lines.flatMap(({ at, event }): TimelineEntry[] => {
    const entry = (mark: Mark, details: readonly string[] = []): TimelineEntry[] => [
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
        return entry(
          markOf(event.judgement.result),
          event.judgement.result === "pass" ? [] : reasonsOf(event.judgement, 5, 8),
        );
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

function markOf(result: "pass" | "fail" | "blocked" | "error" | "inconclusive"): Mark {
  if (result === "pass") return "accepted";
  return result === "fail" ? "rejected" : "trouble";
}
