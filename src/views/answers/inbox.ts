import { type TriedFinding, disputable, openOf } from "../../core/gates/finding.ts";
import { type AnswerVerb, type Escalation, type GivenAnswers, TRIAGE_OPTIONS } from "../../core/stories/escalation.ts";
import type { Recorded } from "../../core/events/event.ts";
import type { EscalationId, Fingerprint, StoryId } from "../../core/events/ids.ts";
import { type RunOutline, hasQuestion, isAsking, type RunState } from "../../core/stories/run-state.ts";
import type { StoryState } from "../../core/stories/story-state.ts";
import { byText, entries, lookup } from "../../stdx/sorted-map.ts";
import { causeOf } from "./likely-answers.ts";
import { findingText } from "../story/finding-text.ts";
import { shortReason } from "../run/run-notes.ts";

/** One question that waits for a person. */
export interface InboxItem {
  readonly id: EscalationId;
  /** `null`: the question is about the whole run. */
  readonly story: StoryId | null;
  readonly title: string;
  readonly kind: Escalation["kind"];
  /** Why the question is asked now. */
  readonly reason: string;
  readonly assessment: string;
  readonly recommendation: string;
  readonly question: string;
  /** Groups questions that the same answer settles: `answer --all --cause`. */
  readonly cause: string;
  /** The attempts, the findings that each was rejected for, and what became of them. */
  readonly attempts: Escalation["attempts"];
  /** The findings that can be disputed, by id and as text. */
  readonly disputable: readonly { readonly finding: Fingerprint; readonly text: string }[];
  readonly answers: readonly { readonly verb: AnswerVerb; readonly does: string; readonly cost: string }[];
  /** Who deferred the question to the next run; `null` where it waits for an answer now. */
  readonly deferred: NonNullable<StoryState["deferred"]> | null;
}

/** Open questions: those about the whole run first, then those of stories in order of arrival. */
export function inboxItems(run: RunState): InboxItem[] {
  return allItems(run).filter(({ deferred }) => deferred === null);
}

/** All questions, including those deferred to the next run. */
export function allItems(run: RunState): InboxItem[] {
  return itemsOf(
    run,
    [...entries(run.stories)].map(([, state]) => state),
  );
}

/** The questions of some stories, when the others were not read. */
export function itemsOf(
  { escalation: ofAll }: Pick<RunState, "escalation">,
  states: readonly StoryState[],
): InboxItem[] {
  const waiting = states
    .filter(hasQuestion)
    .map((state) => ({ state, escalation: state.escalation! }))
    .sort((a, b) => a.state.arrival - b.state.arrival);
  return [
    ...(ofAll === null ? [] : [itemOf(ofAll, undefined)]),
    ...waiting.map(({ state, escalation }) => itemOf(escalation, state)),
  ];
}

function itemOf(escalation: Escalation, state: StoryState | undefined): InboxItem {
  const { id, kind, assessment, recommendation, question, options, attempts } = escalation;
  return {
    id,
    story: state?.story.id ?? null,
    title: state?.story.title ?? "the whole run",
    kind,
    reason: shortReason(escalation, state),
    assessment,
    recommendation,
    question,
    cause: causeOf(escalation),
    attempts,
    disputable: disputableIn(escalation, state),
    answers: state === undefined ? options : [...options, ...TRIAGE_OPTIONS],
    deferred: state?.deferred ?? null,
  };
}

function disputableIn({ gate, options }: Escalation, state: StoryState | undefined): InboxItem["disputable"] {
  if (state === undefined || !options.some(({ verb }) => verb === "dispute")) return [];
  return disputable(state, gate)
    .slice(0, MOST_FINDINGS)
    .map((finding) => ({ finding: finding.id, text: findingText(finding, 200) }));
}

const MOST_FINDINGS = 50;

/** The open findings of a question's attempts, the newest attempt first. */
export const openFindings = ({ attempts }: Pick<Escalation, "attempts">): readonly TriedFinding[] =>
  openOf(attempts.toReversed().flatMap(({ findings = [] }) => findings));

/**
 * The number of questions that wait for a person: those of the stories, and the one about the whole run, which concerns
 * all stories.
 */
export function questionCount(
  { escalation, stories }: Pick<RunOutline, "escalation" | "stories">,
  asked: readonly StoryId[] | null,
): number {
  const known =
    asked === null
      ? [...entries(stories)].map(([, state]) => state)
      : asked.flatMap((id) => lookup(stories, id, byText) ?? []);
  return (escalation === null ? 0 : 1) + known.filter(isAsking).length;
}

/** The answers that people gave to a question. `own`: the lines of the question's story, or those of the run. */
export function answersTo({ id }: Escalation, own: readonly Recorded[]): GivenAnswers {
  const given: GivenAnswers[number][] = [];
  let isLastOurs = false;
  for (const { event, at } of own) {
    if (event.type === "person.answered") {
      const { verb, by, message, escalation } = event.answer;
      isLastOurs = escalation === id;
      if (isLastOurs) given.push({ verb, by, message, at });
    }
    if (event.type === "answer.undone" && isLastOurs) given.pop();
  }
  return given;
}
