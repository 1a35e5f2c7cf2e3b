import { describe, expect, test } from "vitest";
import type { Keyboard } from "../../../../src/app/command.ts";
import { command as top } from "../../../../src/cli/commands/read/top.ts";
import { storyId } from "../../../../src/core/events/ids.ts";
import { plainText } from "../../../../src/stdx/plain-text.ts";
import { on } from "../../../kit/fake-environment.ts";
import { type FakeHost, fakeHost } from "../../../kit/fake-host.ts";
import { hostAfterRun } from "../../../kit/finished-run.ts";
import { story } from "../../../kit/story-world.ts";
import { world as scripted } from "../../../seeds/scripted-run.ts";

const SAME = { result: "fail", failure: "same", blocking: 1 } as const;

/** One story that asks, one that is accepted, one that has not started. */
async function someStories(): Promise<FakeHost> {
  const host = await hostAfterRun([story("pay-bank"), story("say-hello")], (command, state, run) =>
    scripted({ gates: { checks: command.story === "pay-bank" ? Array.from({ length: 6 }, () => SAME) : [] } })(
      command,
      state,
      run,
    ),
  );
  await host.write(storyId("later"), { type: "story.added", story: story("later") });
  return host;
}

/** A terminal of this size. Each time that it is listened to, it presses the keys of the next list. */
function terminal(columns: number, rows: number, ...turns: (readonly string[])[]) {
  let size = { columns, rows };
  const keyboard: Keyboard = {
    rows: () => size.rows,
    listen: (onKey, onResize) => {
      const press = (key: string): void => {
        const [, width, height] = /^(\d+)x(\d+)$/.exec(key) ?? [];
        if (width === undefined) return onKey(key);
        size = { columns: Number(width), rows: Number(height) };
        onResize();
      };
      queueMicrotask(() => (turns.shift() ?? ["q"]).forEach(press));
      return () => undefined;
    },
  };
  return { terminal: true, keyboard, columns: () => size.columns, ask: () => Promise.resolve("look at the token") };
}

/** All drawn screens, as a person sees them. */
const screensOf = (out: string): string[] =>
  out
    .split("\u001b[H")
    .slice(1)
    .map((text) => plainText(text));

const lastEvents = async (host: FakeHost, count: number) =>
  (await host.lines()).slice(-count).map(({ story: of, event }) => ({ of, ...event }));

describe("remand top", () => {
  test("prints one table without a terminal, rows that need action first, and exits with 0", async () => {
    const ran = await on(await someStories(), top, []);
    expect(ran.exit).toBe(0);
    expect(ran.err).toContain("printed once");
    const [head, ...rows] = ran.out.split("\n");
    expect(head).toMatch(/^STORY +STATE +WHO +ATTEMPT +SPENT +LIMIT +TIME +WHAT +GATES$/);
    expect(rows.map((row) => row.split(" ")[0])).toEqual(["pay-bank", "later", "say-hello", "3", ""]);
    expect(ran.out).not.toContain("\u001b");
    expect(await on(fakeHost(), top, [])).toMatchObject({ exit: 2, err: expect.stringContaining("nothing has run") });
  });

  test("prints a document, or picked fields of it", async () => {
    const host = await someStories();
    const whole = JSON.parse((await on(host, top, ["--json"])).out) as object;
    expect(whole).toMatchObject({ schema: "remand.top/1", counts: { stories: 3, needsYou: 1 } });
    const ran = await on(host, top, ["--json", "id,status"]);
    expect(JSON.parse(ran.out)).toMatchObject({
      stories: [{ id: "pay-bank", status: "escalated" }, { id: "later" }, { id: "say-hello", status: "accepted" }],
    });
  });

  test("draws on the alternate screen, moves with j and k, and fits every size", async () => {
    const ran = await on(await someStories(), top, [], terminal(80, 24, ["j", "j", "j", "k", "44x8", "q"]));
    expect(ran.exit).toBe(0);
    expect(ran.out.startsWith("\u001b[?1049h")).toBe(true);
    expect(ran.out.endsWith("\u001b[?1049l")).toBe(true);
    const screens = screensOf(ran.out);
    expect(screens[0]).toContain("> pay-bank");
    expect(screens.at(-1)).toContain("> later");
    for (const line of screens.at(-1)!.split("\n")) expect(line.length).toBeLessThan(44);
    expect(screens.at(-1)!.split("\n")).toHaveLength(8);
  });

  test("pauses and resumes the selected story by key, and reports what cannot be paused", async () => {
    const host = await someStories();
    const ran = await on(host, top, [], terminal(100, 24, ["j", "p", "p", "G", "p", "q"]));
    expect(await lastEvents(host, 2)).toEqual([
      { of: "later", type: "story.held", by: "ada" },
      { of: "later", type: "story.released", by: "ada" },
    ]);
    expect(ran.out).toContain("later: paused by ada");
    expect(ran.out).toContain("later: resumed by ada");
    expect(ran.out).toContain("say-hello has ended: accepted");
  });

  test("answers the question of the selected story on the normal screen, and shows the receipt", async () => {
    const host = await someStories();
    const ran = await on(host, top, [], terminal(100, 24, ["j", "a"], ["k", "a"], ["1"], ["q"]));
    expect(ran.out).toContain("later asks nothing");
    expect(ran.out).toContain("Your answer?");
    expect(await lastEvents(host, 1)).toMatchObject([
      { of: "pay-bank", type: "person.answered", answer: { verb: "send-back", message: "look at the token" } },
    ]);
    expect(screensOf(ran.out).at(-1)).toContain("pay-bank: ada");
  });

  test("shows a story's history, its log and its diff as texts to scroll in, and goes back", async () => {
    const host = await someStories();
    const keys = ["enter", "G", "g", "q", "l", "q", "d", "page-down", "q", "q"];
    const screens = screensOf((await on(host, top, [], terminal(100, 10, keys))).out);
    expect(screens[1]).toMatch(/^pay-bank\n/);
    expect(screens[1]).toMatch(/1-8 of \d+ /);
    expect(screens[2]).not.toContain("1-8 of");
    expect(screens[3]).toBe(screens[1]);
    expect(screens[5]).toContain("What is printed for pay-bank");
    expect(screens[5]).toContain("follows");
    expect(screens[7]).toContain("What pay-bank changed");
    expect(screens[9]).toContain("> pay-bank");
  });
});
