import { afterEach, describe, expect, it } from "vitest";
import { createVirtualClock } from "../../kit/virtual-clock.ts";
import { createMemoryJournal } from "../../kit/memory-journal.ts";
import { createNotifications, type SenderParts } from "../../../src/app/notifications/notifications.ts";
import { createServerNotifications } from "../../../src/app/notifications/server-notifications.ts";
import { presetPolicy } from "../../../src/config/presets.ts";
import type { Event } from "../../../src/core/events/event.ts";
import { storyId, type StoryId } from "../../../src/core/events/ids.ts";
import { escalateStory } from "../../../src/decide/escalate.ts";
import { evolve } from "../../../src/fold/fold-event.ts";
import { EMPTY_RUN } from "../../../src/fold/new-state.ts";
import type { ReminderNote } from "../../../src/ports/notifier.ts";
import type { Watcher } from "../../../src/ports/journal.ts";
import type { Live, CurrentRun } from "../../../src/server/live.ts";
import { stateOf } from "../../seeds/scripted-run.ts";
import { answer, story } from "../../kit/story-world.ts";
import { memoryNote } from "./memory-note.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

/** A journal with or without an engine, and a dashboard that reads it. */
function project(note: ReminderNote = memoryNote()) {
  const clock = createVirtualClock(1_000_000);
  const journal = createMemoryJournal();
  const told: string[] = [];
  const notices: string[] = [];
  const waiting = new Set<() => void>();
  let state = EMPTY_RUN;
  const seqs = new Map<StoryId | null, number>();
  const sending = (who: string): SenderParts & { note: ReminderNote } => ({
    project: "shop",
    outlets: [
      {
        on: null,
        notifier: {
          name: "test",
          notify: ({ kind }) => {
            told.push(`${(clock.now() - 1_000_000) / HOUR}h ${kind} by ${who}`);
            return Promise.resolve();
          },
        },
      },
    ],
    clock,
    clean: (text) => text,
    onNotice: (text) => notices.push(text),
    note,
  });
  const live: Pick<Live, "now" | "changed"> = {
    now: async () =>
      state.position === 0 ? null : ({ state, view: { lines: (after) => journal.read(after) } } as CurrentRun),
    changed: (signal) =>
      new Promise((done) => {
        waiting.add(done);
        signal.addEventListener("abort", () => done());
      }),
  };
  const watchers: Watcher["onLines"][] = [];
  const write = async (of: string | null, ...events: readonly Event[]): Promise<void> => {
    const stream = of === null ? null : storyId(of);
    const appended = await journal.append(stream, seqs.get(stream) ?? 0, events, clock.now());
    if (!appended.ok) throw new Error("no other process writes here");
    seqs.set(stream, (seqs.get(stream) ?? 0) + events.length);
    for (const line of appended.stored) state = evolve(state, line);
    for (const onLines of watchers) onLines(appended.stored, state);
    for (const wake of waiting) wake();
    await clock.advance(0);
  };
  return {
    clock,
    told,
    notices,
    write,
    ask: async (id: string) => {
      if (state.position === 0) await write(null, { type: "policy.set", policy: presetPolicy("goal"), by: "test" });
      await write(id, { type: "story.added", story: story(id) });
      const reason = { type: "stall", stall: "same-failure", detail: "the same test fails" } as const;
      await write(id, { type: "escalation.raised", escalation: escalateStory(stateOf(state, id), reason, "checks") });
    },
    serve: (): (() => Promise<void>) => {
      const bell = createServerNotifications(live, sending("serve"));
      const close = (): Promise<void> => bell.close();
      open.push(close);
      return close;
    },
    engine: async (): Promise<() => Promise<void>> => {
      const watcher = { onLines: () => undefined, onOutput: () => undefined };
      const bell = await createNotifications({ ...sending("engine"), journal, watcher });
      watchers.push((lines, now) => bell.watcher.onLines(lines, now));
      bell.resume(state);
      return async () => {
        watchers.splice(0);
        await bell.close();
      };
    },
  };
}

describe("a dashboard without an engine", () => {
  it("sends reminders on the engine's schedule until the questions are answered", async () => {
    const { ask, serve, clock, told, write } = project();
    await ask("a");
    serve();
    await clock.advance(5 * HOUR);
    expect(told).toEqual(["1h reminder by serve", "4h reminder by serve"]);
    await write("a", answer("send-back"));
    await clock.advance(48 * HOUR);
    expect(told).toHaveLength(2);
  });

  it("waits where nothing has run yet, and reminds of a question that is raised later", async () => {
    const { ask, serve, clock, told } = project();
    serve();
    await clock.advance(MINUTE);
    await ask("a");
    await clock.advance(HOUR + MINUTE);
    expect(told).toEqual([`${1 + 1 / 60}h reminder by serve`]);
  });
});

describe("an engine and dashboards", () => {
  it("send each reminder once, whichever of the processes runs", async () => {
    const { ask, serve, engine, clock, told } = project();
    const stop = await engine();
    serve();
    serve();
    await ask("a");
    await clock.advance(2 * HOUR);
    await stop();
    await clock.advance(3 * HOUR);
    const again = await engine();
    await clock.advance(20 * HOUR);
    await again();
    expect(told.map((line) => line.replace(/ by .*/, ""))).toEqual([
      "0h question",
      "1h reminder",
      "4h reminder",
      "24h reminder",
    ]);
    expect(told[0]).toContain("by engine");
    expect(told[2]).toContain("by serve");
  });

  it("an engine that starts later does not repeat the dashboard's reminders", async () => {
    const { ask, serve, engine, clock, told } = project();
    await ask("a");
    const close = serve();
    await clock.advance(90 * MINUTE);
    await close();
    await clock.advance(30 * MINUTE);
    const stop = await engine();
    await clock.advance(MINUTE);
    await stop();
    expect(told).toEqual(["1h reminder by serve"]);
  });

  it("report that the note cannot be written, and retry", async () => {
    let isBroken = true;
    const note = memoryNote();
    const { ask, serve, clock, told, notices } = project({
      takeTurn: (take) => (isBroken ? Promise.reject(new Error("the disk is full")) : note.takeTurn(take)),
    });
    await ask("a");
    serve();
    await clock.advance(HOUR);
    expect(told).toEqual([]);
    expect(notices[0]).toBe("notify: the reminder could not be sent: the disk is full");
    isBroken = false;
    await clock.advance(MINUTE);
    expect(told).toHaveLength(1);
  });
});
