import type { StoryId } from "../../core/events/ids.ts";
import { countText } from "../../stdx/plain-text.ts";
import { COLUMN_TITLES } from "../board/columns.ts";
import type { CostRow } from "../board/cost.ts";
import type { SpendingReport } from "../board/ledger.ts";
import { type StoryHtmlInput, escapeHtml, htmlPage, section, storySections, table } from "../story/story-html.ts";
import { durationText, moneyText } from "../text/words.ts";
import { timeText } from "./event-text.ts";

/** A whole run, for a self-contained file. */
export interface RunReport {
  readonly project: string;
  readonly stories: readonly ReportedStory[];
  readonly spending: SpendingReport;
  /** Stories of the run that were not asked for. */
  readonly others: number;
  readonly at: number;
}

export type ReportedStory = Omit<StoryHtmlInput, "at">;

/** How the stories of a report are read. */
export interface ReportSource {
  /** Reads a story without its stored texts, which are read as long as there is room for them. */
  story(id: StoryId): Promise<Omit<ReportedStory, "texts">>;
  texts(story: Omit<ReportedStory, "texts">): Promise<ReportedStory["texts"]>;
}

/** The maximum number of characters of stored texts in a report: a larger file could not be mailed. */
const MOST_TEXT = 6_000_000;

/** Reads the stories one after the other. Texts of stories that need a person are included first. */
export async function readReportedStories(
  ids: readonly StoryId[],
  source: ReportSource,
): Promise<readonly ReportedStory[]> {
  const read = [];
  for (const id of ids) read.push(await source.story(id));
  const sorted = read.toSorted((a, b) => rankOf(a) - rankOf(b) || a.document.card.arrival - b.document.card.arrival);
  const stories: ReportedStory[] = [];
  let left = MOST_TEXT;
  for (const story of sorted) {
    const texts = left <= 0 ? [] : await source.texts(story);
    const fitting = texts.filter(({ text }) => (left -= text.length) > 0);
    stories.push({ ...story, texts: fitting });
  }
  return stories;
}

const RANKS = ["needs-you", "stopped", "working", "in-gates", "sent-back", "waiting", "ready", "backlog", "accepted"];
const rankOf = ({ document }: Pick<ReportedStory, "document">): number => RANKS.indexOf(document.card.column);

/** The run as one page: results, costs, and every story down to its events. */
export function reportHtml({ project, stories, spending, others, at }: RunReport): string {
  const { total, accepted } = spending;
  const asking = stories.flatMap(({ document }) => (document.escalation === null ? [] : [document]));
  const figures: readonly (readonly [string, string])[] = [
    ["stories", String(stories.length)],
    ["accepted", String(stories.filter(({ document }) => document.card.status === "accepted").length)],
    ["need a person", String(asking.length)],
    ["spent", spentOf(total)],
    ["on rejected work", moneyText(total.wastedUsd)],
    ["for each accepted story", accepted.usdPerStory === null ? "–" : moneyText(accepted.usdPerStory)],
    ["accepted at the first attempt", `${accepted.firstPass} of ${accepted.stories}`],
    ["time of agents and gates", durationText(total.timeMs)],
  ];
  const rest = others === 0 ? "" : ` · ${countText(others, "more story", "more stories")} not in this report`;
  return htmlPage(
    `Run of ${project}`,
    `<p class="small">told ${timeText(at, "UTC")}${rest}</p>
<h1>Run of ${escapeHtml(project)}</h1>
<dl class="figures">${figures.map(([name, value]) => `<div><dt>${name}</dt><dd>${escapeHtml(value)}</dd></div>`).join("")}</dl>
${section("Needs a person", table(["Story", "Question", "Advice"], asking.map(questionRow)))}
${section("Stories", table(["Story", "State", "Attempts", "Spent", "Why"], stories.map(storyRow)))}
${section("Cost by role", costTable("Role", spending.rows.agent))}
${section("Cost by model", costTable("Model", spending.rows.model))}
${section("Cost by cause", costTable("Cause", spending.rows.cause))}
${section("Each story", stories.map(storyDetails).join("\n"))}`,
  );
}

const questionRow = ({ story, escalation }: ReportedStory["document"]): string[] => [
  story.title,
  escalation?.question ?? "",
  escalation?.recommendation ?? "",
];

const storyRow = ({ document: { card } }: ReportedStory): string[] => [
  card.title,
  COLUMN_TITLES[card.column],
  String(card.attempt),
  spentOf(card),
  card.finding ?? card.why,
];

const spentOf = ({ costUsd, costUnknown }: Pick<CostRow, "costUsd" | "costUnknown">): string =>
  `${costUnknown ? "at least " : ""}${moneyText(costUsd)}`;

const costTable = (head: string, rows: readonly CostRow[]): string =>
  table(
    [head, "Spent", "Sent back", "Time", "Calls"],
    rows.map((row) => [row.name, spentOf(row), moneyText(row.wastedUsd), durationText(row.timeMs), String(row.times)]),
  );

function storyDetails(story: ReportedStory): string {
  const { card } = story.document;
  const summary = `${escapeHtml(card.title)} <span class="small">${escapeHtml(`${card.id} · ${card.status}`)}</span>`;
  return `<details class="story" id="${escapeHtml(card.id)}"><summary>${summary}</summary>\n${storySections(story)}\n</details>`;
}
