import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../kit/virtual-clock.ts";
import { createMemoryJournal } from "../../kit/memory-journal.ts";
import { createNotifications, type NotificationsParts } from "../../../src/app/notifications/notifications.ts";
import { outletsOf } from "../../../src/compose/notifications/local-notifications.ts";
import { presetPolicy } from "../../../src/config/presets.ts";
import type { Event } from "../../../src/core/events/event.ts";
import { storyId, type StoryId } from "../../../src/core/events/ids.ts";
import { nextReminderAt, type Notification } from "../../../src/core/events/notification.ts";
import { evolve } from "../../../src/fold/fold-event.ts";
import { EMPTY_RUN } from "../../../src/fold/new-state.ts";
import { escalateStory } from "../../../src/decide/escalate.ts";
import type { Notifier } from "../../../src/ports/notifier.ts";
import { stateOf } from "../../seeds/scripted-run.ts";
import { answer, story } from "../../kit/story-world.ts";
import { memoryNote } from "./memory-note.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A journal, its engine's watcher, and the sent notifications. */
function project(notify?: Notifier["notify"]) {
  const clock = createVirtualClock(1_000_000);
  const journal = createMemoryJournal();
  const told: string[] = [];
  const notices: string[] = [];
  const notifier: Notifier = {
    name: "test",
    notify:
      notify ??
      ((news) => {
        told.push(`${hours(clock.now())} ${news.kind}: ${news.title}`);
        return Promise.resolve();
      }),
  };
  const hours = (now: number): string => `${Math.round(((now - 1_000_000) / HOUR) * 100) / 100}h`;
  const note = memoryNote();
  let state = EMPTY_RUN;
  const seqs = new Map<StoryId | null, number>();
  const start = async (more: Partial<NotificationsParts> = {}) => {
    const bell = await createNotifications({
      project: "shop",
      outlets: [{ notifier, on: null }],
      journal,
      clock,
      watcher: { onLines: () => undefined, onOutput: () => undefined },
      clean: (text) => text.replaceAll("hunter22", "[gone]"),
      onNotice: (text) => notices.push(text),
      note,
      ...more,
    });
    bell.resume(state);
    return {
      bell,
      write: async (of: string | null, ...events: readonly Event[]) => {
        const stream = of === null ? null : storyId(of);
        const appended = await journal.append(stream, seqs.get(stream) ?? 0, events, clock.now());
        if (!appended.ok) throw new Error("nobody else writes here");
        seqs.set(stream, (seqs.get(stream) ?? 0) + events.length);
        for (const line of appended.stored) state = evolve(state, line);
        bell.watcher.onLines(appended.stored, state);
        await clock.advance(0);
      },
    };
  };
  const set: Event = { type: "policy.set", policy: presetPolicy("goal"), by: "test" };
  const question = (id: string, detail = "the same test fails"): Event => ({
    type: "escalation.raised",
    escalation: escalateStory(stateOf(state, id), { type: "stall", stall: "same-failure", detail }, "checks"),
  });
  const begun = async (...ids: readonly string[]) => {
    const engine = await start();
    await engine.write(null, set);
    for (const id of ids) await engine.write(id, { type: "story.added", story: story(id) });
    return engine;
  };
  return { clock, journal, told, notices, start, begun, question, state: () => state };
}

