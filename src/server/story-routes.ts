import { Hono } from "hono";
import { RemandError } from "../domain/error.ts";
import { evidenceId } from "../domain/ids.ts";
import type { EvidenceDocument } from "../views/dashboard.ts";
import { keptTexts } from "../engine/kept-texts.ts";
import { storyHtml } from "../views/story-html.ts";
import { storyLine } from "../views/story-lines.ts";
import { numberIn, type Desk } from "./desk.ts";
import { diffOf, lastLinesOf, linesOf, storyOf } from "./documents.ts";
import { someLines } from "./live.ts";
import { withoutSecrets } from "../readers/without-secrets.ts";

/** A kept text may be megabytes: nobody reads more than this in a page, and the whole of it has a file. */
const MOST_TEXT = 400_000;

/** What is about one story, down to the line. */
export function storyRoutes({ source, index, present, sent }: Desk): Hono {
  return new Hono()
    .get("/stories/:id", async (c) =>
      sent(await storyOf(await present(), index, c.req.param("id"), (story) => source.placeOf(story))),
    )
    .get("/stories/:id/lines", async (c) =>
      sent(await linesOf(await present(), index, c.req.param("id"), numberIn(c.req.query("after")) ?? 0)),
    )
    .get("/stories/:id/last-lines", async (c) => sent(await lastLinesOf(await present(), index, c.req.param("id"))))
    .get("/stories/:id/diff", async (c) => {
      const [attempt, since] = [numberIn(c.req.query("attempt")), numberIn(c.req.query("since"))];
      return sent(await diffOf(await present(), index, c.req.param("id"), attempt, since));
    })
    .get("/stories/:id/export", async (c) => {
      const now = await present();
      const document = await storyOf(now, index, c.req.param("id"), () => null);
      const lines = await index.linesOf(now.sight, document.story.id, 0, Infinity);
      const told = lines.map(storyLine);
      const texts = await keptTexts(told, now.sight.evidence);
      const shown = withoutSecrets({ document, lines: told, texts }, source.secrets);
      return c.body(storyHtml({ ...shown, at: source.now() }), 200, { "content-type": "text/html; charset=utf-8" });
    })
    .get("/evidence/:id", async (c) => {
      const id = c.req.param("id");
      const text = EVIDENCE.test(id) ? await (await present()).sight.evidence.read(evidenceId(id)) : null;
      if (text === null) throw new RemandError("usage", "there is no such evidence", "It may have been deleted.");
      const leftOut = Math.max(0, text.length - MOST_TEXT);
      const shown: EvidenceDocument = { id, text: text.slice(0, MOST_TEXT), leftOut };
      return sent(shown);
    })
    .get("/lines/:position", async (c) => {
      const [line] = await someLines((await present()).sight, (numberIn(c.req.param("position")) ?? 1) - 1, 1);
      if (line === undefined) throw new RemandError("usage", "there is no such line", "The trail shows all of them.");
      return sent(line);
    });
}

const EVIDENCE = /^[0-9a-z]{1,64}$/;
