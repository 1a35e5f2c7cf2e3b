import { Hono } from "hono";
import type { EvidenceDocument, HelloDocument, VerifyDocument } from "../views/board/dashboard.ts";
import { ledgerOf } from "../views/board/ledger.ts";
import { EMPTY_GRAPH, graphOf } from "../views/board/graph.ts";
import { questionCount } from "../views/answers/inbox.ts";
import { RemandError } from "../core/events/error.ts";
import type { RunState } from "../core/stories/run-state.ts";
import { evidenceId } from "../core/events/ids.ts";
import { readStoredTexts } from "../engine/stored-texts.ts";
import { storyHtml } from "../views/story/story-html.ts";
import { readReportedStories, reportHtml } from "../views/run/run-report.ts";
import { storyLine } from "../views/story/story-lines.ts";
import { withoutSecrets } from "../parse/secrets/secrets.ts";
import {
  attemptOf,
  boardOf,
  createBoardCache,
  diffOf,
  inboxOf,
  lastLinesOf,
  linesOf,
  listOf,
  storyOf,
  trailPage,
} from "./documents.ts";
import { type ServerContext, numberIn, queryIn } from "./context.ts";
import { type LineTexts, createLineTexts } from "./line-index.ts";
import { type CurrentRun, type Live, someLines } from "./live.ts";
import { entries } from "../stdx/sorted-map.ts";

const MOST_ROWS = 50;

/** The date in the server's time zone, which is the person's. */
function localDay(at: number): string {
  const time = new Date(at);
  return [time.getFullYear(), time.getMonth() + 1, time.getDate()]
    .map((part) => String(part).padStart(2, "0"))
    .join("-");
}

/** Routes about all stories. */
export function readRoutes({ source, live, index, currentRun, send, clean }: ServerContext): Hono {
  const board = createBoardCache();
  const texts = createLineTexts(clean);
  return new Hono()
    .get("/hello", async () => {
      const now = await live.now();
      const { project, version, readOnly, by } = source;
      const hello: HelloDocument = { project, version, readOnly, by, ...(now === null ? NO_RUN : helloOf(now)) };
      return send(hello);
    })
    .get("/board", async (c) => {
      const now = await live.now();
      const cards = now === null ? [] : board.cards(now.state);
      return send(boardOf(now, cards, queryIn(c.req.query("q")), numberIn(c.req.query("cards")) ?? undefined));
    })
    .get("/list", async (c) => {
      const now = await live.now();
      const cards = now === null ? [] : board.cards(now.state);
      const offset = numberIn(c.req.query("offset")) ?? 0;
      return send(listOf(now, cards, queryIn(c.req.query("q")), c.req.query("column") ?? "", offset));
    })
    .get("/inbox", async () => send(await inboxOf(await live.now(), index)))
    .get("/ledger", async () => {
      const now = await currentRun();
      return send(ledgerOf(await index.spendings(now.view), now.state, MOST_ROWS, localDay));
    })
    .get("/trail", async (c) =>
      send(
        await trailPage(
          await currentRun(),
          numberIn(c.req.query("before")),
          queryIn(c.req.query("q")),
          queryIn(c.req.query("kind")),
        ),
      ),
    )
    .get("/graph", async (c) => {
      const now = await live.now();
      if (now === null) return send(EMPTY_GRAPH);
      return send(graphOf(now.state, board.cards(now.state), queryIn(c.req.query("q"))));
    })
    .get("/verify", async () => send((await source.verify()) ?? NOTHING_TO_VERIFY))
    .get("/health", async () => send(await source.health()))
    .get("/events", (c) => {
      const after = numberIn(c.req.header("last-event-id")) ?? numberIn(c.req.query("after"));
      const stream = lineStream({ live, after, signal: c.req.raw.signal, texts });
      return c.body(stream, 200, { "content-type": "text/event-stream; charset=utf-8" });
    });
}

type RunOfHello = Omit<HelloDocument, "project" | "version" | "readOnly" | "by">;

