import { randomBytes } from "node:crypto";
import type { Server } from "node:http";
import { type Context, Hono } from "hono";
import { serve } from "@hono/node-server";
import { bodyLimit } from "hono/body-limit";
import { type ErrorCode, RemandError } from "../core/events/error.ts";
import type { RunState } from "../core/stories/run-state.ts";
import type { StoryState } from "../core/stories/story-state.ts";
import { heldSchema, saidSchema, takenBackSchema } from "../core/schemas/escalation.ts";
import { byText, lookup } from "../stdx/sorted-map.ts";
import type { AnsweredDocument, ErrorDocument, HeldDocument } from "../views/board/dashboard.ts";
import { answerSubject, holdSubject, personAnswer, storiesMeant } from "../views/answers/person-answer.ts";
import { isLastUndoHeard, tooLate, undoSubject } from "../views/answers/undo-answer.ts";
import { type ServerContext, createServerContext } from "./context.ts";
import { guard, headers } from "./guard.ts";
import { type Live, createLive, type DashboardSource } from "./live.ts";
import { readRoutes, storyRoutes } from "./read-routes.ts";
import { closeServer, portOf } from "./health.ts";

/** The pages and what they ask for. A page is a shell without data: what is in it comes with the token. */
function createApp(source: DashboardSource, live: Live, door: { token: string; port(): number }): Hono {
  const app = new Hono();
  app.use(headers());
  app.use(guard(door));
  const context = createServerContext(source, live);
  app.route("/api", readRoutes(context));
  app.route("/api", storyRoutes(context));
  app.route("/api", writeRoutes(context));
  app.all("/api/*", (c) => c.json({ error: "there is nothing here", hint: "" }, 404));
  app.get("*", (c) => {
    const { path } = c.req;
    // Only what was built is served, by its exact name: no path of a request ever reaches the disk.
    const asset = source.assets.get(path) ?? (PAGES.test(path) ? source.assets.get("/index.html") : undefined);
    if (asset === undefined) return c.text("There is nothing here.\n", 404);
    return c.body(asset.bytes, 200, { "content-type": asset.type });
  });
  app.onError((error, c) => {
    if (error instanceof RemandError) {
      const { clean } = context;
      return c.json({ error: clean(error.message), hint: clean(error.hint) }, STATUS_OF[error.code] ?? 503);
    }
    return c.json({ error: "this is a bug in Remand", hint: error.name }, 500);
  });
  return app;
}

/** What is not there, and what this dashboard may not say; everything else is trouble with the project's files. */
const STATUS_OF: Readonly<Partial<Record<ErrorCode, 403 | 404>>> = { usage: 404, "not-a-person": 403 };

const PAGES = /^\/(?:$|inbox$|ledger$|trail$|health$|story\/[A-Za-z0-9._-]{1,100}(?:\/diff)?$)/;

export interface Dashboard {
  readonly port: number;
  readonly token: string;
  /** With the token behind the `#`: a browser never sends that part. */
  readonly url: string;
  close(): Promise<void>;
}

/** Serves the dashboard to this machine only. `port` 0: any free port. */
export async function startDashboard(
  source: DashboardSource,
  port: number,
  live: Live = createLive(source),
): Promise<Dashboard> {
  const token = randomBytes(24).toString("base64url");
  let listening = port;
  const app = createApp(source, live, { token, port: () => listening });
  const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port }) as Server;
  try {
    listening = await portOf(server, port, "--port");
  } catch (error) {
    await live.close();
    throw error;
  }
  return {
    port: listening,
    token,
    url: `http://127.0.0.1:${listening}/#token=${token}`,
    close: async () => {
      // Readers are disconnected before the journal is closed.
      await closeServer(server);
      await live.close();
    },
  };
}

const MOST_BYTES = 64 * 1024;
const errorDocument = (error: string, hint: string): ErrorDocument => ({ error, hint });

