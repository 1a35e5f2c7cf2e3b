import { describe, expect, it } from "vitest";
import type {
  BoardDocument,
  InboxDocument,
  LinesDocument,
  ListDocument,
  StoryPageDocument,
  TrailDocument,
} from "../../src/views/board/dashboard.ts";
import type { SpendingReport } from "../../src/views/board/ledger.ts";
import { fakeHost } from "../kit/fake-host.ts";
import { planFor, hostAfterRun } from "../kit/finished-run.ts";
import { story } from "../kit/story-world.ts";
import { LOGIN, startServer, servedStuck, stuck } from "./served.ts";

const KEY = `sk-ant-api03-${"Ab3".repeat(31)}`;

describe("the dashboard's documents", () => {
  it("shows each story's state, and the open questions", async () => {
    const server = await servedStuck();
    const board = (await server.ask("/api/board")).json<BoardDocument>();
    const groups = Object.fromEntries(board.groups.map(({ name, cards }) => [name, cards.map(({ id }) => id)]));
    expect(groups).toEqual({ "needs-you": ["login"], active: [], idle: [], done: ["done"] });
    expect(board.columns.filter(({ total }) => total > 0).map(({ name }) => name)).toEqual(["needs-you", "accepted"]);
    expect((await server.ask("/api/list?column=done")).json()).toMatchObject({ cards: [{ id: "done" }] });
    expect((await server.ask("/api/hello")).json()).toMatchObject({ project: "shop", by: "ada", questions: 1 });
    const { items } = (await server.ask("/api/inbox")).json<InboxDocument>();
    expect(items).toMatchObject([{ id: "esc-login-1", story: "login", escalation: { gate: "checks" } }]);
    expect(items[0]!.answers.length).toBeGreaterThan(2);
  });

  it("serves one story down to its lines", async () => {
    const server = await servedStuck();
    const told = (await server.ask("/api/stories/login")).json<StoryPageDocument>();
    expect(told).toMatchObject({ story: { id: "login" }, branch: "remand/login", escalation: { id: "esc-login-1" } });
    expect(told.attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    const lines = (await server.ask("/api/stories/login/lines")).json<LinesDocument>();
    expect(lines.lines.every((line) => line.story === "login")).toBe(true);
    const rest = (
      await server.ask(`/api/stories/login/lines?after=${lines.lines.at(-2)!.position}`)
    ).json<LinesDocument>();
    expect(rest.lines).toEqual([lines.lines.at(-1)]);
    const raw = (await server.ask(`/api/lines/${lines.position}`)).json<object>();
    expect(raw).toMatchObject({ position: lines.position, story: "login", event: { type: "escalation.raised" } });
    expect((await server.ask("/api/stories/nosuch")).status).toBe(404);
  });

  it("reports that nothing has run, and shows a run that starts later", async () => {
    const host = fakeHost();
    const server = await startServer(host);
    expect((await server.ask("/api/board")).json()).toMatchObject({ hasJournal: false, matching: 0 });
    expect((await server.ask("/api/inbox")).json()).toMatchObject({ items: [] });
    expect((await server.ask("/api/ledger")).json()).toMatchObject({ error: "nothing has run here yet" });
    const watcher = { onLines: () => undefined, onOutput: () => undefined };
    await host.openEngine("/work", { ...planFor([story("a")]), watcher });
    expect((await server.ask("/api/board")).json()).toMatchObject({ hasJournal: true, matching: 1 });
  });

  it("follows a journal that another process writes", async () => {
    const host = await stuck();
    const server = await startServer(host);
    await server.ask("/api/board");
    await host.write(LOGIN, {
      type: "person.answered",
      answer: { verb: "abandon", by: "eve", message: "no", escalation: null },
    });
    const board = (await server.ask("/api/board")).json<BoardDocument>();
    expect(board.groups.find(({ name }) => name === "done")?.cards.map(({ id }) => id)).toContain("login");
  });

  it("filters and pages thousands of stories", async () => {
    const stories = Array.from({ length: 2500 }, (_, i) =>
      story(`s-${String(i).padStart(4, "0")}`, { title: `Thing ${i}` }),
    );
    const host = fakeHost();
    const watcher = { onLines: () => undefined, onOutput: () => undefined };
    await host.openEngine("/work", { ...planFor(stories), watcher });
    const server = await startServer(host);
    const board = (await server.ask("/api/board")).json<BoardDocument>();
    expect(board.columns.find(({ name }) => name === "ready")).toMatchObject({ total: 2500 });
    expect(board.groups.flatMap(({ cards }) => cards).length).toBeLessThanOrEqual(40);
    const found = (await server.ask("/api/board?q=thing%202499")).json<BoardDocument>();
    expect(found).toMatchObject({ matching: 1 });
    const page = (await server.ask("/api/list?offset=2450")).json<ListDocument>();
    expect(page.cards.map(({ id }) => id).at(-1)).toBe("s-2499");
    expect(page).toMatchObject({ matching: 2500, offset: 2450 });
    expect((await server.ask("/api/list?column=accepted")).json()).toMatchObject({ matching: 0 });
  });

  it("serves a story's last lines first, with the number of earlier ones", async () => {
    const server = await servedStuck();
    const all = (await server.ask("/api/stories/login/lines")).json<LinesDocument>();
    const few = (await server.ask("/api/stories/login/last-lines")).json<LinesDocument>();
    expect(few).toEqual({ ...all, more: false, earlier: 0 });
    for (let i = 0; i < 120; i++)
      await server.host.write(LOGIN, { type: i % 2 === 0 ? "story.held" : "story.released", by: "eve" });
    const last = (await server.ask("/api/stories/login/last-lines")).json<LinesDocument>();
    expect(last.lines).toHaveLength(100);
    expect(last.earlier).toBe(all.lines.length + 20);
    expect(last.position).toBe(last.lines.at(-1)!.position);
    expect((await server.ask("/api/stories/nosuch/last-lines")).status).toBe(404);
  });

  it("pages the trail from the newest to the oldest, and searches it", async () => {
    const server = await startServer(await hostAfterRun(Array.from({ length: 12 }, (_, i) => story(`s${i}`))));
    const seen: number[] = [];
    for (let before = ""; ;) {
      const page = (await server.ask(`/api/trail?${before}`)).json<TrailDocument>();
      seen.push(...page.lines.map(({ position }) => position));
      if (!page.more) break;
      before = `before=${page.before}`;
    }
    const head = (await server.host.lines()).length;
    expect(seen).toEqual(Array.from({ length: head }, (_, i) => head - i));
    const found = (await server.ask("/api/trail?q=s3%20story.accepted")).json<TrailDocument>();
    expect(found.lines).toMatchObject([{ story: "s3", type: "story.accepted" }]);
  });

  it("sums up costs", async () => {
    const server = await servedStuck();
    const ledger = (await server.ask("/api/ledger")).json<SpendingReport>();
    expect(ledger.rows.story.map(({ name }) => name).sort()).toEqual(["done", "login"]);
    expect(ledger.days).toHaveLength(1);
  });

  it("sends no secret in any field, and no terminal control codes", async () => {
    const host = await hostAfterRun([
      story("leaky", { title: `Use ${KEY}`, body: `key = ${KEY}\n\u001b[31mred\u001b[0m hunter2hunter2` }),
    ]);
    const id = await host.keepEvidence(`log: ${KEY}\n\u001b]0;title\u0007`);
    const server = await startServer(host, { secrets: { literals: ["hunter2hunter2"] } });
    for (const path of [
      "/api/board",
      "/api/list",
      "/api/stories/leaky",
      "/api/stories/leaky/lines",
      "/api/stories/leaky/export",
      "/api/trail",
      "/api/lines/2",
      `/api/evidence/${id}`,
    ]) {
      const { text, status } = await server.ask(path);
      expect([path, status]).toEqual([path, 200]);
      expect(text).not.toContain(KEY);
      expect(text).not.toContain("hunter2hunter2");
      expect(text).not.toMatch(/\\u001b|\u001b/);
    }
  });
});

describe("the stream", () => {
  it("continues after the last line that the reader has seen", async () => {
    const server = await servedStuck();
    const all = (await server.host.lines()).length;
    const lines = await server.stream(3, { "last-event-id": String(all - 3) });
    expect(lines.map(({ id }) => id)).toEqual([all - 2, all - 1, all]);
  });

  it("sends only new lines to a reader without a position", async () => {
    const host = await stuck();
    const server = await startServer(host);
    await server.ask("/api/hello");
    const all = (await host.lines()).length;
    const lines = await server.stream(2, {}, () => void host.write(LOGIN, { type: "story.held", by: "eve" }));
    expect(lines).toEqual([
      { id: all, event: "start" },
      { id: all + 1, event: "line" },
    ]);
  });

  it("reports that the journal was replaced", async () => {
    const server = await servedStuck();
    const all = (await server.host.lines()).length;
    expect(await server.stream(1, { "last-event-id": String(all + 100) })).toEqual([{ id: all, event: "reset" }]);
  });
});