const NO_RUN: RunOfHello = {
  hasJournal: false,
  position: 0,
  questions: 0,
  stories: 0,
  paused: 0,
  engine: { state: "stopped", since: null, pid: null, busy: 0, most: null },
  spentUsd: 0,
  costUnknown: false,
  limitUsd: null,
};

/** Cached per state: every tab sends a request at every line. */
const counted = new WeakMap<RunState, Pick<RunOfHello, "questions" | "stories" | "paused">>();

function countsOf(state: RunState): Pick<RunOfHello, "questions" | "stories" | "paused"> {
  const known = counted.get(state);
  if (known !== undefined) return known;
  const stories = [...entries(state.stories)];
  const paused = stories.filter(([, { held, ending }]) => held && ending === null).length;
  const counts = { questions: questionCount(state, null), stories: stories.length, paused };
  counted.set(state, counts);
  return counts;
}

function helloOf({ state, engine }: CurrentRun): RunOfHello {
  return {
    hasJournal: true,
    position: state.position,
    ...countsOf(state),
    engine,
    spentUsd: state.spent.costUsd,
    costUnknown: state.spent.costUnknown,
    limitUsd: state.raised["run-cost"] ?? state.policy?.limits.run.costUsd ?? null,
  };
}

const NOTHING_TO_VERIFY: VerifyDocument = { ok: true, position: 0, problem: null, hash: null };

export interface StreamOptions {
  readonly live: Live;
  /** The last line that the reader has; `null`: none, so the stream starts with the current position. */
  readonly after: number | null;
  readonly signal: AbortSignal;
  readonly texts: LineTexts;
}

/** How long a connection may be silent before a keep-alive is sent. */
const PULSE_MS = 15_000;
/** The maximum number of lines per write. */
const MOST_LINES = 200;

/**
 * Streams the journal's lines as server-sent events, with their positions as ids. The reader pulls: a slow reader costs
 * one position and no buffered lines, and continues from there.
 */
function lineStream({ live, after, signal, texts }: StreamOptions): ReadableStream<Uint8Array> {
  const over = new AbortController();
  const stop = AbortSignal.any([signal, over.signal]);
  const encoder = new TextEncoder();
  let cursor = after;
  let engine = "";

  const next = async (): Promise<string> => {
    const currentRun = await live.now();
    if (currentRun === null) {
      cursor = 0;
      return "";
    }
    const { state, view } = currentRun;
    const hasEngineChanged = engine !== "" && engine !== currentRun.engine.state;
    engine = currentRun.engine.state;
    if (cursor === null) {
      cursor = state.position;
      return `id: ${cursor}\nevent: start\ndata: {}\n\n`;
    }
    // Not in the journal: an engine that crashes writes nothing.
    if (hasEngineChanged) return `event: engine\ndata: ${JSON.stringify({ state: engine })}\n\n`;
    // A journal that is shorter than the reader's position is another journal.
    if (cursor > state.position) {
      cursor = state.position;
      return `id: ${cursor}\nevent: reset\ndata: {}\n\n`;
    }
    const { text, position } = await texts.after(view, cursor, MOST_LINES);
    cursor = position;
    return text;
  };

  /** Waits for lines, or for the time of the next keep-alive. `null`: the stream has ended. */
  const nextText = async (): Promise<string | null> => {
    while (!stop.aborted) {
      const pulse = AbortSignal.timeout(PULSE_MS);
      // Subscribed before reading, so that lines written in between are not missed.
      const changed = live.changed(AbortSignal.any([stop, pulse]));
      const text = await next();
      if (text !== "") return text;
      await changed;
      if (pulse.aborted && !stop.aborted) return ": pulse\n\n";
    }
    return null;
  };

  return new ReadableStream({
    start: (controller) => controller.enqueue(encoder.encode(`retry: 1000\n: connected\n\n`)),
    pull: async (controller) => {
      const text = await nextText().catch((error: unknown) => {
        // A disconnected client gets no error.
        if (stop.aborted) return null;
        throw error;
      });
      if (text === null) return controller.close();
      controller.enqueue(encoder.encode(text));
    },
    cancel: () => over.abort(),
  });
}

/** A stored text may be megabytes: a page shows at most this much, and the full text is in a file. */
const MOST_TEXT = 400_000;

