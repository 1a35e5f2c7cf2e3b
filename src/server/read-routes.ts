import { Hono } from "hono";
import type { HelloDocument, VerifyDocument } from "../views/dashboard.ts";
import { ledgerOf } from "../views/ledger.ts";
import { questionCount } from "../views/open-questions.ts";
import { createBoardCache } from "./board-cache.ts";
import { numberIn, queryIn, type Desk } from "./desk.ts";
import { boardOf, inboxOf, listOf, trailPage } from "./documents.ts";
import { createLineTexts } from "./line-texts.ts";
import { lineStream } from "./stream.ts";

const MOST_ROWS = 50;

/** What is about all stories. */
export function readRoutes({ source, live, index, present, sent, clean }: Desk): Hono {
  const board = createBoardCache();
  const texts = createLineTexts(clean);
  return new Hono()
    .get("/hello", async () => {
      const now = await live.now();
      const { project, version, readOnly, by } = source;
      const questions = now === null ? 0 : questionCount(now.state, null);
      const position = now?.state.position ?? 0;
      const hello: HelloDocument = { project, version, readOnly, by, hasJournal: now !== null, position, questions };
      return sent(hello);
    })
    .get("/board", async (c) => {
      const now = await live.now();
      return sent(boardOf(now, now === null ? [] : board.cards(now.state), queryIn(c.req.query("q"))));
    })
    .get("/list", async (c) => {
      const now = await live.now();
      const cards = now === null ? [] : board.cards(now.state);
      const offset = numberIn(c.req.query("offset")) ?? 0;
      return sent(listOf(now, cards, queryIn(c.req.query("q")), c.req.query("column") ?? "", offset));
    })
    .get("/inbox", async () => sent(await inboxOf(await live.now(), index)))
    .get("/ledger", async () => {
      const now = await present();
      return sent(ledgerOf(await index.spendings(now.sight), now.state, MOST_ROWS));
    })
    .get("/trail", async (c) =>
      sent(await trailPage(await present(), numberIn(c.req.query("before")), queryIn(c.req.query("q")))),
    )
    .get("/verify", async () => sent((await source.verify()) ?? NOTHING_TO_VERIFY))
    .get("/health", async () => sent(await source.health()))
    .get("/events", (c) => {
      const after = numberIn(c.req.header("last-event-id")) ?? numberIn(c.req.query("after"));
      const stream = lineStream({ live, after, signal: c.req.raw.signal, texts });
      return c.body(stream, 200, { "content-type": "text/event-stream; charset=utf-8" });
    });
}

const NOTHING_TO_VERIFY: VerifyDocument = { ok: true, position: 0, problem: null, hash: null };
