import type { DashboardSource } from "../../src/server/live.ts";
import { createStoryEditor } from "../../src/app/story-editor.ts";
import { memoryFiles } from "../kit/memory-files.ts";
import { describe, expect, it } from "vitest";
import type { InboxDocument, StoryPageDocument } from "../../src/views/board/dashboard.ts";
import { hostAfterRun } from "../kit/finished-run.ts";
import { stateOf, world as scripted } from "../seeds/scripted-run.ts";
import { story } from "../kit/story-world.ts";
import { LOGIN, startServer, servedStuck } from "./served.ts";

const SAME = { result: "fail", failure: "same", blocking: 1 } as const;
const SAID = { about: "esc-login-1", verb: "send-back", message: "look at the clock" };

describe("an answer in the dashboard", () => {
  it("is the same event as from the terminal, in the name of the person who serves", async () => {
    const server = await servedStuck();
    const answered = await server.answer(SAID);
    expect(answered).toMatchObject({ status: 200 });
    expect(answered.json()).toEqual({ story: "login", verb: "send-back", by: "ada" });
    expect((await server.host.lines()).at(-1)).toMatchObject({
      story: "login",
      event: {
        type: "person.answered",
        answer: { verb: "send-back", by: "ada", message: "look at the clock", escalation: "esc-login-1" },
      },
    });
    expect((await server.ask("/api/inbox")).json<InboxDocument>().items).toEqual([]);
  });

  it("can be undone until work on it starts", async () => {
    const server = await servedStuck();
    await server.answer(SAID);
    const inbox = (await server.ask("/api/inbox")).json<InboxDocument>();
    expect(inbox.answered).toMatchObject([{ story: "login", verb: "send-back", by: "ada" }]);
    const undo = { method: "POST", headers: { "content-type": "application/json" }, body: '{"about":"login"}' };
    expect((await server.ask("/api/undo", undo)).status).toBe(200);
    expect(stateOf(server.host.state(), "login").escalation?.id).toBe("esc-login-1");
    expect((await server.ask("/api/undo", undo)).json()).toMatchObject({ error: expect.stringContaining("too late") });
  });

  it("can dispute a reviewer's finding once; a disputed finding is no longer offered", async () => {
    const TWO = { result: "fail", blocking: 2 } as const;
    const script = scripted({ gates: { review: ["fail", "fail", TWO] } });
    const server = await startServer(await hostAfterRun([story("login")], script, ["preset=critic-audit"]));
    const item = async () => (await server.ask("/api/inbox")).json<InboxDocument>().items[0];
    const question = await item();
    const ids = question!.findings.map(({ id }) => id);
    expect(question!.reason).toContain("review");
    expect(question!.answers.map(({ verb }) => verb)).toContain("dispute");
    expect(question!.disputable.map(({ finding }) => finding)).toEqual(ids);
    const dispute = (finding: string) =>
      server.answer({ about: "login", verb: "dispute", message: "no", findings: [finding] });
    expect(await dispute(ids[0]!)).toMatchObject({ status: 200 });
    const page = async () => (await server.ask("/api/stories/login")).json<StoryPageDocument>();
    expect(await page()).toMatchObject({ escalation: null, disputable: [ids[1]] });
    const refused = await dispute(ids[0]!);
    expect(refused.status).not.toBe(200);
    expect(refused.json()).toMatchObject({ error: expect.stringContaining("is disputed already") });
  });

  it("is refused with a reason if it is invalid, and nothing is written", async () => {
    const server = await servedStuck();
    const before = (await server.host.lines()).length;
    const wrong = [
      { ...SAID, message: "" },
      { ...SAID, verb: "sing" },
      { ...SAID, by: "somebody else" },
      { ...SAID, about: "nosuch" },
      { ...SAID, verb: "halt" },
      { ...SAID, verb: "waive", findings: ["nosuch"] },
      { ...SAID, verb: "raise-budget" },
      "words",
    ];
    for (const body of wrong) {
      const answered = await server.answer(body as object);
      expect([400, 404], JSON.stringify(body)).toContain(answered.status);
      expect(answered.json<{ error: string }>().error).not.toBe("");
    }
    expect(await server.host.lines()).toHaveLength(before);
  });

  it("to several questions is validated for all before the first event is written", async () => {
    const script = scripted({ gates: { checks: [SAME, SAME, SAME, SAME, SAME, SAME] } });
    const server = await startServer(await hostAfterRun([story("login"), story("search")], script));
    const before = (await server.host.lines()).length;
    const refused = await server.answer({ ...SAID, also: ["nosuch"] });
    expect(refused.status).toBe(404);
    expect(await server.host.lines()).toHaveLength(before);
    const answered = await server.answer({ ...SAID, also: ["esc-search-1"] });
    expect(answered.json()).toEqual({ story: "login", verb: "send-back", by: "ada", also: ["search"] });
    const said = (await server.host.lines()).slice(before).map((line) => [line.story, line.event.type]);
    expect(said).toEqual([
      ["login", "person.answered"],
      ["search", "person.answered"],
    ]);
  });

  it("is refused where the dashboard is read-only", async () => {
    const server = await servedStuck({ readOnly: true });
    expect((await server.answer(SAID)).status).toBe(403);
    const undo = { method: "POST", headers: { "content-type": "application/json" }, body: '{"about":"login"}' };
    expect((await server.ask("/api/undo", undo)).status).toBe(403);
    expect((await server.ask("/api/hello")).json()).toMatchObject({ readOnly: true });
    expect(stateOf(server.host.state(), "login").escalation).not.toBeNull();
  });

  it("is refused when it is too long, or not JSON", async () => {
    const server = await servedStuck();
    expect((await server.answer({ ...SAID, message: "x".repeat(70_000) })).status).toBe(413);
    expect((await server.answer({ ...SAID, message: "x".repeat(30_000) })).status).toBe(400);
    const form = {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "about=login",
    };
    expect((await server.ask("/api/answers", form)).status).toBe(415);
    const broken = { method: "POST", headers: { "content-type": "application/json" }, body: "{" };
    expect((await server.ask("/api/answers", broken)).status).toBe(400);
  });

  it("is refused when there are too many, until some time has passed", async () => {
    let now = 0;
    const server = await servedStuck({ now: () => now });
    const codes: number[] = [];
    for (let i = 0; i < 12; i++) codes.push((await server.answer({ ...SAID, about: "nosuch" })).status);
    expect(codes).toEqual([...Array<number>(10).fill(404), 429, 429]);
    const refused = await server.answer(SAID);
    expect(refused.headers["retry-after"]).toBe("2");
    now += 2000;
    expect((await server.answer(SAID)).status).toBe(200);
  });

  it("can be given to a story without a question, with one of its phases", async () => {
    const server = await servedStuck();
    await server.host.write(LOGIN, {
      type: "person.answered",
      answer: { verb: "resolve", by: "eve", message: "", escalation: null },
    });
    const said = { about: "login", verb: "send-back", message: "once more" };
    expect((await server.answer({ ...said, phase: "plan" })).json()).toMatchObject({
      error: "login has no phase plan",
    });
    expect((await server.answer({ ...said, phase: "implement" })).status).toBe(200);
  });
});

