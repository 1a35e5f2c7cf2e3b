import type { AnswerVerb } from "../stories/escalation.ts";
import type { Event } from "./event.ts";

/**
 * Who writes an event from outside of the engine's loop. `person`: a process that no engine can have started. `claim`:
 * one of which that cannot be said. `agent`: one that an engine started. `why` says how that is known.
 */
export type EventAuthor = { readonly type: "person" } | { readonly type: "claim" | "agent"; readonly why: string };

/** Why a speaker may not write these events, and what a person does instead; `null` when it may. */
export function authorityRefusal(
  speaker: EventAuthor,
  events: readonly Event[],
): { readonly message: string; readonly hint: string } | null {
  if (speaker.type === "person") return null;
  if (speaker.type === "agent")
    return {
      message: `An engine started this process, so it cannot speak for a person: ${speaker.why}`,
      hint: "Answer in a terminal of your own, or in the dashboard: remand serve.",
    };
  const refused = events.find(needsPerson);
  if (refused === undefined) return null;
  const what =
    refused.type === "person.answered"
      ? refused.answer.verb
      : refused.type === "journal.replaced"
        ? "Replacing the journal"
        : "Undoing an answer";
  return {
    message: `${what} needs a person, and this process may be an agent's: ${speaker.why}`,
    hint:
      "Answer in a terminal of your own, or in the dashboard: remand serve. " +
      "From here you can still use send-back, abandon and remand stop.",
  };
}

/** Whether the event lets work through, grants more, or takes back what a person said. */
function needsPerson(event: Event): boolean {
  if (event.type === "person.answered") return VERB_NEEDS_PERSON[event.answer.verb];
  return event.type === "answer.undone" || event.type === "journal.replaced";
}

const VERB_NEEDS_PERSON: Readonly<Record<AnswerVerb, boolean>> = {
  merge: true,
  drop: true,
  resolve: true,
  waive: true,
  "raise-budget": true,
  "force-complete": true,
  "declare-healthy": true,
  "send-back": false,
  dispute: false,
  abandon: false,
  retry: false,
  halt: false,
  known: true,
  target: true,
  allow: true,
};
