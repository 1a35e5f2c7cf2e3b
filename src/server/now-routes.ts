import { Hono } from "hono";
import { RemandError } from "../core/events/error.ts";
import type { StoryState } from "../core/stories/story-state.ts";
import { openFindings } from "../views/answers/inbox.ts";
import { likelyAnswers } from "../views/answers/likely-answers.ts";
import type { CodeAround, NowDocument, QuestionDocument, TryRow } from "../views/board/dashboard.ts";
import { nowView } from "../views/board/now.ts";
import { placedText } from "../views/story/finding-text.ts";
import { NO_COUNTS } from "../views/run/run-summary.ts";
import type { AttemptCard } from "../views/story/story-document.ts";
import { shortLine } from "../views/text/words.ts";
import type { ServerContext } from "./context.ts";
import { inboxOf, knownStory, openAnswers, storyOf } from "./documents.ts";
import type { CurrentRun } from "./live.ts";
import { followedIn, fromTheEnd, outputStream } from "./output-stream.ts";

/** Routes for the current state: the home page, one question, and a story's output. */
export function nowRoutes(context: ServerContext): Hono {
  const { source, live, currentRun, send, clean, index } = context;
  return new Hono()
    .get("/now", async () => {
      const now = await live.now();
      if (now === null) return send(EMPTY_NOW);
      const view = nowView(now.state, midnight(source.now()));
      const lines = await Promise.all(
        view.working.map(async ({ id, since }) => [id, since, await source.output.lastLine(id)] as const),
      );
      const document: NowDocument = {
        ...view,
        position: now.state.position,
        hasJournal: true,
        lastLines: Object.fromEntries(
          lines.flatMap(([id, since, line]) =>
            // Output of an earlier step does not show what is happening now.
            line === null || line.at < since ? [] : [[id, shortLine(line.text, 200)]],
          ),
        ),
        answered: openAnswers(now.state),
      };
      return send(document);
    })
    .get("/questions/:id", async (c) => {
      const now = await currentRun();
      const { items } = await inboxOf(now, index, c.req.param("id"));
      const item = items[0];
      if (item === undefined)
        throw new RemandError("usage", "this question is not open any more", "It was answered, or the story moved on.");
      const { escalation, story } = item;
      const state = story === null ? null : knownStory(now, story);
      const cards = story === null ? [] : (await storyOf(now, index, story, () => null)).attempts;
      const document: QuestionDocument = {
        ...item,
        position: now.state.position,
        likely: likelyAnswers(escalation),
        code: state === null ? null : await codeAround(now, state),
        tries: escalation.attempts.map((tried) => tryRow(tried, cards)),
      };
      return send(document);
    })
    .get("/output", async (c) => {
      const now = await currentRun();
      const followed = followedIn(c.req.query("of") ?? "", (id) => knownStory(now, id).story.id);
      const stories = c.req.query("tail") === undefined ? followed : await fromTheEnd(followed, source.output);
      const stream = outputStream({ output: source.output, stories, signal: c.req.raw.signal, clean });
      return c.body(stream, 200, { "content-type": "text/event-stream; charset=utf-8" });
    });
}

const EMPTY_NOW: NowDocument = {
  position: 0,
  hasJournal: false,
  counts: NO_COUNTS,
  needsYou: [],
  working: [],
  upNext: [],
  more: { needsYou: 0, working: 0, upNext: 0 },
  today: { accepted: 0, failed: 0, medianAttempts: null, firstPass: 0 },
  ended: [],
  lastLines: {},
  answered: [],
};

/** The start of today. The server's time zone is the person's, because it serves only this machine. */
function midnight(now: number): number {
  return new Date(now).setHours(0, 0, 0, 0);
}

const LINES_AROUND = 3;
const MOST_CODE_CHARS = 400;

/** The code around the first open finding whose line exists in the current work. */
async function codeAround({ view }: CurrentRun, { story, escalation, commit }: StoryState): Promise<CodeAround | null> {
  if (escalation === null || commit === "") return null;
  const workspace = await view.workspace();
  for (const { file, line, title } of openFindings(escalation).slice(0, MOST_FILES_LOOKED_AT)) {
    if (file === undefined || line === undefined) continue;
    const text = await workspace.fileAt(story.id, commit, file).catch(() => null);
    const all = text === null ? [] : text.split("\n");
    const first = Math.max(1, line - LINES_AROUND);
    const lines = all.slice(first - 1, line + LINES_AROUND).map((each) => each.slice(0, MOST_CODE_CHARS));
    if (all.length >= line) return { file, line, title, first, lines };
  }
  return null;
}

/** Several findings are tried, because a finding may be about a file that does not exist. */
const MOST_FILES_LOOKED_AT = 5;

function tryRow(
  { attempt, tried, failed, findings = [], findingsLeftOut = 0 }: QuestionDocument["escalation"]["attempts"][number],
  cards: readonly AttemptCard[],
): TryRow {
  const card = cards.find((each) => each.attempt === attempt);
  const titles = findings.map((finding) => shortLine(placedText(finding), 160));
  const more = findingsLeftOut > 0 ? [`and ${findingsLeftOut} more`] : [];
  return {
    attempt,
    said: shortLine(card?.summary || tried, 200),
    changed: card?.changed ?? [],
    failed: titles.length === 0 ? [shortLine(failed, 160)] : [...titles, ...more],
    costUsd: card?.costUsd ?? null,
  };
}
