import { countText } from "../../stdx/plain-text.ts";
import type { Recorded } from "../../core/events/event.ts";
import type { Notification } from "../../core/events/notification.ts";
import type { RunState } from "../../core/stories/run-state.ts";
import { inboxItems, type InboxItem } from "./inbox.ts";
import { summaryText } from "../run/run-summary.ts";
import { amountText, durationText, shortLine } from "../text/words.ts";

type NotificationText = Omit<Notification, "project">;

/** The notification of a question. `askedMs`: for a reminder, how long the question has been open. */
export function questionWords(item: InboxItem, at: number, askedMs: number | null): NotificationText {
  const { id, story, reason, assessment, recommendation, question, answers } = item;
  const still = askedMs === null ? "needs you" : `still needs you, after ${durationText(askedMs)}`;
  return {
    kind: askedMs === null ? "question" : "reminder",
    story,
    escalation: id,
    title: shortLine(`${story ?? "the whole run"} ${still}: ${reason}`, MOST_TITLE),
    text: [
      shortLine(assessment, MOST_LINE),
      shortLine(question, MOST_LINE),
      shortLine(recommendation, MOST_LINE),
      `Answer it: remand answer ${id} ${answers.map(({ verb }) => verb).join(" | ")}`,
    ].join("\n"),
    answers: answers.map(({ verb }) => verb),
    at,
  };
}

/** The notification of a budget that is nearly used up; `null` for any other line. */
export function budgetWords({ event, story, at }: Recorded): NotificationText | null {
  if (event.type !== "budget.warned") return null;
  const { budget, used, limit } = event;
  return {
    kind: "budget",
    story,
    escalation: null,
    title: shortLine(`${story ?? "the whole run"} has used most of its ${budget} budget`, MOST_TITLE),
    text: `${amountText(budget, used)} of ${amountText(budget, limit)}. When it is used up, a person is asked before anything more is spent.`,
    answers: [],
    at,
  };
}

/** The notification that nothing is left to do: the status, and what waits for a person. */
export function endedWords(run: RunState, at: number): NotificationText {
  const items = inboxItems(run);
  const shown = items
    .slice(0, MOST_ITEMS)
    .map(({ id, story, reason }) => shortLine(`${id}  ${story ?? "the whole run"}: ${reason}`, MOST_LINE));
  const more = items.length > shown.length ? [`and ${items.length - shown.length} more: remand inbox`] : [];
  const waits = items.length === 0 ? "" : `, ${countText(items.length, "question waits", "questions wait")} for you`;
  return {
    kind: "ended",
    story: null,
    escalation: null,
    title: `the run has ended${waits}`,
    text: [summaryText(run, null, "·"), ...shown, ...more].join("\n"),
    answers: [],
    at,
  };
}

/** One notification instead of many that were raised at the same time. */
export function manyWords(all: readonly NotificationText[], at: number): NotificationText {
  return {
    kind: all.some(({ kind }) => kind === "question") ? "question" : (all.at(-1)?.kind ?? "ended"),
    story: null,
    escalation: null,
    title: `${countText(all.length, "more thing")} to know of`,
    text: [...all.slice(-MOST_ITEMS).map(({ title }) => title), "remand inbox lists what waits for you"].join("\n"),
    answers: [],
    at,
  };
}

const MOST_TITLE = 120;
const MOST_LINE = 300;
const MOST_ITEMS = 5;
