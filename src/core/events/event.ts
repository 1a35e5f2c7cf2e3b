import type { ESCALATION_EVENTS, PROJECT_EVENTS, STORY_EVENTS, recordedSchema } from "../schemas/event.ts";
import type { answerSchema } from "../schemas/escalation.ts";
import type { Stored } from "../schemas/scalars.ts";

/** One line of the journal. `story` is its stream; `null` is the project's own stream. */
export type Recorded = Stored<typeof recordedSchema>;

/** Something that happened, in the past tense: the fold never refuses an event. */
export type Event = ProjectEvent | StoryEvent | EscalationEvent;

export type ProjectEvent = Stored<(typeof PROJECT_EVENTS)[number]>;
export type EscalationEvent = Stored<(typeof ESCALATION_EVENTS)[number]>;
export type StoryEvent = Stored<(typeof STORY_EVENTS)[number]>;

type EventOf<Type extends Event["type"]> = Extract<Event, { readonly type: Type }>;

export type WorkInterrupted = EventOf<"work.interrupted">;
export type AttemptStarted = EventOf<"attempt.started">;
export type AttemptUnclear = EventOf<"attempt.unclear">;
export type AttemptFinished = EventOf<"attempt.finished">;
export type SentBack = EventOf<"work.sent-back">;

export type Cost = Pick<AttemptUnclear, "costUsd" | "tokens" | "durationMs">;

/**
 * How an engine ended in the middle of a step: by a signal that it handled, without one (killed, out of memory), or
 * together with its machine. Only `died` counts against the step that ran.
 */
export const ENGINE_ENDS = ["stopped", "died", "rebooted"] as const;
export type EngineEnd = (typeof ENGINE_ENDS)[number];

/** What the engine does that is neither an attempt nor a gate. */
export const STEPS = [
  "prepare",
  "base",
  "dispatch",
  "blame",
  "lint-fix",
  "brief",
  "restore",
  "update",
  "adopt",
  "adjudication",
  "delivery",
] as const;
export type Step = (typeof STEPS)[number];

/** `exhausted` and `set-aside` follow from `onExhausted`; `abandoned` and `dismissed` are a person's decision. */
export const FAILED_HOW = ["exhausted", "set-aside", "abandoned", "dismissed"] as const;
export type FailedHow = (typeof FAILED_HOW)[number];

/** A person's answer: who gave it, and what it is about. */
export type Answer = Stored<typeof answerSchema>;

export type AnsweredComment = NonNullable<Answer["comments"]>[number];
