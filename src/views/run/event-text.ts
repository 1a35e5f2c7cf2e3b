import { countText } from "../../stdx/plain-text.ts";
import type { Event } from "../../core/events/event.ts";
import type { Judgement } from "../../core/gates/gate.ts";
import { authorText, durationText, moneyText, shortLine } from "../text/words.ts";
import { outcomeText } from "./run-lines.ts";
import { noteOf, acceptedText, modelWords, unusualWords } from "./run-notes.ts";

/** An event in a few words, for a list of all events. */
export function eventWords(event: Event): string {
  const note = noteOf(event, undefined);
  if (note !== null) return note.text;
  switch (event.type) {
    case "policy.set":
      return `rules of the preset ${event.policy.preset}, set by ${event.by}`;
    case "base.moved":
      return `the base is now ${event.commit.slice(0, 12)}`;
    case "journal.replaced":
      return `this journal took the place of another with ${countText(event.lost.position, "line")}, by ${event.by}: ${event.lost.why}`;
    case "remediation.finished":
      return `repair ${event.attempt} is over: ${shortLine(event.fixes.join("; "), 120)}`;
    case "story.added":
      return `added: ${shortLine(event.story.title, 120)}`;
    case "story.changed":
      return `its file changed: ${event.what.join(", ")}`;
    case "story.started":
      return `started by ${event.by}`;
    case "story.prepared":
      return preparedWords(event);
    case "base.judged":
      return ["the checks have run on the base", ...baseFailureWords(event)].join("; ");
    case "attempt.started":
      return `attempt ${event.attempt}: ${event.phase} by ${event.role}${modelWords(event)}${event.reworkOf === null ? "" : `, rework after ${event.reworkOf}`}${unusualWords(event)}`;
    case "attempt.finished":
      return finishedWords(event);
    case "gate.started":
      return `the ${event.gate} gate runs`;
    case "gate.judged":
      return judgedWords(event.judgement);
    case "step.started":
      return `${event.step} begins`;
    case "blame.found":
      return `blame: ${event.blame.verdict}, ${event.blame.basis}; ${shortLine(event.blame.explanation, 120)}`;
    case "work.sent-back":
      return `sent back from ${event.gate} to ${event.route.role} (${event.route.phase}): ${shortLine(event.route.reason, 120)}`;
    case "story.accepted":
      return acceptedText(event.notes, "all gates passed");
    case "policy.applied":
      return `new rules for this story, by ${authorText(event)}`;
    default:
      return "";
  }
}

function preparedWords(event: Extract<Event, { type: "story.prepared" }>): string {
  const open = event.isBaseOpen === undefined ? [] : ["the checks still run on the base"];
  return ["workspace ready", ...open, ...baseFailureWords(event)].join("; ");
}

function baseFailureWords({
  preExisting,
  flaky = [],
}: {
  readonly preExisting: readonly string[];
  readonly flaky?: readonly string[];
}): string[] {
  const listNames = (what: string, names: readonly string[]): string[] =>
    names.length === 0 ? [] : [`${what}: ${shortLine(names.join(", "), 120)}`];
  return [...listNames("fails at the base", preExisting), ...listNames("flaky at the base", flaky)];
}

function finishedWords(event: Extract<Event, { type: "attempt.finished" }>): string {
  const parts = [
    `attempt ${event.attempt} ${outcomeText(event.outcome)}`,
    `${countText(event.changed.length, "file")} changed`,
    ...(event.putBack === undefined ? [] : [putBackWords(event.putBack)]),
    ...(event.costUsd === undefined ? [] : [moneyText(event.costUsd)]),
    durationText(event.durationMs),
  ];
  return parts.join(", ");
}

function putBackWords(paths: readonly string[]): string {
  return shortLine(`${countText(paths.length, "file")} outside the scope reverted (${paths.join(", ")})`, 160);
}

function judgedWords({ gate, result, blocking, summary }: Judgement): string {
  // A gate's own summary may start with the same words.
  if (summary.startsWith(`${gate}: ${result}`)) return shortLine(summary, 160);
  const count = blocking.length === 0 ? "" : `, ${countText(blocking.length, "finding")} in the way`;
  const said = summary.startsWith(`${gate}: `) ? summary.slice(gate.length + 2) : summary;
  return `${gate}: ${result}${count}${said === "" ? "" : `; ${shortLine(said, 120)}`}`;
}

/** A time for people in an IANA time zone: `2026-02-22 15:30:05 +01:00`, or with a Z in UTC. */
export function timeText(atMs: number, zone: string): string {
  const { time, offset } = zonedTime(atMs, zone);
  return `${time}${offset === "Z" ? "" : " "}${offset}`;
}

/** The same in two parts, for lists that print the offset once. */
export function zonedTime(atMs: number, zone: string): { readonly time: string; readonly offset: string } {
  if (zone === "UTC") return { time: new Date(atMs).toISOString().slice(0, 19).replace("T", " "), offset: "Z" };
  const parts = Object.fromEntries(
    formatIn(zone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, value]),
  );
  const { year, month, day, hour, minute, second, timeZoneName = "" } = parts;
  return {
    time: `${year}-${month}-${day} ${hour}:${minute}:${second}`,
    offset: timeZoneName.replace(/^(?:GMT|UTC)(?:[+-]00:00)?/, "") || "Z",
  };
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatIn(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const two = "2-digit" as const;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: two,
    day: two,
    hour: two,
    minute: two,
    second: two,
    timeZoneName: "longOffset",
  });
  formats.set(zone, format);
  return format;
}
