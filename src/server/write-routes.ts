import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { Event } from "../core/events/event.ts";
import type { RunState } from "../core/stories/run-state.ts";
import type { StoryState } from "../core/stories/story-state.ts";
import {
  pauseStorySchema,
  pauseAllSchema,
  answerInputSchema,
  storyEditSchema,
  undoInputSchema,
} from "../core/schemas/escalation.ts";
import { byText, entries, lookup } from "../stdx/sorted-map.ts";
import type { AnsweredDocument, ErrorDocument, HeldDocument, StoriesPausedDocument } from "../views/board/dashboard.ts";
import { answerSubject, holdSubject, personAnswer, storiesMeant } from "../views/answers/person-answer.ts";
import { isLastUndoInTime, tooLate, undoSubject } from "../views/answers/likely-answers.ts";
import type { ServerContext } from "./context.ts";

const MOST_BYTES = 64 * 1024;
const errorDocument = (error: string, hint: string): ErrorDocument => ({ error, hint });

/** Routes for what a person does in the dashboard: they append the same events as the commands in a terminal. */
export function writeRoutes(context: ServerContext): Hono {
  const { source, currentRun, index } = context;
  const limit = createWriteLimit(() => source.now());
  const tooLong = bodyLimit({
    maxSize: MOST_BYTES,
    onError: (c) => c.json(errorDocument("the request is too long", ""), 413),
  });
  const routes = new Hono();
  routes.post("/hold", tooLong, (c) => setPaused(c, context, limit, "held"));
  routes.post("/release", tooLong, (c) => setPaused(c, context, limit, "released"));
  routes.post("/pause-all", tooLong, (c) => setAllPaused(c, context, limit, true));
  routes.post("/resume-all", tooLong, (c) => setAllPaused(c, context, limit, false));
  routes.post("/start-engine", tooLong, async (c) => {
    const refusal = refusalOf(c, source.readOnly, limit);
    if (refusal !== null) return refusal;
    await source.startEngine();
    return c.json({ started: true });
  });
  routes.post("/answers", tooLong, async (c) => {
    const refusal = refusalOf(c, source.readOnly, limit);
    if (refusal !== null) return refusal;
    const said = answerInputSchema.safeParse(await c.req.json().catch(() => null));
    if (!said.success) return c.json(errorDocument("this is not an answer", said.error.issues[0]?.message ?? ""), 400);
    const { about, also = [], ...words } = said.data;
    const { state, folded } = await currentRun();
    // All answers are validated before the first one is appended: an answer that fits only some stories changes none.
    const answers = [about, ...also].map((each) => {
      const subject = answerSubject(state, someOf(state, each), each, words.verb);
      return { story: subject.story, answer: personAnswer(subject, { ...words, by: source.by }) };
    });
    await source.appendEach(
      answers.map(({ story, answer }) => ({ stream: story, events: [{ type: "person.answered", answer }] })),
      folded,
    );
    const [first, ...others] = answers;
    const answered: AnsweredDocument = {
      story: first!.story,
      verb: words.verb,
      by: source.by,
      ...(others.length === 0 ? {} : { also: others.map(({ story }) => story ?? "the run") }),
    };
    return c.json(answered);
  });
  routes.post("/story-files", tooLong, (c) => writeStory(c, context, limit));
  routes.post("/undo", tooLong, async (c) => {
    const refusal = refusalOf(c, source.readOnly, limit);
    if (refusal !== null) return refusal;
    const asked = undoInputSchema.safeParse(await c.req.json().catch(() => null));
    if (!asked.success) return c.json(errorDocument("this undoes nothing", asked.error.issues[0]?.message ?? ""), 400);
    const { state, folded } = await currentRun();
    const { story, answer } = undoSubject(state, someOf(state, asked.data.about), asked.data.about);
    await source.appendEach([{ stream: story, events: [{ type: "answer.undone", by: source.by }] }], folded);
    // An engine may have started work since the check above; then the undo came too late, which is reported.
    const lines = await index.linesOf((await currentRun()).view, story, 0, Infinity);
    if (!isLastUndoInTime(lines)) throw tooLate(story, "work on it has just started");
    const undone: AnsweredDocument = { story, verb: answer.verb, by: source.by };
    return c.json(undone);
  });
  return routes;
}

