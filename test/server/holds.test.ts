import { describe, expect, it } from "vitest";
import type { StoryPageDocument } from "../../src/views/board/dashboard.ts";
import { stateOf } from "../seeds/scripted-run.ts";
import { servedStuck, type Answer, type Served } from "./served.ts";

const post = (server: Served, path: string, body: object): Promise<Answer> =>
  server.ask(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
const page = async (server: Served): Promise<StoryPageDocument> => (await server.ask("/api/stories/login")).json();

describe("a story in the dashboard", () => {
  it("is paused and resumed with the same events as in the terminal", async () => {
    const server = await servedStuck();
    expect(await page(server)).toMatchObject({ isHeld: false, isRunning: false });
    expect((await post(server, "/api/hold", { about: "login" })).json()).toEqual({
      story: "login",
      isHeld: true,
      by: "ada",
    });
    expect((await server.host.lines()).at(-1)).toMatchObject({ event: { type: "story.held", by: "ada" } });
    expect(await page(server)).toMatchObject({ isHeld: true });
    expect((await post(server, "/api/release", { about: "login" })).status).toBe(200);
    expect((await server.host.lines()).at(-1)).toMatchObject({ event: { type: "story.released", by: "ada" } });
    expect(stateOf(server.host.state(), "login").held).toBe(false);
  });

  it("is paused at once if requested", async () => {
    const server = await servedStuck();
    await post(server, "/api/hold", { about: "login", now: true });
    expect((await server.host.lines()).at(-1)).toMatchObject({ event: { type: "story.held", now: true } });
  });

  it("is paused with all others after a single read of the journal", async () => {
    const looks: (string | null)[][] = [];
    const server = await servedStuck({
      appendEach: async (streams) => void looks.push(streams.map(({ stream }) => stream)),
    });
    expect((await post(server, "/api/pause-all", {})).json()).toMatchObject({ stories: looks[0], isHeld: true });
    expect((await post(server, "/api/hold", { about: "login" })).status).toBe(200);
    expect(looks).toHaveLength(2);
    expect(looks[0]).toContain("login");
  });

  it("is paused together with others, or none of them is", async () => {
    const server = await servedStuck();
    const before = (await server.host.lines()).length;
    expect((await post(server, "/api/hold", { about: "login", also: ["done"] })).status).toBe(404);
    expect(await server.host.lines()).toHaveLength(before);
    expect((await post(server, "/api/hold", { about: "login", also: [] })).status).toBe(200);
  });

  it("is not paused twice, not resumed unless paused, and not changed after its end", async () => {
    const server = await servedStuck();
    await post(server, "/api/hold", { about: "login" });
    const before = (await server.host.lines()).length;
    const refused = [
      ["/api/hold", { about: "login" }, "login is paused already"],
      ["/api/release", { about: "done" }, "done is over: accepted"],
      ["/api/hold", { about: "nosuch" }, "there is no story nosuch"],
      ["/api/hold", { about: "login", by: "eve" }, "this pauses no story"],
    ] as const;
    for (const [path, body, error] of refused) {
      const answered = await post(server, path, body);
      expect([400, 404]).toContain(answered.status);
      expect(answered.json()).toMatchObject({ error });
    }
    expect(await server.host.lines()).toHaveLength(before);
    await post(server, "/api/release", { about: "login" });
    expect((await post(server, "/api/release", { about: "login" })).json()).toMatchObject({
      error: "login is not paused",
    });
  });

  it("is not paused by a read-only dashboard", async () => {
    const server = await servedStuck({ readOnly: true });
    expect((await post(server, "/api/hold", { about: "login" })).status).toBe(403);
    expect((await post(server, "/api/release", { about: "login" })).status).toBe(403);
    expect(stateOf(server.host.state(), "login").held).toBe(false);
  });

  it("shows the answer until it is undone", async () => {
    const server = await servedStuck();
    expect((await page(server)).answered).toBeNull();
    await server.answer({ about: "login", verb: "send-back", message: "look at the clock" });
    expect((await page(server)).answered).toMatchObject({ story: "login", verb: "send-back", by: "ada" });
    expect((await post(server, "/api/undo", { about: "login" })).status).toBe(200);
    expect(await page(server)).toMatchObject({ answered: null, escalation: { id: "esc-login-1" } });
  });
});
