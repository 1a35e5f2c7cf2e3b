import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { RemandError } from "../domain/error.ts";
import { saidSchema } from "../schemas/said.ts";
import type { AnsweredDocument, ErrorDocument } from "../views/dashboard.ts";
import { answerSubject, personAnswer } from "../views/person-answer.ts";
import type { Live } from "./live.ts";
import type { DashboardSource } from "./source.ts";
import { createWriteLimit } from "./write-limit.ts";

const MOST_BYTES = 64 * 1024;

/** What a person says in the dashboard: the same events as from the terminal, and nothing else is ever written. */
export function writeRoutes(source: DashboardSource, live: Live): Hono {
  const limit = createWriteLimit(() => source.now());
  const refused = (error: string, hint: string): ErrorDocument => ({ error, hint });
  const routes = new Hono();
  routes.use(
    "/answers",
    bodyLimit({ maxSize: MOST_BYTES, onError: (c) => c.json(refused("that is too long", ""), 413) }),
  );
  routes.post("/answers", async (c) => {
    if (source.readOnly) return c.json(refused("this dashboard is read-only", "Start remand serve without it."), 403);
    // A form of another site cannot send this type without asking first.
    if (!/^application\/json\b/.test(c.req.header("content-type") ?? ""))
      return c.json(refused("an answer is JSON", ""), 415);
    const wait = limit.take();
    if (wait > 0) {
      c.header("retry-after", String(wait));
      return c.json(refused("too many answers at once", `Wait ${wait} s.`), 429);
    }
    const said = saidSchema.safeParse(await c.req.json().catch(() => null));
    if (!said.success) return c.json(refused("this is no answer", said.error.issues[0]?.message ?? ""), 400);
    const present = await live.now();
    if (present === null) throw new RemandError("usage", "nothing has run here yet", "Begin with remand run.");
    const { about, ...words } = said.data;
    const subject = answerSubject(present.state, about);
    const answer = personAnswer(subject, { ...words, by: source.by });
    await source.tell(subject.story, [{ type: "person.answered", answer }]);
    const answered: AnsweredDocument = { story: subject.story, verb: answer.verb, by: answer.by };
    return c.json(answered);
  });
  return routes;
}
