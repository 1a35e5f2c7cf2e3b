import type { AnswerVerb } from "../stories/escalation.ts";
import type { Event } from "./event.ts";

/**
 * Who writes an event from outside the engine's loop. `person`: an identified person. `claim`: a process that names a
 * person and proves nothing. `agent`: a process that an engine started. `why` says how the type was determined.
 */
export type EventAuthor =
  | { readonly type: "person"; readonly identity: Exclude<Identity, "claim"> }
  | { readonly type: "claim" | "agent"; readonly why: string };

/** How the authors of the earlier events are known that an event ends: of a pause, and of the stop of a run. */
export interface EarlierIdentities {
  readonly pausedAs?: Identity | undefined;
  readonly haltedAs?: Identity | undefined;
}

export interface AuthorityRefusal {
  readonly message: string;
  readonly hint: string;
}

/** Says why an author may not write these events, and what a person can do instead; `null` if the author may. */
export function authorityRefusal(
  author: EventAuthor,
  events: readonly Event[],
  earlier: EarlierIdentities = {},
): AuthorityRefusal | null {
  if (author.type === "person") return null;
  if (author.type === "agent")
    return {
      message: `An engine started this process, so it cannot speak for a person: ${author.why}`,
      hint: "Answer in a terminal of your own, or in the dashboard: remand serve.",
    };
  const [refused] = events.flatMap((event) => powerOf(event, earlier) ?? []);
  if (refused === undefined) return null;
  return {
    message: `${refused} needs an identified person, and this process only claims to be one: ${author.why}`,
    hint:
      "Answer in a terminal of your own, in the dashboard (remand serve), or with REMAND_TOKEN or --token-file; " +
      "remand token makes a token. From here you can still use send-back, abandon, halt and remand stop.",
  };
}

/** Names what an event grants, lets through or ends; `null` if a claim may do it (stop, send back). */
function powerOf(event: Event, { pausedAs = "claim", haltedAs = "claim" }: EarlierIdentities): string | null {
  switch (event.type) {
    case "person.answered":
      return VERBS_OF_A_CLAIM.has(event.answer.verb) ? null : event.answer.verb;
    case "answer.undone":
      return "Undoing an answer";
    case "journal.replaced":
      return "Replacing the journal";
    case "policy.applied":
      return "Changing the rules of a story";
    case "story.released":
      return pausedAs === "claim" ? null : "Resuming a story that an identified person paused";
    case "run.resumed":
      return haltedAs === "claim" ? null : "Resuming a run that an identified person halted";
    default:
      return null;
  }
}

/**
 * An allow-list, so that a verb of a later version needs a person until it is listed here. `defer` and `dismiss` need a
 * person because they take a question out of the inbox and leave no failure behind.
 */
const VERBS_OF_A_CLAIM: ReadonlySet<AnswerVerb> = new Set<AnswerVerb>(["send-back", "abandon", "halt"]);

/** Returns the events, each with how its author is known. */
export function withIdentity(author: EventAuthor, events: readonly Event[]): readonly Event[] {
  const identity = author.type === "person" ? author.identity : "claim";
  return events.map((event) => {
    switch (event.type) {
      case "person.answered":
        return { ...event, answer: { ...event.answer, identity } };
      case "story.held":
      case "story.released":
      case "answer.undone":
      case "run.resumed":
      case "policy.applied":
        return { ...event, identity };
      default:
        return event;
    }
  });
}

/**
 * How the person behind an event is known. `terminal`: a terminal that no process of an engine created. `token`: the
 * user's token. `dashboard`: the dashboard's token. `forge`: an account listed in the user's `people:`. `claim`: only a
 * name, which any process can give.
 */
export const IDENTITIES = ["terminal", "token", "dashboard", "forge", "claim"] as const;
export type Identity = (typeof IDENTITIES)[number];