/** Routes about one story, down to the line. */
export function storyRoutes({ source, index, currentRun, send }: ServerContext): Hono {
  return new Hono()
    .get("/stories/:id", async (c) =>
      send(await storyOf(await currentRun(), index, c.req.param("id"), (story) => source.placeOf(story))),
    )
    .get("/stories/:id/attempts/:attempt", async (c) => {
      const attempt = numberIn(c.req.param("attempt")) ?? 0;
      return send(await attemptOf(await currentRun(), index, c.req.param("id"), attempt));
    })
    .get("/stories/:id/lines", async (c) =>
      send(await linesOf(await currentRun(), index, c.req.param("id"), numberIn(c.req.query("after")) ?? 0)),
    )
    .get("/stories/:id/last-lines", async (c) => send(await lastLinesOf(await currentRun(), index, c.req.param("id"))))
    .get("/stories/:id/diff", async (c) => {
      const [attempt, since] = [numberIn(c.req.query("attempt")), numberIn(c.req.query("since"))];
      return send(await diffOf(await currentRun(), index, c.req.param("id"), attempt, since));
    })
    .get("/evidence/:id", async (c) => {
      const id = c.req.param("id");
      const text = EVIDENCE.test(id) ? await (await currentRun()).view.evidence.read(evidenceId(id)) : null;
      if (text === null) throw new RemandError("usage", "there is no such evidence", "It may have been deleted.");
      const leftOut = Math.max(0, text.length - MOST_TEXT);
      const shown: EvidenceDocument = { id, text: text.slice(0, MOST_TEXT), leftOut };
      return send(shown);
    })
    .get("/lines/:position", async (c) => {
      const [line] = await someLines((await currentRun()).view, (numberIn(c.req.param("position")) ?? 1) - 1, 1);
      if (line === undefined) throw new RemandError("usage", "there is no such line", "The trail shows all of them.");
      return send(line);
    });
}

const EVIDENCE = /^[0-9a-z]{1,64}$/;

/** Routes for files: a story as a person wrote it, and pages that can be saved and opened anywhere. */
export function fileRoutes({ source, index, currentRun, send }: ServerContext): Hono {
  return new Hono()
    .get("/stories/:id/source", async (c) => {
      const file = await source.stories.read(c.req.param("id"));
      if (file === null)
        throw new RemandError(
          "usage",
          "this story has no file here",
          "A loop has none, and a fleet's is on its branch.",
        );
      // The editor would save the redacted text over the secret.
      if (withoutSecrets(file, source.secrets).text !== file.text)
        throw new RemandError(
          "input-invalid",
          `${file.file} holds what looks like a secret`,
          "Edit it in your editor.",
        );
      return send(file);
    })
    .get("/stories/:id/export", async (c) => {
      const now = await currentRun();
      const document = await storyOf(now, index, c.req.param("id"), () => null);
      const lines = await index.linesOf(now.view, document.story.id, 0, Infinity);
      const storyLines = lines.map(storyLine);
      const texts = await readStoredTexts(storyLines, now.view.evidence);
      const shown = withoutSecrets({ document, lines: storyLines, texts }, source.secrets);
      return c.body(storyHtml({ ...shown, at: source.now() }), 200, { "content-type": "text/html; charset=utf-8" });
    })
    .get("/report", async (c) => {
      const now = await currentRun();
      const { state, view } = now;
      const ids = [...entries(state.stories)].map(([id]) => id);
      const stories = await readReportedStories(ids, {
        story: async (id) => {
          const lines = await index.linesOf(view, id, 0, Infinity);
          return { document: await storyOf(now, index, id, () => null), lines: lines.map(storyLine) };
        },
        texts: ({ lines }) => readStoredTexts(lines, view.evidence),
      });
      const spending = ledgerOf(await index.spendings(view), state, MOST_ROWS, localDay);
      const paper = { project: source.project, stories, spending, others: 0, at: source.now() };
      const shown = withoutSecrets(paper, source.secrets);
      return c.body(reportHtml(shown), 200, { "content-type": "text/html; charset=utf-8" });
    });
}