/** What a person says in the dashboard: the same events as from the terminal, and nothing else is ever written. */
function writeRoutes(context: ServerContext): Hono {
  const { source, currentRun, index } = context;
  const limit = createWriteLimit(() => source.now());
  const tooLong = bodyLimit({
    maxSize: MOST_BYTES,
    onError: (c) => c.json(errorDocument("the request is too long", ""), 413),
  });
  const routes = new Hono();
  routes.post("/hold", tooLong, (c) => setPaused(c, context, limit, "held"));
  routes.post("/release", tooLong, (c) => setPaused(c, context, limit, "released"));
  routes.post("/answers", tooLong, async (c) => {
    const refusal = refusalOf(c, source.readOnly, limit);
    if (refusal !== null) return refusal;
    const said = saidSchema.safeParse(await c.req.json().catch(() => null));
    if (!said.success) return c.json(errorDocument("this is not an answer", said.error.issues[0]?.message ?? ""), 400);
    const { about, ...words } = said.data;
    const { state } = await currentRun();
    const subject = answerSubject(state, someOf(state, about), about);
    const answer = personAnswer(subject, { ...words, by: source.by });
    await source.appendEvents(subject.story, [{ type: "person.answered", answer }]);
    const answered: AnsweredDocument = { story: subject.story, verb: answer.verb, by: answer.by };
    return c.json(answered);
  });
  routes.post("/undo", tooLong, async (c) => {
    const refusal = refusalOf(c, source.readOnly, limit);
    if (refusal !== null) return refusal;
    const asked = takenBackSchema.safeParse(await c.req.json().catch(() => null));
    if (!asked.success) return c.json(errorDocument("this undoes nothing", asked.error.issues[0]?.message ?? ""), 400);
    const { state } = await currentRun();
    const { story, answer } = undoSubject(state, someOf(state, asked.data.about), asked.data.about);
    await source.appendEvents(story, [{ type: "answer.undone", by: source.by }]);
    // Between the look and the word an engine may have begun; then the word came too late, and that is said.
    const lines = await index.linesOf((await currentRun()).view, story, 0, Infinity);
    if (!isLastUndoHeard(lines)) throw tooLate(story, "work on it has just started");
    const undone: AnsweredDocument = { story, verb: answer.verb, by: source.by };
    return c.json(undone);
  });
  return routes;
}

/** Pauses and resumes a story, as `remand stop` and `remand run` do. */
async function setPaused(
  c: Context,
  context: ServerContext,
  limit: WriteLimit,
  wanted: "held" | "released",
): Promise<Response> {
  const { source, currentRun } = context;
  const refusal = refusalOf(c, source.readOnly, limit);
  if (refusal !== null) return refusal;
  const asked = heldSchema.safeParse(await c.req.json().catch(() => null));
  if (!asked.success) return c.json(errorDocument("this pauses no story", asked.error.issues[0]?.message ?? ""), 400);
  const story = holdSubject((await currentRun()).state, asked.data.about, wanted);
  const { by } = source;
  const now = asked.data.now === true ? { now: true } : {};
  await source.appendEvents(story, [
    wanted === "held" ? { type: "story.held", by, ...now } : { type: "story.released", by },
  ]);
  const document: HeldDocument = { story, isHeld: wanted === "held", by };
  return c.json(document);
}

/** Why nothing may be written now. */
function refusalOf(c: Context, readOnly: boolean, limit: WriteLimit): Response | null {
  if (readOnly)
    return c.json(errorDocument("this dashboard is read-only", "Start remand serve without --read-only."), 403);
  // A form of another site cannot send this type without asking first.
  if (!/^application\/json\b/.test(c.req.header("content-type") ?? ""))
    return c.json(errorDocument("an answer is JSON", ""), 415);
  const wait = limit.take();
  if (wait === 0) return null;
  c.header("retry-after", String(wait));
  return c.json(errorDocument("too many answers at once", `Wait ${wait} s.`), 429);
}

function someOf({ stories }: RunState, about: string): StoryState[] {
  return storiesMeant(about).flatMap((id) => lookup(stories, id, byText) ?? []);
}

/** How fast people may speak: some words at once, then one after the other. A page gone wild is stopped by it. */
export interface WriteLimit {
  /** `0`: allowed. Else how many seconds to wait. */
  take(): number;
}

function createWriteLimit(now: () => number, burst = 10, perSecond = 0.5): WriteLimit {
  let left = burst;
  let at = now();
  return {
    take: () => {
      const time = now();
      left = Math.min(burst, left + ((time - at) / 1000) * perSecond);
      at = time;
      if (left >= 1) {
        left -= 1;
        return 0;
      }
      return Math.ceil((1 - left) / perSecond);
    },
  };
}