describe("a story's file in the dashboard", () => {
  const TEXT = "---\ntitle: Log in\n---\n\n- [ ] it works\n";
  const EDIT = { id: "sign-in", text: TEXT, before: null, isCheck: false };
  const servedFiles = async (more: Partial<DashboardSource> = {}) => {
    const files = memoryFiles({});
    const stories = createStoryEditor({ cwd: "/work", env: {}, files }, undefined);
    const server = await servedStuck({ stories, ...more });
    const send = (body: object, headers: Readonly<Record<string, string | null>> = {}) =>
      server.ask("/api/story-files", {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      });
    return { send, written: () => files.read("/work/stories/sign-in.md") };
  };

  it("is validated without a write, then written, but not over a concurrent edit", async () => {
    const { send, written } = await servedFiles();
    expect((await send({ ...EDIT, isCheck: true })).json()).toMatchObject({ isWritten: false, problems: [] });
    expect(await written()).toBeNull();
    const wrong = await send({ ...EDIT, text: TEXT.replace("title", "depends_on: [nosuch]\ntitle") });
    expect(wrong.json()).toMatchObject({ isWritten: false, problems: [{ severity: "error", line: 2 }] });
    expect((await send(EDIT)).json()).toMatchObject({ file: "stories/sign-in.md", isWritten: true });
    expect(await written()).toBe(TEXT);
    const again = await send({ ...EDIT, text: "other" });
    expect(again.status).toBe(400);
    expect(again.json()).toMatchObject({ error: "there is a story sign-in already" });
    expect(await written()).toBe(TEXT);
  });

  it("is not written without the token, by a form of another site, outside of the folder, or where it is read-only", async () => {
    const { send, written } = await servedFiles();
    expect((await send(EDIT, { authorization: null })).status).toBe(401);
    expect((await send(EDIT, { "content-type": "text/plain" })).status).toBe(415);
    expect((await send({ ...EDIT, id: "../sign-in" })).status).toBe(400);
    expect((await send({ ...EDIT, path: "/etc/passwd" })).status).toBe(400);
    expect(await written()).toBeNull();
    const readOnly = await servedFiles({ readOnly: true });
    expect((await readOnly.send(EDIT)).status).toBe(403);
    expect(await readOnly.written()).toBeNull();
    expect((await readOnly.send({ ...EDIT, isCheck: true })).status).toBe(200);
  });
});