/** Writes the file of a story, or only validates it. */
async function writeStory(c: Context, { source }: ServerContext, limit: WriteLimit): Promise<Response> {
  const edit = storyEditSchema.safeParse(await c.req.json().catch(() => null));
  if (!edit.success) return c.json(errorDocument("this is no story", edit.error.issues[0]?.message ?? ""), 400);
  // Validation changes nothing, and is requested with every pause in typing.
  const refusal = edit.data.isCheck ? null : refusalOf(c, source.readOnly, limit);
  return refusal ?? c.json(await source.stories.write(edit.data));
}

/** Pauses and resumes a story, as `remand stop` and `remand resume` do. */
async function setPaused(
  c: Context,
  context: ServerContext,
  limit: WriteLimit,
  wanted: "held" | "released",
): Promise<Response> {
  const { source, currentRun } = context;
  const refusal = refusalOf(c, source.readOnly, limit);
  if (refusal !== null) return refusal;
  const asked = pauseStorySchema.safeParse(await c.req.json().catch(() => null));
  if (!asked.success) return c.json(errorDocument("this pauses no story", asked.error.issues[0]?.message ?? ""), 400);
  const { state, folded } = await currentRun();
  const { about, also = [] } = asked.data;
  // All stories are validated before the first event is appended.
  const stories = [about, ...also].map((each) => holdSubject(state, each, wanted));
  const { by } = source;
  const now = asked.data.now === true ? { now: true } : {};
  const event: Event = wanted === "held" ? { type: "story.held", by, ...now } : { type: "story.released", by };
  await source.appendEach(
    stories.map((stream) => ({ stream, events: [event] })),
    folded,
  );
  const document: HeldDocument = { story: stories[0]!, isHeld: wanted === "held", by };
  return c.json(document);
}

/** Pauses every open story, or resumes every paused one, as `remand stop` and `remand resume` do. */
async function setAllPaused(
  c: Context,
  { source, currentRun }: ServerContext,
  limit: WriteLimit,
  isHeld: boolean,
): Promise<Response> {
  const refusal = refusalOf(c, source.readOnly, limit);
  if (refusal !== null) return refusal;
  const asked = pauseAllSchema.safeParse(await c.req.json().catch(() => null));
  if (!asked.success) return c.json(errorDocument("this pauses nothing", asked.error.issues[0]?.message ?? ""), 400);
  const { by } = source;
  const now = asked.data.now === true ? { now: true } : {};
  const { state, folded } = await currentRun();
  const concerned = [...entries(state.stories)]
    .map(([, story]) => story)
    .filter(({ ending, held, story, policy }) => {
      const isBacklog = policy === null && story.shelf === "backlog";
      return ending === null && held !== isHeld && !(isHeld && isBacklog);
    });
  const event: Event = isHeld ? { type: "story.held", by, ...now } : { type: "story.released", by };
  await source.appendEach(
    concerned.map(({ story }) => ({ stream: story.id, events: [event] })),
    folded,
  );
  const document: StoriesPausedDocument = { stories: concerned.map(({ story }) => story.id), isHeld, by };
  return c.json(document);
}

/** Why nothing may be written now; `null`: allowed. */
function refusalOf(c: Context, readOnly: boolean, limit: WriteLimit): Response | null {
  if (readOnly)
    return c.json(errorDocument("this dashboard is read-only", "Start remand serve without --read-only."), 403);
  // A form of another site cannot send this content type without a preflight request.
  if (!/^application\/json\b/.test(c.req.header("content-type") ?? ""))
    return c.json(errorDocument("the request body must be JSON", ""), 415);
  const wait = limit.take();
  if (wait === 0) return null;
  c.header("retry-after", String(wait));
  return c.json(errorDocument("too many answers at once", `Wait ${wait} s.`), 429);
}

function someOf({ stories }: RunState, about: string): StoryState[] {
  return storiesMeant(about).flatMap((id) => lookup(stories, id, byText) ?? []);
}

/** Limits how fast a person may write: a burst first, then one at a time. Stops a broken page. */
export interface WriteLimit {
  /** `0`: allowed. Otherwise the seconds to wait. */
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
