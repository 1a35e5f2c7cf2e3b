import { type BudgetName, FAILURE_CEILING } from "../../core/stories/budget.ts";
import {
  type AnswerVerb,
  type Escalation,
  type EscalationReason,
  asksForMerge,
  asksForRetry,
  keepsUndo,
  needsMessage,
  undoRefusal,
} from "../../core/stories/escalation.ts";
import type { RunState } from "../../core/stories/run-state.ts";
import type { StoryState } from "../../core/stories/story-state.ts";
import { amountText } from "../text/words.ts";
import { RemandError } from "../../core/events/error.ts";
import type { Answer, Recorded } from "../../core/events/event.ts";
import type { StoryId } from "../../core/events/ids.ts";

/** An answer that can be given with one button next to the question. */
export interface LikelyAnswer {
  readonly verb: AnswerVerb;
  /** The text of the button. */
  readonly label: string;
  readonly does: string;
  /** A short price: `≈ $0.47`; empty where no cost is known. */
  readonly price: string;
  /** Whether the person must add a message: instructions or a reason. */
  readonly needsMessage: boolean;
  /** For `raise-budget`: the new limit. */
  readonly raise?: { readonly budget: BudgetName; readonly limit: number };
}

/** All answers to a question. First the recommended answer, then the one that people mostly choose instead. */
export function likelyAnswers({ options, reason }: Pick<Escalation, "options" | "reason">): readonly LikelyAnswer[] {
  const [first, ...rest] = options;
  if (first === undefined) return [];
  const second = rest.find(({ verb }) => verb === secondChoice(reason)) ?? rest[0];
  const ordered = second === undefined ? [first] : [first, second, ...rest.filter((option) => option !== second)];
  return ordered.map(({ verb, does, cost }) => {
    const raise = verb === "raise-budget" ? raiseFor(reason) : null;
    return {
      verb,
      label: raise === null ? answerLabel(verb, reason) : `Raise to ${raiseText(raise)}`,
      does,
      price: priceOf(cost),
      needsMessage: needsMessage(verb, reason),
      ...(raise === null ? {} : { raise }),
    };
  });
}

/** The names of answers for people. */
export const ANSWER_LABELS: { readonly [V in AnswerVerb]: string } = {
  merge: "Merge",
  "pull-request": "Open a pull request",
  resolve: "I fixed it",
  "send-back": "Send back",
  waive: "Waive",
  dispute: "Dispute",
  drop: "Drop the commits",
  "raise-budget": "Raise the limit",
  "force-complete": "Accept anyway",
  abandon: "Abandon",
  retry: "Retry",
  "declare-healthy": "It is healthy",
  halt: "Halt the run",
  known: "Known failure",
  target: "Make it the target",
  allow: "Allow it",
  defer: "Not now",
  dismiss: "Dismiss",
};

/** The name of an answer to a particular question. */
export function answerLabel(verb: AnswerVerb, reason: EscalationReason | null): string {
  if (verb === "resolve" && asksForMerge(reason)) return "I merged it";
  return verb === "send-back" && reason !== null && asksForRetry(reason) ? "Retry" : ANSWER_LABELS[verb];
}

function secondChoice(reason: EscalationReason): AnswerVerb | null {
  if (reason.type !== "budget") return null;
  return reason.budget.startsWith("failures:") ? "waive" : "abandon";
}

/** Doubles the limit; for failures, at most up to what any setting may allow. */
function raiseFor(reason: EscalationReason): { readonly budget: BudgetName; readonly limit: number } | null {
  if (reason.type !== "budget") return null;
  const { budget, used, limit } = reason;
  if (budget.startsWith("failures:"))
    return used >= FAILURE_CEILING ? null : { budget, limit: Math.min(FAILURE_CEILING, used + 2) };
  return { budget, limit: Math.ceil(Math.max(used, limit) * 2) };
}

function raiseText({ budget, limit }: { readonly budget: BudgetName; readonly limit: number }): string {
  return budget.startsWith("failures:") || budget === "iterations" ? `${limit} attempts` : amountText(budget, limit);
}

const priceOf = (cost: string): string => {
  const money = /\$\d+(?:\.\d+)?/.exec(cost)?.[0];
  return money === undefined ? "" : `≈ ${money}`;
};

/**
 * The cause that several questions share, so that one answer can settle them: the same missing agent, the same broken
 * gate, the same budget. Work that reviewers rejected has a cause of its own, made of the question's text.
 */
export function causeOf({ reason, gate, question }: Pick<Escalation, "reason" | "gate" | "question">): string {
  switch (reason.type) {
    case "budget":
      return reason.budget.startsWith("failures:")
        ? slug(reason.budget.replace(":", "-"), question)
        : slug("budget", reason.budget);
    case "agent-failure":
      return slug("agent", reason.detail.split(/ — |\n/)[0] ?? reason.outcome);
    case "agent-missing":
      return slug("agent-missing", reason.role);
    case "gate-error":
    case "gate-inconclusive":
    case "gate-blocked":
      return slug(reason.type, gate ?? "", reason.detail.split("\n")[0] ?? "");
    case "approval":
      return slug("approve", reason.of);
    case "failing-base":
      return slug("failing-base", String(reason.tests.length), ...reason.tests);
    case "infrastructure":
      return slug("infrastructure", reason.issue);
    default:
      return slug(reason.type, question);
  }
}

const LONGEST_CAUSE = 60;

const slug = (...parts: readonly string[]): string =>
  parts
    .join("-")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
    .slice(0, LONGEST_CAUSE)
    .replaceAll(/^-|-$/g, "");

/** Finds the answer to undo, by its story or by the question that it answered; throws if it cannot be undone. */
export function undoSubject(
  run: Pick<RunState, "escalation"> & Parameters<typeof undoRefusal>[0],
  states: readonly StoryState[],
  about: string,
): { readonly story: StoryId; readonly answer: Answer } {
  const state =
    states.find(({ story, undo }) => story.id === about || undo?.answer.escalation === about) ??
    // The question's answer can no longer be undone; its story is found by the name of the question, which contains the
    // story's.
    states.find(({ story }) => about.startsWith(`esc-${story.id}-`));
  if (state === undefined) {
    const isOfTheRun = about === run.escalation?.id || about.startsWith("esc-project-");
    throw new RemandError(
      "usage",
      isOfTheRun ? "an answer about the whole run cannot be undone" : `no story and no question is called ${about}`,
      isOfTheRun ? "`remand run` resumes a run that was halted." : "remand status lists the stories.",
    );
  }
  const refusal = undoRefusal(run, state);
  if (state.undo === null || refusal !== null) throw tooLate(state.story.id, refusal ?? "");
  return { story: state.story.id, answer: state.undo.answer };
}

export function tooLate(story: StoryId, why: string): RemandError {
  return new RemandError(
    "usage",
    `too late to undo the answer to ${story}: ${why}`,
    `Send new instructions instead: remand rework ${story} --message "…", or remand stop ${story}.`,
  );
}

/** Whether the newest undo among a story's lines was in time: no work started between the answer and the undo. */
export function isLastUndoInTime(lines: readonly Recorded[]): boolean {
  const at = lines.findLastIndex(({ event }) => event.type === "answer.undone");
  const answered = lines.findLastIndex(({ event }, i) => i < at && event.type === "person.answered");
  return answered >= 0 && lines.slice(answered + 1, at).every(({ event }) => keepsUndo(event));
}