describe("a person who is not watching", () => {
  it("is notified when a person is needed, when a budget is nearly used up, and when the run has ended", async () => {
    const { begun, question, told, state } = project();
    const { bell, write } = await begun("a", "b");
    await write("a", question("a"));
    await write("b", { type: "budget.warned", budget: "cost", used: 4.2, limit: 5 });
    bell.ended(state());
    bell.ended(state());
    await bell.close();
    expect(told).toEqual([
      "0h question: a needs you: the same failure again and again",
      "0h budget: b has used most of its cost budget",
      "0h ended: the run has ended, 1 question waits for you",
    ]);
  });

  it("is reminded after one hour, after four, and then each day, until the question is answered", async () => {
    const { begun, question, told, clock } = project();
    const { bell, write } = await begun("a");
    await write("a", question("a"));
    await clock.advance(3 * DAY + HOUR);
    expect(told.map((line) => line.split(":")[0])).toEqual([
      "0h question",
      "1h reminder",
      "4h reminder",
      "24h reminder",
      "48h reminder",
      "72h reminder",
    ]);
    expect(told.at(-1)).toContain("a still needs you, after 72 h");
    await write("a", answer("send-back"));
    await clock.advance(5 * DAY);
    expect(told).toHaveLength(6);
    await write("a", { type: "answer.undone", by: "Ada" });
    await clock.advance(HOUR);
    expect(told).toHaveLength(7);
    expect(told.at(-1)).toContain("194h reminder: a still needs you, after 1 h");
    await bell.close();
    await clock.advance(9 * DAY);
    expect(clock.sleeping()).toBe(0);
  });

  it("an engine that starts later sends overdue reminders once, and keeps the schedule", async () => {
    const { begun, start, question, told, clock } = project();
    const first = await begun("a");
    await first.write("a", question("a"));
    await clock.advance(30 * MINUTE);
    await first.bell.close();
    await clock.advance(30 * HOUR);
    const second = await start();
    await clock.advance(MINUTE);
    await clock.advance(DAY);
    await second.bell.close();
    expect(told.map((line) => line.split(":")[0])).toEqual(["0h question", "30.5h reminder", "48h reminder"]);
  });

  it.each([
    [0, HOUR],
    [HOUR - 1, HOUR],
    [HOUR, 4 * HOUR],
    [4 * HOUR, DAY],
    [DAY, 2 * DAY],
    [9.5 * DAY, 10 * DAY],
  ])("a question that was last sent at the age of %d is repeated at %d", (after, next) => {
    expect(nextReminderAt(7, 7 + after)).toBe(7 + next);
  });

  it("gets no secret, and no text beyond the size limit", async () => {
    const seen: Notification[] = [];
    const { begun, question } = project((news) => void seen.push(news) as never);
    const { bell, write } = await begun("a");
    await write("a", question("a", `token hunter22 ${"x".repeat(100_000)}\u001b[31m`));
    await bell.close();
    expect(seen[0]!.text).toContain("token [gone]");
    expect(JSON.stringify(seen)).not.toContain("hunter22");
    expect(JSON.stringify(seen).length).toBeLessThan(3000);
    expect(JSON.stringify(seen)).not.toContain("\\u001b");
  });
});

describe("the engine", () => {
  it("does not wait for an unreachable receiver, and prints a notice", async () => {
    const { begun, question, notices, clock } = project(
      (_news, signal) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("it hangs on hunter22")))),
    );
    const { bell, write } = await begun("a", "b");
    await write("a", question("a"));
    await write("b", question("b"));
    expect(notices).toEqual([]);
    const closed = bell.close();
    await clock.advance(MINUTE);
    await closed;
    expect(notices[0]).toMatch(/^notify: "a needs you: .*" could not be sent by test: it hangs on \[gone\]$/);
    expect(notices).toHaveLength(2);
    expect(notices[1]).toContain("the run was over before it could be sent");
  });

  it("sends one notification for many simultaneous events", async () => {
    const seen: string[] = [];
    let release = (): void => undefined;
    const { begun, question } = project(async ({ title }) => {
      seen.push(title);
      if (seen.length === 1) await new Promise<void>((resolve) => (release = resolve));
    });
    const ids = Array.from({ length: 40 }, (_, i) => `s${i}`);
    const { bell, write } = await begun(...ids);
    for (const id of ids) await write(id, question(id));
    release();
    await bell.close();
    expect(seen).toHaveLength(2);
    expect(seen[1]).toBe("39 more things to know of");
  });

  it("reads nothing and does nothing without receivers", async () => {
    const { start, clock } = project();
    const { bell } = await start({
      outlets: [],
      journal: {
        read: () => {
          throw new Error("read for nothing");
        },
      },
    });
    await bell.close();
    expect(clock.sleeping()).toBe(0);
  });
});

describe("a receiver in the config", () => {
  const named = (notify: Parameters<typeof outletsOf>[0]["notify"], env: Record<string, string> = {}) => {
    const notices: string[] = [];
    const clock = createVirtualClock();
    const outlets = outletsOf(
      { notify, env: [] },
      { root: "/work", env, clock, onNotice: (text) => notices.push(text) },
    );
    return { names: outlets.map(({ notifier }) => notifier.name), on: outlets.map(({ on }) => on), notices };
  };

  it("is a word, an address, a command, or a map", () => {
    const { names, on } = named(
      [
        "desktop",
        "https://example.org/x",
        "./tell.sh now",
        { use: "slack", urlFrom: "SLACK", on: ["question"] },
        { use: "webhook", url: "https://example.net/x", secretFrom: "KEY" },
      ],
      { SLACK: "https://hooks.example.com/T/B/x", KEY: "k" },
    );
    expect(names).toEqual([
      "desktop",
      "webhook example.org",
      "command ./tell.sh",
      "slack hooks.example.com",
      "webhook example.net",
    ]);
    expect(on).toEqual([null, null, null, ["question"], null]);
  });

  it("missing variables are reported, and nothing is sent unsigned", () => {
    const { names, notices } = named(
      [
        { use: "slack", urlFrom: "SLACK" },
        { use: "webhook", url: "https://example.net/x", secretFrom: "KEY" },
        { use: "webhook", urlFrom: "ODD" },
      ],
      { ODD: "not an address" },
    );
    expect(names).toEqual([]);
    expect(notices).toHaveLength(3);
    expect(notices[0]).toContain("SLACK");
    expect(notices[1]).toContain("KEY");
  });
});
