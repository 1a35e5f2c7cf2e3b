import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { RunState } from "../core/stories/run-state.ts";
import type { StoryState } from "../core/stories/story-state.ts";
import { heldSchema, saidSchema, takenBackSchema } from "../core/schemas/escalation.ts";
import { byText, lookup } from "../stdx/sorted-map.ts";
import type { AnsweredDocument, ErrorDocument, HeldDocument } from "../views/board/dashboard.ts";
import { answerSubject, holdSubject, personAnswer, storiesMeant } from "../views/answers/person-answer.ts";
import { isLastUndoHeard, tooLate, undoSubject } from "../views/answers/undo-answer.ts";
import type { ServerContext } from "./context.ts";

const MOST_BYTES = 64 * 1024;
const errorDocument = (error: string, hint: string): ErrorDocument => ({ error, hint });

/** What a person says in the dashboard: the same events as from the terminal, and nothing else is ever written. */
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
